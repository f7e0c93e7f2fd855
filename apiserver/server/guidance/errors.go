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

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/sealing"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// oauthPath is where errors have the form of OAuth.
const oauthPath = "/api/auth/token"

// refuse answers what a client did wrong in the form of the path's errors.
func refuse(w http.ResponseWriter, r *http.Request, status int, detail string) {
	if r.URL.Path == oauthPath {
		code := contract.OAuthErrorErrorInvalidRequest
		if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
			code = contract.OAuthErrorErrorTemporarilyUnavailable
		}
		writeOAuthError(w, status, code, detail)
		return
	}
	writeError(w, status, detail)
}

// busy answers a call that the server has no room for.
func busy(w http.ResponseWriter, r *http.Request) {
	refuse(w, r, http.StatusServiceUnavailable, "the server has too many calls to answer at the moment; send this one again later")
}

// limitReached answers a call that a plan does not allow any more.
func limitReached(w http.ResponseWriter, r *http.Request) {
	refuse(w, r, http.StatusTooManyRequests, "the calls that the application's plan allows in a month are used up")
}

// slowDown answers a try to sign in that comes too soon after others failed.
func slowDown(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	middleware.ComeBackIn(w, wait)
	refuse(w, r, http.StatusTooManyRequests, "credentials were wrong too often from this address; nobody looks at them before Retry-After")
}

// badBody answers a body that is well formed but does not fit.
func badBody(w http.ResponseWriter, r *http.Request, err error) {
	var kind *json.UnmarshalTypeError
	fits := errors.As(err, &kind) && kind.Field != ""
	switch {
	case r.URL.Path != oauthPath && fits:
		writeInvalid(w, contract.FieldError{
			Field: kind.Field, Message: fmt.Sprintf("expected a %s, got a %s", jsonKind(kind.Type), firstWord(kind.Value)),
		})
	case r.URL.Path != oauthPath:
		writeInvalid(w, contract.FieldError{Field: "body", Message: "expected an object with the fields of this operation"})
	case fits:
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("%s is a JSON %s and has to be a %s", kind.Field, firstWord(kind.Value), kind.Type))
	default:
		refuse(w, r, http.StatusBadRequest, "the body is not an object, or not a form, with the fields of this operation")
	}
}

// jsonKind is what JSON calls the values of a type.
func jsonKind(kind reflect.Type) string {
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

// firstWord leaves out the value that follows the kind "number".
func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// badParameter answers a parameter that cannot be read.
func badParameter(w http.ResponseWriter, r *http.Request, err error) {
	name := "a parameter"
	var (
		format *contract.InvalidParamFormatError
		many   *contract.TooManyValuesForParamError
	)
	switch {
	case errors.As(err, &format):
		name = format.ParamName
	case errors.As(err, &many):
		name = many.ParamName
	}
	if r.URL.Path == oauthPath {
		refuse(w, r, http.StatusBadRequest, name+" has to be given once")
		return
	}
	writeInvalid(w, contract.FieldError{Field: name, Message: "it has to be given once"})
}

// invalid says what is wrong with which fields.
func invalid(wrong ...contract.FieldError) contract.ValidationError {
	names := make([]string, len(wrong))
	for i, field := range wrong {
		names[i] = field.Field
	}
	return contract.ValidationError{Detail: "not valid: " + strings.Join(names, ", "), Errors: wrong}
}

func writeInvalid(w http.ResponseWriter, wrong ...contract.FieldError) {
	writeJSON(w, http.StatusUnprocessableEntity, invalid(wrong...))
}

// A refusal is an error that says which fields or parameters are wrong.
type refusal []contract.FieldError

// Error names them.
func (r refusal) Error() string { return invalid(r...).Detail }

// note adds the error of a field, if it is one.
func (r *refusal) note(err error) {
	var wrong *assessment.FieldError
	if errors.As(err, &wrong) {
		*r = append(*r, contract.FieldError{Field: wrong.Field, Message: wrong.Problem})
	}
}

// err is nil where nothing was noted.
func (r refusal) err() error {
	if len(r) == 0 {
		return nil
	}
	return r
}

// joined is the refusal of all that is wrong, nil for nothing.
func joined(wrong []contract.FieldError, err error) error {
	var more refusal
	if errors.As(err, &more) {
		wrong = append(wrong, more...)
	}
	return refusal(wrong).err()
}

// A storageError is one of storage, when it kept or read something.
type storageError struct {
	what string
	error
}

// Unwrap is the error of storage.
func (e *storageError) Unwrap() error { return e.error }

// kept makes an error of storage, if there is one, that of what was kept or read.
func kept(what string, err error) error {
	if err == nil {
		return nil
	}
	return &storageError{what, err}
}

// fail answers the error of a handler: what a client has to know of it, or that it
// was a fault.
func (h handlers) fail(w http.ResponseWriter, r *http.Request, err error) {
	var (
		wrong refusal
		taken *storage.TakenError
		down  *storageError
		soon  tooSoon
		users forbiddenToUsers
	)
	if status, told := surveyError(err); told != nil {
		writeTold(w, status, told)
		return
	}
	switch detail := unprovenDetail(err); {
	case detail != "":
		unauthorized(w, detail)
	case errors.As(err, &wrong):
		writeInvalid(w, wrong...)
	case errors.As(err, &users):
		writeError(w, http.StatusForbidden, users.Error())
	case errors.Is(err, guard.ErrBusy):
		middleware.ComeBackLater(w)
		busy(w, r)
	case errors.As(err, &soon):
		slowDown(w, r, time.Duration(soon))
	case errors.Is(err, storage.ErrNotFound):
		writeError(w, http.StatusNotFound, "there is none with this id")
	case errors.As(err, &taken):
		writeError(w, http.StatusConflict, taken.Error())
	case errors.As(err, &down) && !errors.Is(err, sealing.ErrSealed) && !errors.Is(err, surveys.ErrComputed):
		unavailable := h.unavailable(r.Context(), down.what, down.error)
		w.Header().Set("Retry-After", strconv.Itoa(unavailable.Headers.RetryAfter))
		writeJSON(w, http.StatusServiceUnavailable, unavailable.Body)
	default:
		h.fault(w, r, err)
	}
}

// fault answers and logs what went wrong on our side.
func (h handlers) fault(w http.ResponseWriter, r *http.Request, err error) {
	h.Log.ErrorContext(r.Context(), "a request failed", "requestId", middleware.CallOf(r.Context()).RequestID, "error", err)
	const detail = "the service failed; the X-Request-Id of this answer leads to the cause"
	if r.URL.Path == oauthPath {
		writeOAuthError(w, http.StatusInternalServerError, contract.OAuthErrorErrorServerError, detail)
		return
	}
	writeError(w, http.StatusInternalServerError, detail)
}

const (
	// storagePatience is how long storage may take to read.
	storagePatience = 10 * time.Second

	// retryAfter is when to come back to storage that is down, in seconds.
	retryAfter = 5
)

// unavailable answers, and logs, that something cannot be read from storage.
func (h handlers) unavailable(ctx context.Context, what string, err error) contract.UnavailableJSONResponse {
	if ctx.Err() == nil { // else the caller is gone
		h.Log.ErrorContext(ctx, "storage cannot be read", "what", what, "requestId", middleware.CallOf(ctx).RequestID, "error", err)
	}
	return contract.UnavailableJSONResponse{
		Headers: contract.UnavailableResponseHeaders{RetryAfter: retryAfter},
		Body:    contract.Error{Detail: "the storage of " + what + " cannot be reached now; try again"},
	}
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	writeError(w, http.StatusNotFound, "there is nothing at this address")
}

func methodNotAllowed(w http.ResponseWriter, allowed string) {
	writeError(w, http.StatusMethodNotAllowed, "this address takes "+allowed)
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

func writeJSON(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // strings only, and a caller that is gone needs no answer
}
