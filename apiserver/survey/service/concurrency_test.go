// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// isExpectedConflict reports whether an error is expected under concurrency.
func isExpectedConflict(err error) bool {
	_, notCurrent := errors.AsType[*flow.NotCurrentError](err)
	_, closed := errors.AsType[*flow.ClosedError](err)
	_, notAnswered := errors.AsType[*flow.NotAnsweredError](err)
	_, meantForAnother := errors.AsType[*assessment.FieldError](err)
	return notCurrent || closed || notAnswered || meantForAnother || errors.Is(err, record.ErrConflict)
}

// answerOrChangeFirst answers the current question of a survey, or changes the first
// answer.
func answerOrChangeFirst(t *testing.T, r *service.Service, id string, first bool) error {
	t.Helper()
	if first {
		step, err := r.StepAt(t.Context(), portal, id, 0)
		if err != nil {
			return err
		}
		_, err = r.ChangeAnswer(t.Context(), portal, id, 0, validAnswer(&step.Question))
		return err
	}
	step, err := r.Current(t.Context(), portal, id)
	if err != nil {
		return err
	}
	if step == nil {
		return &flow.ClosedError{}
	}
	_, err = r.Answer(t.Context(), portal, id, flow.Submission{Answer: validAnswer(&step.Question)})
	return err
}

// TestConcurrentAnswersAreSerialized checks that concurrent answers and changes by clients of
// two replicas leave a survey consistent, with every accepted answer that was not changed
// since.
func TestConcurrentAnswersAreSerialized(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, url string) {
		dir := writeRelease(t)
		replicas := []*service.Service{openService(t, url, dir), openService(t, url, dir)}
		created := createSurvey(t, replicas[0], createPatient(t, replicas[0]), record.TypeIntake)
		var group sync.WaitGroup
		var writes atomic.Int64
		for worker := range 6 {
			group.Go(func() {
				r := replicas[worker%2]
				for range 12 {
					switch err := answerOrChangeFirst(t, r, created.ID, worker == 0); {
					case err == nil:
						writes.Add(1)
					case !isExpectedConflict(err):
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		found, err := replicas[0].Get(t.Context(), portal, created.ID)
		if err != nil || found.Version != writes.Load()+1 {
			t.Errorf("got %d acknowledged writes, but survey version %d, %v", writes.Load(), found.Version, err)
		}
		for range 50 {
			if err := answerCurrent(replicas[1], created.ID); err != nil {
				t.Fatal(err)
			}
		}
		checkCompleted(t, replicas[0], created.ID)
	})
}
