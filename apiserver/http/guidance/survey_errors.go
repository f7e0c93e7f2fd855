// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"errors"
	"net/http"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
)

// clientError returns the status and the error to report to the client, or nil if the client
// did not cause the error of the survey service.
func clientError(err error) (status int, clientErr error) {
	if clientErr := errorAs[*assessment.FieldError](err); clientErr != nil {
		return http.StatusUnprocessableEntity, clientErr
	}
	if clientErr := errorAs[*flow.NotAnsweredError](err); clientErr != nil {
		return http.StatusNotFound, clientErr
	}
	for _, conflict := range []error{
		errorAs[*flow.ClosedError](err), errorAs[*flow.ExpiredError](err), errorAs[*flow.NotCurrentError](err), errorAs[*flow.ImmutableFieldError](err),
		errorIs(err, service.ErrNotCompleted), errorIs(err, service.ErrNotAssessed),
		errorIs(err, webhook.ErrTooMany), errorIs(err, webhook.ErrDisabled),
	} {
		if conflict != nil {
			return http.StatusConflict, conflict
		}
	}
	return 0, nil
}

// errorAs returns the error of type E that err wraps, or nil.
func errorAs[E error](err error) error {
	if found, ok := errors.AsType[E](err); ok {
		return found
	}
	return nil
}

// errorIs returns target if err wraps it, or nil.
func errorIs(err, target error) error {
	if errors.Is(err, target) {
		return target
	}
	return nil
}

// writeClientError responds with a client error.
func writeClientError(w http.ResponseWriter, status int, clientErr error) {
	if fieldErr, ok := errors.AsType[*assessment.FieldError](clientErr); ok {
		writeValidationError(w, contract.FieldError{Field: fieldErr.Field, Message: fieldErr.Problem})
		return
	}
	writeError(w, status, clientErr.Error())
}
