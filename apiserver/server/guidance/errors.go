// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
)

// oauthPath is where errors have the form of OAuth.
const oauthPath = "/api/auth/token"

// refuse answers what a client did wrong in the form of the path's errors.
func refuse(w http.ResponseWriter, r *http.Request, status int, detail string) {
	if r.URL.Path == oauthPath {
		code := contract.OAuthErrorErrorInvalidRequest
		if status == http.StatusServiceUnavailable {
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

// badBody answers a body that is well formed but does not fit.
func badBody(w http.ResponseWriter, r *http.Request, err error) {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && kind.Field != "" {
		refuse(w, r, http.StatusBadRequest, fmt.Sprintf("%s is a JSON %s and has to be a %s", kind.Field, firstWord(kind.Value), kind.Type))
		return
	}
	refuse(w, r, http.StatusBadRequest, "the body is not an object, or not a form, with the fields of this operation")
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
	writeJSON(w, http.StatusUnprocessableEntity, invalid(contract.FieldError{Field: name, Message: "it has to be given once"}))
}

// invalid says what is wrong with which fields.
func invalid(wrong ...contract.FieldError) contract.ValidationError {
	names := make([]string, len(wrong))
	for i, field := range wrong {
		names[i] = field.Field
	}
	return contract.ValidationError{Detail: "not valid: " + strings.Join(names, ", "), Errors: wrong}
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
