// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// tokenPath is the path of the only operation with OAuth errors.
const tokenPath = "/api/auth/token"

// reject responds with a client error in the error format of the path.
func reject(w http.ResponseWriter, r *http.Request, status int, detail string) {
	if r.URL.Path == tokenPath {
		code := contract.OAuthErrorErrorInvalidRequest
		if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
			code = contract.OAuthErrorErrorTemporarilyUnavailable
		}
		writeOAuthError(w, status, code, detail)
		return
	}
	writeError(w, status, detail)
}

// writeBusy responds to a call that exceeds the server's capacity.
func writeBusy(w http.ResponseWriter, r *http.Request) {
	reject(w, r, http.StatusServiceUnavailable, "server is overloaded; retry later")
}

// planLimitExceeded responds to a call that exceeds the application's plan.
func planLimitExceeded(w http.ResponseWriter, r *http.Request) {
	reject(w, r, http.StatusTooManyRequests, "the application's monthly quota is exhausted")
}

// tooManyAttempts responds to a throttled sign-in attempt.
func tooManyAttempts(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	middleware.SetRetryAfter(w, wait)
	reject(w, r, http.StatusTooManyRequests, "too many failed sign-in attempts from this address; retry after the delay in Retry-After")
}

// rejectBody responds to a body that is valid JSON but does not conform to the contract.
func rejectBody(w http.ResponseWriter, r *http.Request, err error) {
	var typeErr *json.UnmarshalTypeError
	isFieldError := errors.As(err, &typeErr) && typeErr.Field != ""
	switch {
	case r.URL.Path != tokenPath && isFieldError:
		writeValidationError(w, contract.FieldError{
			Field: typeErr.Field, Message: fmt.Sprintf("expected a %s, got a %s", jsonTypeName(typeErr.Type), firstWord(typeErr.Value)),
		})
	case r.URL.Path != tokenPath:
		writeValidationError(w, contract.FieldError{Field: "body", Message: "expected an object with the fields of this operation"})
	case isFieldError:
		reject(w, r, http.StatusBadRequest, fmt.Sprintf("%s: got a JSON %s, expected a %s", typeErr.Field, firstWord(typeErr.Value), typeErr.Type))
	default:
		reject(w, r, http.StatusBadRequest, "the body: expected an object or a form with the fields of this operation")
	}
}

// jsonTypeName returns the JSON type name of a Go type.
func jsonTypeName(kind reflect.Type) string {
	switch kind.Kind() { //nolint:exhaustive // the rest are objects
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64, reflect.Int, reflect.Int64:
		return "number"
	case reflect.Slice:
		return "list"
	}
	return "object"
}

// firstWord returns the text up to the first space. It strips the value that follows the kind
// "number".
func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// rejectParameter responds to an invalid parameter.
func rejectParameter(w http.ResponseWriter, r *http.Request, err error) {
	name := "a parameter"
	var (
		formatErr  *contract.InvalidParamFormatError
		tooManyErr *contract.TooManyValuesForParamError
	)
	switch {
	case errors.As(err, &formatErr):
		name = formatErr.ParamName
	case errors.As(err, &tooManyErr):
		name = tooManyErr.ParamName
	}
	if r.URL.Path == tokenPath {
		reject(w, r, http.StatusBadRequest, name+" must be specified once")
		return
	}
	writeValidationError(w, contract.FieldError{Field: name, Message: "must be specified once"})
}

// newValidationError returns the response for invalid fields.
func newValidationError(fieldErrs ...contract.FieldError) contract.ValidationError {
	names := make([]string, len(fieldErrs))
	for i, field := range fieldErrs {
		names[i] = field.Field
	}
	return contract.ValidationError{Detail: "not valid: " + strings.Join(names, ", "), Errors: fieldErrs}
}

func writeValidationError(w http.ResponseWriter, fieldErrs ...contract.FieldError) {
	writeJSON(w, http.StatusUnprocessableEntity, newValidationError(fieldErrs...))
}

// A validationError lists invalid fields or parameters.
type validationError []contract.FieldError

// Error lists the invalid fields.
func (e validationError) Error() string { return newValidationError(e...).Detail }

// add adds err if it is a field error.
func (e *validationError) add(err error) {
	var fieldErrs *assessment.FieldError
	if errors.As(err, &fieldErrs) {
		*e = append(*e, contract.FieldError{Field: fieldErrs.Field, Message: fieldErrs.Problem})
	}
}

// errorOrNil returns nil if there are no field errors.
func (e validationError) errorOrNil() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// joinValidationErrors combines field errors into one error, or returns nil.
func joinValidationErrors(fieldErrs []contract.FieldError, err error) error {
	var validationErr validationError
	if errors.As(err, &validationErr) {
		fieldErrs = append(fieldErrs, validationErr...)
	}
	return validationError(fieldErrs).errorOrNil()
}

// A storageError wraps a storage failure with the affected resource.
type storageError struct {
	resource string
	error
}

// Unwrap returns the error of the storage.
func (e *storageError) Unwrap() error { return e.error }

// wrapStorageError adds the resource to a storage error. It returns nil if err is nil.
func wrapStorageError(resource string, err error) error {
	if err == nil {
		return nil
	}
	return &storageError{resource, err}
}

// handleError responds to an error of a handler. It reports errors caused by the client with
// their details, and all others as internal errors.
func (h handlers) handleError(w http.ResponseWriter, r *http.Request, err error) {
	var (
		fieldErrs  validationError
		existsErr  *record.AlreadyExistsError
		storageErr *storageError
		throttled  throttledError
	)
	if status, clientErr := clientError(err); clientErr != nil {
		writeClientError(w, status, clientErr)
		return
	}
	switch detail := unauthenticatedDetail(err); {
	case detail != "":
		unauthorized(w, detail)
	case errors.As(err, &fieldErrs):
		writeValidationError(w, fieldErrs...)
	case errors.Is(err, limiter.ErrBusy):
		middleware.SetBusyRetryAfter(w)
		writeBusy(w, r)
	case errors.As(err, &throttled):
		tooManyAttempts(w, r, time.Duration(throttled))
	case errors.Is(err, record.ErrNotFound):
		writeError(w, http.StatusNotFound, "resource not found")
	case errors.As(err, &existsErr):
		writeError(w, http.StatusConflict, existsErr.Error())
	case errors.As(err, &storageErr) && !errors.Is(err, encryption.ErrDecrypt) && !errors.Is(err, service.ErrFlow):
		unavailable := h.storageUnavailable(r.Context(), storageErr.resource, storageErr.error)
		w.Header().Set("Retry-After", strconv.Itoa(unavailable.Headers.RetryAfter))
		writeJSON(w, http.StatusServiceUnavailable, unavailable.Body)
	default:
		h.internalError(w, r, err)
	}
}

// internalError responds with an internal error and logs the cause.
func (h handlers) internalError(w http.ResponseWriter, r *http.Request, err error) {
	h.Log.ErrorContext(r.Context(), "failed to handle request", "requestId", middleware.RequestInfoFrom(r.Context()).RequestID, "error", err)
	const detail = "internal error; the server log has details under the X-Request-Id of this response"
	if r.URL.Path == tokenPath {
		writeOAuthError(w, http.StatusInternalServerError, contract.OAuthErrorErrorServerError, detail)
		return
	}
	writeError(w, http.StatusInternalServerError, detail)
}

const (
	// storageTimeout is the timeout of an operation, which mostly waits for storage.
	storageTimeout = 10 * time.Second

	// retryAfterSeconds is the Retry-After value in seconds if storage is unavailable.
	retryAfterSeconds = 5
)

// storageUnavailable logs a storage failure and returns the response for it.
func (h handlers) storageUnavailable(ctx context.Context, resource string, err error) contract.UnavailableJSONResponse {
	if !errors.Is(ctx.Err(), context.Canceled) { // otherwise the caller has disconnected
		h.Log.ErrorContext(ctx, "failed to access storage", "resource", resource, "requestId", middleware.RequestInfoFrom(ctx).RequestID, "error", err)
	}
	return contract.UnavailableJSONResponse{
		Headers: contract.UnavailableResponseHeaders{RetryAfter: retryAfterSeconds},
		Body:    contract.Error{Detail: "the storage for " + resource + " is unavailable; retry later"},
	}
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	writeError(w, http.StatusNotFound, "no endpoint at this path")
}

func methodNotAllowed(w http.ResponseWriter, allowed string) {
	writeError(w, http.StatusMethodNotAllowed, "method not allowed; use "+allowed)
}

func unauthorized(w http.ResponseWriter, detail string) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	writeError(w, http.StatusUnauthorized, detail)
}

func writeError(w http.ResponseWriter, status int, detail string) {
	writeJSON(w, status, contract.Error{Detail: detail})
}

func writeOAuthError(w http.ResponseWriter, status int, code contract.OAuthErrorError, description string) {
	writeJSON(w, status, contract.OAuthError{Error: code, ErrorDescription: description})
}

func writeJSON(w http.ResponseWriter, status int, response any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(response) // encoding strings cannot fail, and write errors mean that the caller has disconnected
}
