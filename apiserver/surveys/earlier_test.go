// SPDX-License-Identifier: Apache-2.0

package surveys_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// lookingBack counts how often the latest completed survey of a patient is read.
type lookingBack struct {
	storage.Transactor
	looks *atomic.Int64
}

func (s lookingBack) Transact(ctx context.Context, work func(storage.Tx) error) error {
	return s.Transactor.Transact(ctx, func(tx storage.Tx) error { return work(lookingBackTx{tx, s.looks}) })
}

type lookingBackTx struct {
	storage.Tx
	looks *atomic.Int64
}

func (tx lookingBackTx) LastCompletedSurvey(ctx context.Context, patientID string) (guidance.Survey, error) {
	tx.looks.Add(1)
	return tx.Tx.LastCompletedSurvey(ctx, patientID)
}

// Only a follow-up that begins without evidence of its own has a use for what the
// patient reported earlier, so nothing else reads it.
func TestReadsEarlierOnlyWhereNeeded(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, url string) {
		r, looks := opened(t, url, shelve(t)), &atomic.Int64{}
		patient := aPatient(t, r)
		patient.Sex, patient.Age = "female", guidance.Age{Value: 34, Unit: assessment.Year}
		if err := r.Storage.Transact(t.Context(), func(tx storage.Tx) error { return tx.UpdatePatient(t.Context(), patient) }); err != nil {
			t.Fatal(err)
		}
		r.Storage = lookingBack{r.Storage, looks}
		evidence := []assessment.Evidence{{ID: "s_1", Choice: "present", Source: guidance.Initial}}
		made := map[string]guidance.Survey{}
		for _, test := range []struct {
			name   string
			wanted survey.Creation
			looks  int64
		}{
			{"triage", survey.Creation{Type: "triage"}, 0},
			{"follow-up", survey.Creation{Type: "follow-up"}, 1},
			{"follow-up of evidence", survey.Creation{Type: "follow_up", Evidence: evidence}, 0},
		} {
			looks.Store(0)
			one, err := r.Create(t.Context(), portal, surveys.NewSurvey{PatientID: patient.ID, Creation: test.wanted})
			if err != nil || looks.Load() != test.looks {
				t.Errorf("creating a %s looked back %d times, want %d; %v", test.name, looks.Load(), test.looks, err)
			}
			made[test.name] = one
		}
		for _, test := range []struct {
			survey, name string
			patch        survey.Patch
			looks        int64
		}{
			{"triage", "a date", survey.Patch{ExpirationDate: new(now.Add(time.Hour))}, 0},
			{"triage", "sections", survey.Patch{Sections: []string{"notes"}}, 0},
			{"follow-up", "a date", survey.Patch{ExpirationDate: new(now.Add(time.Hour))}, 0},
			{"follow-up", "sections", survey.Patch{Sections: []string{"symptoms", "notes"}}, 1},
			{"follow-up of evidence", "sections", survey.Patch{Sections: []string{"symptoms", "notes"}}, 0},
			{"follow-up of evidence", "the evidence away", survey.Patch{Evidence: []assessment.Evidence{}}, 1},
			{"triage", "the type", survey.Patch{Type: new("follow-up")}, 1},
		} {
			looks.Store(0)
			_, err := r.Change(t.Context(), portal, made[test.survey].ID, surveys.Change{Patch: test.patch})
			if err != nil || looks.Load() != test.looks {
				t.Errorf("changing %s of a %s looked back %d times, want %d; %v", test.name, test.survey, looks.Load(), test.looks, err)
			}
		}
	})
}
