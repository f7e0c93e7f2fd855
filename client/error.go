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

// An Error is an answer that is not a success, of either API.
type Error struct {
	// Method and Path of the call; without the query, which may hold what a
	// patient typed.
	Method, Path string
	// Status is that of HTTP, such as 403.
	Status int
	// Message says what was wrong, in words that may change; the words for the
	// status where the answer says nothing.
	Message string
	// Fields says which fields or parameters were wrong, where the guidance
	// platform answers 422.
	Fields []guidance.FieldError
	// Code is what OAuth calls the error, such as invalid_client, where there
	// was no access token to be had.
	Code string
	// RequestID leads to the instance's log.
	RequestID string
	// RetryAfter is how long to wait before the call may be made again; zero
	// where the answer does not say.
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

// A refusal is the body of an answer that is not a success, in any of the forms
// that the contracts have.
type refusal struct {
	Message     string                // of the engine
	Detail      string                // of the guidance platform
	Errors      []guidance.FieldError // of the guidance platform, with 422
	Error       string                // of feedback to the engine in words; of OAuth a code
	Description string                `json:"error_description"` // of OAuth
}

// newError makes an error of an answer and its body. What is no JSON, as from a
// proxy on the way, says nothing.
func newError(request *http.Request, response *http.Response, body []byte) *Error {
	var said refusal
	if json.Unmarshal(body, &said) != nil {
		said = refusal{}
	}
	e := &Error{
		Method: request.Method, Path: request.URL.Path,
		Status:    response.StatusCode,
		Message:   cmp.Or(said.Message, said.Detail, said.Description, said.Error, http.StatusText(response.StatusCode)),
		Fields:    said.Errors,
		RequestID: response.Header.Get("X-Request-Id"),
	}
	if said.Description != "" {
		e.Code = said.Error
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
