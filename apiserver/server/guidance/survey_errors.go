// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"errors"
	"net/http"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

// forbiddenToUsers is what end users may not do whatever their scopes are.
type forbiddenToUsers string

// Error says what.
func (e forbiddenToUsers) Error() string { return string(e) }

// surveyError is what of an error of surveys the client is told, and the status of
// that; nil where the error is none of the client's.
func surveyError(err error) (status int, told error) {
	if told := as[*assessment.FieldError](err); told != nil {
		return http.StatusUnprocessableEntity, told
	}
	if told := as[*survey.NotAnsweredError](err); told != nil {
		return http.StatusNotFound, told
	}
	for _, conflict := range []error{
		as[*survey.ClosedError](err), as[*survey.ExpiredError](err), as[*survey.NotCurrentError](err), as[*survey.FrozenError](err),
		is(err, surveys.ErrNotCompleted), is(err, surveys.ErrNotAssessed),
		is(err, webhooks.ErrTooMany), is(err, webhooks.ErrDisabled),
	} {
		if conflict != nil {
			return http.StatusConflict, conflict
		}
	}
	return 0, nil
}

// as is the error of a type that an error wraps, nil where it wraps none.
func as[E error](err error) error {
	if found, ok := errors.AsType[E](err); ok {
		return found
	}
	return nil
}

// is is an error where another one wraps it, else nil.
func is(err, target error) error {
	if errors.Is(err, target) {
		return target
	}
	return nil
}

// writeTold answers with what a client is told.
func writeTold(w http.ResponseWriter, status int, told error) {
	if wrong, ok := errors.AsType[*assessment.FieldError](told); ok {
		writeInvalid(w, contract.FieldError{Field: wrong.Field, Message: wrong.Problem})
		return
	}
	writeError(w, status, told.Error())
}
