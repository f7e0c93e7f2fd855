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

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/catalogue"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
)

// Fail answers with an error of the contract.
func Fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that is gone does not read this.
	_ = json.NewEncoder(w).Encode(enginev3.Error{Message: message})
}

// refuse answers a body that cannot be read.
func refuse(w http.ResponseWriter, _ *http.Request, status int, problem string) {
	Fail(w, status, problem)
}

// busy answers a call that the server has no room for.
func busy(w http.ResponseWriter, _ *http.Request) {
	Fail(w, http.StatusServiceUnavailable, "the server has too many calls to answer at the moment; send this one again later")
}

// A requestError is an error that the client made and is told of.
type requestError struct {
	status  int
	message string
}

func (e *requestError) Error() string { return e.message }

func badRequest(format string, arguments ...any) error {
	return &requestError{http.StatusBadRequest, fmt.Sprintf(format, arguments...)}
}

// fail answers with what a client can do about an error, and logs the rest.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	if answered, ok := w.(chimiddleware.WrapResponseWriter); ok && answered.Status() != 0 {
		return // the client went away while the answer was written
	}
	if errors.Is(err, guard.ErrBusy) {
		middleware.ComeBackLater(w)
		Fail(w, http.StatusServiceUnavailable, "too many assessments are to be made at the moment; send this call again later")
		return
	}
	if told := clientError(err); told != nil {
		Fail(w, told.status, told.message)
		return
	}
	id := middleware.CallOf(r.Context()).RequestID
	a.log.LogAttrs(r.Context(), slog.LevelError, "a request failed",
		slog.String("requestId", id), slog.Any("error", err))
	Fail(w, http.StatusInternalServerError, "the service failed to answer; its log has more under request id "+id)
}

// clientError is the error to tell the client, nil when it is not the
// client's.
func clientError(err error) *requestError {
	var (
		request    *requestError
		field      *assessment.FieldError
		unknownID  *catalogue.UnknownIDError
		evidence   *engine.EvidenceError
		tooLong    *enginev3.EvidenceLengthError
		tooMuch    *engine.TooMuchEvidenceError
		missing    *enginev3.RequiredParamError
		noHeader   *enginev3.RequiredHeaderError
		format     *enginev3.InvalidParamFormatError
		tooMany    *enginev3.TooManyValuesForParamError
		misfit     *jsonv2.SemanticError
		badMessage string
	)
	switch {
	case errors.As(err, &request):
		return request
	case errors.As(err, &field):
		badMessage = field.Error()
	case errors.As(err, &unknownID):
		return &requestError{http.StatusNotFound, "no concept has the id " + assessment.Quote(unknownID.ID)}
	case errors.As(err, &evidence):
		badMessage = fmt.Sprintf("evidence[%d] (%s): %s", evidence.Position, assessment.Quote(evidence.ID), evidence.Problem)
	case errors.As(err, &tooLong):
		badMessage = tooLong.Error()
	case errors.As(err, &tooMuch):
		badMessage = tooMuch.Error()
	case errors.As(err, &missing):
		badMessage = fmt.Sprintf("%s: missing, expected %s", missing.ParamName, expectedOf(missing.ParamName))
	case errors.As(err, &noHeader):
		badMessage = fmt.Sprintf("%s: missing, expected %s", noHeader.ParamName, expectedOf(noHeader.ParamName))
	case errors.As(err, &format):
		badMessage = fmt.Sprintf("%s: expected %s", format.ParamName, expectedOf(format.ParamName))
	case errors.As(err, &tooMany):
		badMessage = fmt.Sprintf("%s: expected one value, got %d", tooMany.ParamName, tooMany.Count)
	case errors.As(err, &misfit):
		badMessage = describeMisfit("", misfit)
	default:
		return nil
	}
	return &requestError{http.StatusBadRequest, badMessage}
}

// expectedOf says what a parameter of the address or a header must be.
func expectedOf(parameter string) string {
	switch parameter {
	case "age.value":
		return "one whole number: 1 to 130 years, or 0 to 1560 with age.unit month"
	case "enable_triage_3", "include_specialists":
		return "true or false, once"
	case "max_results":
		return "one whole number from 1 to 100"
	case "phrase":
		return "the words to look for"
	case "Interview-Id":
		return "the id of the interview, best a UUID"
	case "Interview-Token":
		return "the interview_token that /diagnosis gave with include_condition_details in the last 24 hours"
	default:
		return "one value"
	}
}
