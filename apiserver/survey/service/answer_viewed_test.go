// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
)

// An answer based on a view that is no longer current is treated like one that arrives late.
func TestAnswerViewed(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, url string) {
		r := openService(t, url, writeRelease(t))
		made := createSurvey(t, r, createPatient(t, r), record.TypeIntake)
		view := func() *flow.View {
			t.Helper()
			sight, err := r.View(t.Context(), portal, made.ID)
			if err != nil {
				t.Fatal(err)
			}
			return &sight
		}
		answer := func(sight *flow.View, index int, sent json.RawMessage, want int) {
			t.Helper()
			next, err := r.AnswerViewed(t.Context(), portal, sight, index, sent)
			if err != nil || next == nil || next.Index != want {
				t.Fatalf("answering question %d: got %v, %v, want question %d", index, next, err, want)
			}
		}
		first := view()
		sent := validAnswer(&first.Steps[0].Question)
		answer(first, 0, sent, 1)
		answer(first, 0, sent, 1) // a repeated answer
		second := view()
		answer(second, 1, validAnswer(&second.Steps[1].Question), 2)
		_, err := r.AnswerViewed(t.Context(), portal, first, 0, sent)
		if _, notCurrent := errors.AsType[*flow.NotCurrentError](err); !notCurrent {
			t.Errorf("answering question 0 late: got %v", err)
		}
		answer(second, 0, sent, 1) // changes the answer, and drops the next
		if got := len(record.AnsweredSteps(view().Steps)); got != 1 {
			t.Errorf("got %d answers after changing the first", got)
		}
	})
}
