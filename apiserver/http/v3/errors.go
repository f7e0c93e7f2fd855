// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	chimiddleware "github.com/go-chi/chi/v5/middleware"
	jsonv2 "github.com/go-json-experiment/json"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/catalog"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
)

// WriteError responds with an error in the format of the contract.
func WriteError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A write error means that the client has disconnected.
	_ = json.NewEncoder(w).Encode(enginev3.Error{Message: message})
}

// rejectBody responds to an unreadable body.
func rejectBody(w http.ResponseWriter, _ *http.Request, status int, problem string) {
	WriteError(w, status, problem)
}

// writeBusy responds to a call that exceeds the server's capacity.
func writeBusy(w http.ResponseWriter, _ *http.Request) {
	WriteError(w, http.StatusServiceUnavailable, "server is overloaded; retry later")
}

// unauthenticated responds to a call without a valid application ID and key.
func unauthenticated(w http.ResponseWriter, _ *http.Request) {
	WriteError(w, http.StatusForbidden, "App-Id or App-Key is missing or wrong")
}

// tooManyAttempts responds to a client throttled after failed attempts.
func tooManyAttempts(w http.ResponseWriter, _ *http.Request) {
	WriteError(w, http.StatusTooManyRequests, "too many requests with a wrong App-Id or App-Key from this address; retry after the delay in Retry-After")
}

// deny responds to an application that may not perform an operation.
func deny(w http.ResponseWriter, _ *http.Request, err error) {
	message := "the application may not call this endpoint"
	if denied, ok := errors.AsType[*access.DeniedError](err); ok && denied.MissingScope != "" {
		message = fmt.Sprintf("the application lacks the scope %s", denied.MissingScope)
	}
	WriteError(w, http.StatusForbidden, message)
}

// planLimitExceeded responds to a call that exceeds the application's plan.
func planLimitExceeded(w http.ResponseWriter, _ *http.Request) {
	WriteError(w, http.StatusTooManyRequests, "the application's monthly quota is exhausted")
}

// A requestError is an error caused by the client and reported to it.
type requestError struct {
	status  int
	message string
}

func (e *requestError) Error() string { return e.message }

func badRequest(format string, arguments ...any) error {
	return &requestError{http.StatusBadRequest, fmt.Sprintf(format, arguments...)}
}

// handleError reports errors caused by the client, and logs all others.
func (a *API) handleError(w http.ResponseWriter, r *http.Request, err error) {
	if wrapped, ok := w.(chimiddleware.WrapResponseWriter); ok && wrapped.Status() != 0 {
		return // the client disconnected while the response was written
	}
	if errors.Is(err, limiter.ErrBusy) {
		middleware.SetBusyRetryAfter(w)
		WriteError(w, http.StatusServiceUnavailable, "too many concurrent assessments; retry later")
		return
	}
	if requestErr := toRequestError(err); requestErr != nil {
		WriteError(w, requestErr.status, requestErr.message)
		return
	}
	id := middleware.RequestInfoFrom(r.Context()).RequestID
	a.log.LogAttrs(r.Context(), slog.LevelError, "failed to handle request",
		slog.String("requestId", id), slog.Any("error", err))
	WriteError(w, http.StatusInternalServerError, "internal error; the server log has details under request id "+id)
}

// toRequestError returns the error to report to the client, or nil if the client did not
// cause the error.
func toRequestError(err error) *requestError {
	var (
		request     *requestError
		field       *assessment.FieldError
		unknownID   *catalog.UnknownIDError
		evidence    *inference.EvidenceError
		tooLong     *enginev3.EvidenceLengthError
		tooMuch     *inference.TooMuchEvidenceError
		missing     *enginev3.RequiredParamError
		noHeader    *enginev3.RequiredHeaderError
		format      *enginev3.InvalidParamFormatError
		tooMany     *enginev3.TooManyValuesForParamError
		semanticErr *jsonv2.SemanticError
		badMessage  string
	)
	switch {
	case errors.As(err, &request):
		return request
	case errors.As(err, &field):
		badMessage = field.Error()
	case errors.As(err, &unknownID):
		return &requestError{http.StatusNotFound, fmt.Sprintf("concept %s not found", assessment.Quote(unknownID.ID))}
	case errors.As(err, &evidence):
		badMessage = fmt.Sprintf("evidence[%d] (%s): %s", evidence.Index, assessment.Quote(evidence.ID), evidence.Problem)
	case errors.As(err, &tooLong):
		badMessage = tooLong.Error()
	case errors.As(err, &tooMuch):
		badMessage = tooMuch.Error()
	case errors.As(err, &missing):
		badMessage = fmt.Sprintf("%s: missing, expected %s", missing.ParamName, expectedValue(missing.ParamName))
	case errors.As(err, &noHeader):
		badMessage = fmt.Sprintf("%s: missing, expected %s", noHeader.ParamName, expectedValue(noHeader.ParamName))
	case errors.As(err, &format):
		badMessage = fmt.Sprintf("%s: expected %s", format.ParamName, expectedValue(format.ParamName))
	case errors.As(err, &tooMany):
		badMessage = fmt.Sprintf("%s: expected one value, got %d", tooMany.ParamName, tooMany.Count)
	case errors.As(err, &semanticErr):
		badMessage = describeSemanticError("", semanticErr)
	default:
		return nil
	}
	return &requestError{http.StatusBadRequest, badMessage}
}

// expectedValue describes the valid values of a query parameter or header.
func expectedValue(parameter string) string {
	switch parameter {
	case "age.value":
		return "one whole number: 1 to 130 years, or 0 to 1560 with age.unit month"
	case "enable_triage_3", "include_specialists":
		return "true or false, once"
	case "max_results":
		return "one whole number from 1 to 100"
	case "phrase":
		return "the text to search for"
	case "Interview-Id":
		return "the id of the interview, preferably a UUID"
	case "Interview-Token":
		return "the interview_token that /diagnosis returned with include_condition_details in the last 24 hours"
	default:
		return "one value"
	}
}
