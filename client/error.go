// SPDX-License-Identifier: Apache-2.0

package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// An Error is a response other than success, from either API.
type Error struct {
	// Method and Path of the call. The query is omitted because it may contain patient
	// input.
	Method, Path string
	// Status is the HTTP status code, such as 403.
	Status int
	// Message describes the error; its wording may change. If the response has no message,
	// it is the status text.
	Message string
	// Fields describes the invalid fields or parameters if the guidance platform responds
	// with 422.
	Fields []guidance.FieldError
	// Code is the OAuth error code, such as invalid_client, if no access token could be
	// obtained.
	Code string
	// RequestID identifies the call in the instance's log.
	RequestID string
	// RetryAfter is how long to wait before retrying, or zero if the response does not
	// specify it.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s %s was answered with %d: %s", e.Method, e.Path, e.Status, e.Message)
	for _, field := range e.Fields {
		text += fmt.Sprintf("; %s: %s", field.Field, field.Message)
	}
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// An errorBody is the body of an error response, in any of the formats in the
// contracts.
type errorBody struct {
	Message     string                // from the engine
	Detail      string                // from the guidance platform
	Errors      []guidance.FieldError // from the guidance platform, with 422
	Error       string                // feedback to the engine: a message; OAuth: a code
	Description string                `json:"error_description"` // from OAuth
}

// newError converts a response and its body to an Error. A body that is not JSON, for
// example from a proxy, is ignored.
func newError(request *http.Request, response *http.Response, body []byte) *Error {
	var parsed errorBody
	if json.Unmarshal(body, &parsed) != nil {
		parsed = errorBody{}
	}
	e := &Error{
		Method: request.Method, Path: request.URL.Path,
		Status:    response.StatusCode,
		Message:   cmp.Or(parsed.Message, parsed.Detail, parsed.Description, parsed.Error, http.StatusText(response.StatusCode)),
		Fields:    parsed.Errors,
		RequestID: response.Header.Get("X-Request-Id"),
	}
	if parsed.Description != "" {
		e.Code = parsed.Error
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
