// SPDX-License-Identifier: Apache-2.0

package surveys_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// conflict says whether an error is one that somebody who races has to expect.
func conflict(err error) bool {
	_, notCurrent := errors.AsType[*survey.NotCurrentError](err)
	_, closed := errors.AsType[*survey.ClosedError](err)
	_, notAnswered := errors.AsType[*survey.NotAnsweredError](err)
	_, meantForAnother := errors.AsType[*assessment.FieldError](err)
	return notCurrent || closed || notAnswered || meantForAnother || errors.Is(err, storage.ErrContended)
}

// answerAnyhow answers the current question of a survey, or the first one again.
func answerAnyhow(t *testing.T, r *surveys.Register, id string, first bool) error {
	t.Helper()
	if first {
		step, err := r.At(t.Context(), portal, id, 0)
		if err != nil {
			return err
		}
		_, err = r.AnswerAgain(t.Context(), portal, id, 0, anAnswer(&step.Question))
		return err
	}
	step, err := r.Current(t.Context(), portal, id)
	if err != nil {
		return err
	}
	if step == nil {
		return &survey.ClosedError{}
	}
	_, err = r.Answer(t.Context(), portal, id, survey.Given{Answer: anAnswer(&step.Question)})
	return err
}

// Callers of two replicas who answer one survey at the same time, and change answers,
// leave one that is whole, with each answer that was taken and not changed since.
func TestRacingAnswers(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, url string) {
		dir := shelve(t)
		replicas := []*surveys.Register{opened(t, url, dir), opened(t, url, dir)}
		made := begin(t, replicas[0], aPatient(t, replicas[0]), guidance.Intake)
		var group sync.WaitGroup
		var writes atomic.Int64
		for worker := range 6 {
			group.Go(func() {
				r := replicas[worker%2]
				for range 12 {
					switch err := answerAnyhow(t, r, made.ID, worker == 0); {
					case err == nil:
						writes.Add(1)
					case !conflict(err):
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		found, err := replicas[0].Survey(t.Context(), portal, made.ID)
		if err != nil || found.Version != writes.Load()+1 {
			t.Errorf("%d writes were acknowledged, the survey is at version %d, %v", writes.Load(), found.Version, err)
		}
		for range 50 {
			if err := answerOnce(replicas[1], made.ID); err != nil {
				t.Fatal(err)
			}
		}
		wantCompleted(t, replicas[0], made.ID)
	})
}
