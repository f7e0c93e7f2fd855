// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
)

// TestAnswerViewed checks that an answer based on an outdated view is treated like a late
// answer.
func TestAnswerViewed(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, url string) {
		r := openService(t, url, writeRelease(t))
		created := createSurvey(t, r, createPatient(t, r), record.TypeIntake)
		loadView := func() *flow.View {
			t.Helper()
			view, err := r.View(t.Context(), portal, created.ID)
			if err != nil {
				t.Fatal(err)
			}
			return &view
		}
		answer := func(view *flow.View, index int, sent json.RawMessage, want int) {
			t.Helper()
			next, err := r.AnswerViewed(t.Context(), portal, view, index, sent)
			if err != nil || next == nil || next.Index != want {
				t.Fatalf("answering question %d: got %v, %v, want question %d", index, next, err, want)
			}
		}
		first := loadView()
		sent := validAnswer(&first.Steps[0].Question)
		answer(first, 0, sent, 1)
		answer(first, 0, sent, 1) // a repeated answer
		second := loadView()
		answer(second, 1, validAnswer(&second.Steps[1].Question), 2)
		_, err := r.AnswerViewed(t.Context(), portal, first, 0, sent)
		if _, notCurrent := errors.AsType[*flow.NotCurrentError](err); !notCurrent {
			t.Errorf("answering question 0 late: got %v", err)
		}
		answer(second, 0, sent, 1) // changes the answer, and drops the next
		if got := len(record.AnsweredSteps(loadView().Steps)); got != 1 {
			t.Errorf("got %d answers after changing the first", got)
		}
	})
}
