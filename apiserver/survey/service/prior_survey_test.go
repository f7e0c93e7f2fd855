// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// countingStorage counts reads of a patient's latest completed survey.
type countingStorage struct {
	service.Storage
	reads *atomic.Int64
}

func (s countingStorage) View(ctx context.Context, work func(service.Reader) error) error {
	return s.Storage.View(ctx, func(tx service.Reader) error { return work(countingReader{tx, s.reads}) })
}

type countingReader struct {
	service.Reader
	reads *atomic.Int64
}

func (r countingReader) GetLastCompletedSurvey(ctx context.Context, patientID string) (record.Survey, error) {
	r.reads.Add(1)
	return r.Reader.GetLastCompletedSurvey(ctx, patientID)
}

// TestPriorSurveyIsReadOnlyWhenNeeded checks that only follow-ups created without evidence
// read the patient's prior survey.
func TestPriorSurveyIsReadOnlyWhenNeeded(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, url string) {
		r, reads := openService(t, url, writeRelease(t)), &atomic.Int64{}
		patient := createPatient(t, r)
		patient.Sex, patient.Age = "female", record.Age{Value: 34, Unit: assessment.Year}
		if err := serviceStore(r).Transact(t.Context(), func(tx storage.Tx) error { return tx.UpdatePatient(t.Context(), patient) }); err != nil {
			t.Fatal(err)
		}
		r.Storage = countingStorage{r.Storage, reads}
		evidence := []assessment.Evidence{{ID: "s_1", Choice: "present", Source: record.SourceInitial}}
		created := map[string]record.Survey{}
		for _, test := range []struct {
			name   string
			wanted flow.CreateOptions
			looks  int64
		}{
			{"triage", flow.CreateOptions{Type: "triage"}, 0},
			{"follow-up", flow.CreateOptions{Type: "follow-up"}, 1},
			{"follow-up of evidence", flow.CreateOptions{Type: "follow_up", Evidence: evidence}, 0},
		} {
			reads.Store(0)
			survey, err := r.Create(t.Context(), portal, service.CreateRequest{PatientID: patient.ID, CreateOptions: test.wanted})
			if err != nil || reads.Load() != test.looks {
				t.Errorf("creating a %s read the prior survey %d times, want %d; %v", test.name, reads.Load(), test.looks, err)
			}
			created[test.name] = survey
		}
		for _, test := range []struct {
			survey, name string
			patch        flow.Patch
			looks        int64
		}{
			{"triage", "a date", flow.Patch{ExpirationDate: new(now.Add(time.Hour))}, 0},
			{"triage", "sections", flow.Patch{Sections: []string{"notes"}}, 0},
			{"follow-up", "a date", flow.Patch{ExpirationDate: new(now.Add(time.Hour))}, 0},
			{"follow-up", "sections", flow.Patch{Sections: []string{"symptoms", "notes"}}, 1},
			{"follow-up of evidence", "sections", flow.Patch{Sections: []string{"symptoms", "notes"}}, 0},
			{"follow-up of evidence", "the evidence away", flow.Patch{Evidence: []assessment.Evidence{}}, 1},
			{"triage", "the type", flow.Patch{Type: new("follow-up")}, 1},
		} {
			reads.Store(0)
			_, err := r.Update(t.Context(), portal, created[test.survey].ID, service.UpdateRequest{Patch: test.patch})
			if err != nil || reads.Load() != test.looks {
				t.Errorf("changing %s of a %s read the prior survey %d times, want %d; %v", test.name, test.survey, reads.Load(), test.looks, err)
			}
		}
	})
}
