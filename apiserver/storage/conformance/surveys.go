// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// newSurvey returns a new survey of a patient.
func newSurvey(patientID string) record.Survey {
	return record.Survey{
		ID: uuid.NewString(), PatientID: patientID, Type: record.TypeTriage, Sections: []string{"symptoms", "dynamic"},
		Status: record.StatusNew, Version: 1, Language: "en", ModelID: "service-en", ModelVersion: "1", CreatedAt: testTime,
	}
}

// newStoreWithPatient returns a store with a user and a patient.
func newStoreWithPatient(t *testing.T, url string) (store storage.Store, user record.EncryptedUser, patient record.Patient) {
	t.Helper()
	store = openStore(t, url)
	user = newUser("g1")
	insertUser(t, store, user)
	patient = newPatient(user.ID)
	transact(t, store, func(tx storage.Tx) error { return tx.InsertPatient(t.Context(), patient) })
	return store, user, patient
}

func insertSurveys(t *testing.T, store storage.Store, surveys ...record.Survey) {
	t.Helper()
	transact(t, store, func(tx storage.Tx) error {
		for _, survey := range surveys {
			if err := tx.InsertSurvey(t.Context(), survey); err != nil {
				return err
			}
		}
		return nil
	})
}

// withStatus returns a survey with a new status and the next version.
func withStatus(survey record.Survey, status record.Status) record.Survey {
	survey.Version++
	survey.Status = status
	return survey
}

func surveyIDs(surveys []record.Survey) []string {
	ids := make([]string, len(surveys))
	for i, survey := range surveys {
		ids[i] = survey.ID
	}
	return ids
}

func testSurveys(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	store, ada, patient := newStoreWithPatient(t, url)
	eve := newUser("g1")
	insertUser(t, store, eve)
	other := newPatient(eve.ID)
	transact(t, store, func(tx storage.Tx) error { return tx.InsertPatient(t.Context(), other) })
	first, second, third := newSurvey(patient.ID), newSurvey(other.ID), newSurvey(patient.ID)
	first.VisitReason, first.ExpirationDate = json.RawMessage(`{"why":"ä"}`), testTime
	first.Evidence = []record.Evidence{{ID: "s_21", ChoiceID: record.ChoicePresent, Source: record.SourceInitial}}
	insertSurveys(t, store, first, second, third)
	first = withStatus(first, record.StatusCompleted)
	transact(t, store, func(tx storage.Tx) error { return tx.UpdateSurvey(t.Context(), first) })
	transact(t, openStore(t, url), func(tx storage.Tx) error {
		got, err := tx.GetSurvey(t.Context(), first.ID)
		if diff := cmp.Diff(first, got); diff != "" || err != nil {
			t.Errorf("GetSurvey: error %v, (-want +got):\n%s", err, diff)
		}
		for name, part := range map[string]struct {
			filter        record.SurveyFilter
			offset, limit int64
			want          []record.Survey
			total         int64
		}{
			"all":                         {record.SurveyFilter{}, 0, 10, []record.Survey{first, second, third}, 3},
			"page of all":                 {record.SurveyFilter{}, 1, 1, []record.Survey{second}, 3},
			"beyond the last":             {record.SurveyFilter{}, 3, 10, nil, 3},
			"of a status":                 {record.SurveyFilter{Status: record.StatusNew}, 1, 10, []record.Survey{third}, 2},
			"of a status without surveys": {record.SurveyFilter{Status: record.StatusPending}, 0, 10, nil, 0},
			"of a patient":                {record.SurveyFilter{PatientID: patient.ID}, 1, 10, []record.Survey{third}, 2},
			"of a patient, by status":     {record.SurveyFilter{PatientID: patient.ID, Status: record.StatusCompleted}, 0, 10, []record.Survey{first}, 1},
			"of a user":                   {record.SurveyFilter{UserID: ada.ID}, 0, 1, []record.Survey{first}, 2},
			"of a user, by status":        {record.SurveyFilter{UserID: eve.ID, Status: record.StatusNew}, 0, 10, []record.Survey{second}, 1},
			"unknown user":                {record.SurveyFilter{UserID: "x"}, 0, 10, nil, 0},
		} {
			page, total, err := tx.ListSurveys(t.Context(), part.filter, part.offset, part.limit)
			if diff := cmp.Diff(surveyIDs(part.want), surveyIDs(page)); diff != "" || total != part.total || err != nil {
				t.Errorf("%s: total %d, error %v, (-want +got):\n%s", name, total, err, diff)
			}
		}
		last, err := tx.GetLastCompletedSurvey(t.Context(), patient.ID)
		if last.ID != first.ID || err != nil {
			t.Errorf("GetLastCompletedSurvey: got %s, error %v, want %s", last.ID, err, first.ID)
		}
		return nil
	})
	expectNoSurvey(t, store, uuid.NewString(), other.ID)
	err := store.Transact(t.Context(), func(tx storage.Tx) error { return tx.InsertSurvey(t.Context(), newSurvey(uuid.NewString())) })
	if !errors.Is(err, record.ErrReferenceNotFound) {
		t.Errorf("inserting a survey of an unknown patient: got %v, want ErrReferenceNotFound", err)
	}
}

// expectNoSurvey checks that a survey does not exist and that the patient has no
// completed survey.
func expectNoSurvey(t *testing.T, store storage.Store, id, patientID string) {
	t.Helper()
	transact(t, store, func(tx storage.Tx) error {
		_, read := tx.GetSurvey(t.Context(), id)
		_, last := tx.GetLastCompletedSurvey(t.Context(), patientID)
		_, result := tx.GetResult(t.Context(), id)
		for method, err := range map[string]error{"GetSurvey": read, "GetLastCompletedSurvey": last, "GetResult": result, "DeleteSurvey": tx.DeleteSurvey(t.Context(), id)} {
			if !errors.Is(err, record.ErrNotFound) {
				t.Errorf("%s: got %v, want ErrNotFound", method, err)
			}
		}
		steps, err := tx.ListSteps(t.Context(), id)
		if len(steps) != 0 {
			t.Errorf("got steps of an unknown survey: %v", steps)
		}
		return err
	})
}

func newStep(text string, answer record.Answer) record.Step {
	question := record.Question{ID: "notes", Section: "notes", Text: text, AnswerType: record.AnswerText, Meta: record.Meta{MaxLength: 10}}
	return record.Step{Question: question, Answer: answer}
}

func testSteps(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	store, _, patient := newStoreWithPatient(t, url)
	survey, other := newSurvey(patient.ID), newSurvey(patient.ID)
	insertSurveys(t, store, survey, other)
	steps := []record.Step{
		newStep("first", record.Answer{Kind: record.KindText, Text: "ä\x00"}), newStep("second", record.Answer{Kind: record.KindSkipped}),
		newStep("third", record.Answer{Kind: record.KindItem, Items: []record.Item{{ID: "s_1", Name: "a", ChoiceID: "present"}}}), newStep("fourth", record.Answer{}),
	}
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.PutSteps(t.Context(), survey.ID, 0, steps[:3]), tx.PutSteps(t.Context(), other.ID, 0, steps[3:]))
	})
	want := func(surveyID string, want []record.Step) {
		t.Helper()
		transact(t, openStore(t, url), func(tx storage.Tx) error {
			got, err := tx.ListSteps(t.Context(), surveyID)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			return err
		})
	}
	want(survey.ID, steps[:3])
	transact(t, store, func(tx storage.Tx) error { return tx.PutSteps(t.Context(), survey.ID, 2, steps[1:4]) })
	want(survey.ID, []record.Step{steps[0], steps[1], steps[1], steps[2], steps[3]})
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteSteps(t.Context(), survey.ID, 1) })
	want(survey.ID, steps[:1])
	want(other.ID, steps[3:])
	result := record.Result{ModelID: "service-en", ModelVersion: "2", Assessment: &record.Assessment{Triage: record.TriageResult{Level: "emergency"}}}
	for range 2 { // the second replaces the first
		transact(t, store, func(tx storage.Tx) error { return tx.PutResult(t.Context(), survey.ID, result) })
		transact(t, store, func(tx storage.Tx) error {
			got, err := tx.GetResult(t.Context(), survey.ID)
			if diff := cmp.Diff(result, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			return err
		})
		result.ModelVersion, result.Assessment = "3", nil
	}
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteSurvey(t.Context(), survey.ID) })
	expectNoSurvey(t, store, survey.ID, patient.ID)
	err := store.Transact(t.Context(), func(tx storage.Tx) error { return tx.PutSteps(t.Context(), survey.ID, 0, steps[:1]) })
	if !errors.Is(err, record.ErrReferenceNotFound) {
		t.Errorf("inserting a step of a deleted survey: got %v, want ErrReferenceNotFound", err)
	}
}

// testSurveyDeletion checks that deleting a user or patient also deletes their surveys
// and magic codes.
func testSurveyDeletion(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	for name, remove := range map[string]func(tx storage.Tx, user, patient, survey string) error{
		"the survey":  func(tx storage.Tx, _, _, survey string) error { return tx.DeleteSurvey(t.Context(), survey) },
		"the patient": func(tx storage.Tx, _, patient, _ string) error { return tx.DeletePatient(t.Context(), patient) },
		"the user":    func(tx storage.Tx, user, _, _ string) error { return tx.DeleteUser(t.Context(), user) },
	} {
		store, user, patient := newStoreWithPatient(t, url)
		survey := newSurvey(patient.ID)
		insertSurveys(t, store, survey)
		code := record.MagicCode{Hash: []byte(survey.ID), UserID: user.ID, SurveyID: survey.ID, ExpiresAt: testTime}
		transact(t, store, func(tx storage.Tx) error {
			return errors.Join(
				tx.PutSteps(t.Context(), survey.ID, 0, []record.Step{newStep("first", record.Answer{})}),
				tx.PutResult(t.Context(), survey.ID, record.Result{}),
				tx.InsertMagicCode(t.Context(), code, testTime))
		})
		transact(t, store, func(tx storage.Tx) error { return remove(tx, user.ID, patient.ID, survey.ID) })
		expectNoSurvey(t, store, survey.ID, patient.ID)
		transact(t, store, func(tx storage.Tx) error {
			if _, err := tx.GetMagicCode(t.Context(), code.Hash); !errors.Is(err, record.ErrNotFound) {
				t.Errorf("deleting %s: magic code of the survey: got %v, want ErrNotFound", name, err)
			}
			_, total, err := tx.ListSurveys(t.Context(), record.SurveyFilter{}, 0, 1)
			if total != 0 {
				t.Errorf("deleting %s: got total %d, want 0", name, total)
			}
			return err
		})
	}
}

// testConcurrentSurveyUpdates checks that exactly one of several updates of the same
// version succeeds and the others are rejected.
func testConcurrentSurveyUpdates(t *testing.T, fresh NewDatabase) {
	const replicas, writers, rounds = 2, 3, 4
	url := fresh(t)
	store, _, patient := newStoreWithPatient(t, url)
	survey := newSurvey(patient.ID)
	insertSurveys(t, store, survey)
	stores := make([]storage.Store, replicas)
	for i := range stores {
		stores[i] = openStore(t, url)
	}
	for range rounds {
		var group sync.WaitGroup
		succeeded := make(chan record.Survey, replicas*writers)
		for i := range replicas * writers {
			group.Go(func() {
				next := withStatus(survey, record.StatusPending)
				next.Language = uuid.NewString()
				err := stores[i%replicas].Transact(t.Context(), func(tx storage.Tx) error { return tx.UpdateSurvey(t.Context(), next) })
				switch {
				case err == nil:
					succeeded <- next
				case !errors.Is(err, record.ErrVersionMismatch):
					t.Errorf("got %v, want ErrVersionMismatch", err)
				}
			})
		}
		group.Wait()
		if len(succeeded) != 1 {
			t.Fatalf("%d updates of version %d succeeded, want 1", len(succeeded), survey.Version)
		}
		survey = <-succeeded
		transact(t, store, func(tx storage.Tx) error {
			stored, err := tx.GetSurvey(t.Context(), survey.ID)
			if diff := cmp.Diff(survey, stored); diff != "" {
				t.Errorf("survey (-written +stored):\n%s", diff)
			}
			return err
		})
	}
}

// testSurveyPagination checks the pages of a list longer than one counting block, after
// deletions and status changes.
func testSurveyPagination(t *testing.T, fresh NewDatabase) {
	store, _, patient := newStoreWithPatient(t, fresh(t))
	surveys := make([]record.Survey, 2500)
	for i := range surveys {
		surveys[i] = newSurvey(patient.ID)
	}
	insertSurveys(t, store, surveys...)
	transact(t, store, func(tx storage.Tx) error {
		for i := range surveys {
			if i%3 == 0 {
				surveys[i] = withStatus(surveys[i], record.StatusPending)
				if err := tx.UpdateSurvey(t.Context(), surveys[i]); err != nil {
					return err
				}
			}
			if i%7 == 0 || i > 900 && i < 1200 {
				if err := tx.DeleteSurvey(t.Context(), surveys[i].ID); err != nil {
					return err
				}
				surveys[i].Status = "" // deleted
			}
		}
		return nil
	})
	for _, status := range []record.Status{"", record.StatusNew, record.StatusPending, record.StatusCompleted} {
		remaining := slices.DeleteFunc(slices.Clone(surveys), func(s record.Survey) bool {
			return s.Status == "" || status != "" && s.Status != status
		})
		transact(t, store, func(tx storage.Tx) error {
			for offset := 0; offset < len(remaining)+100; offset += 97 {
				page, total, err := tx.ListSurveys(t.Context(), record.SurveyFilter{Status: status}, int64(offset), 50)
				if err != nil {
					return err
				}
				from := min(offset, len(remaining))
				want := remaining[from:min(from+50, len(remaining))]
				if diff := cmp.Diff(surveyIDs(want), surveyIDs(page)); diff != "" || total != int64(len(remaining)) {
					t.Fatalf("status %q, offset %d: got total %d, want %d (-want +got):\n%s", status, offset, total, len(remaining), diff)
				}
			}
			return nil
		})
	}
}

// testSurveyWithSteps checks that a survey and its steps are read as one snapshot during
// concurrent writes.
func testSurveyWithSteps(t *testing.T, fresh NewDatabase) {
	store, _, patient := newStoreWithPatient(t, fresh(t))
	survey := newSurvey(patient.ID)
	insertSurveys(t, store, survey)
	const writes = 200
	done := make(chan error, 1)
	go func() {
		written := survey
		var err error
		for n := 0; n < writes && err == nil; n++ {
			written = withStatus(written, record.StatusPending)
			err = store.Transact(t.Context(), func(tx storage.Tx) error {
				if err := tx.UpdateSurvey(t.Context(), written); err != nil {
					return err
				}
				return tx.PutSteps(t.Context(), written.ID, n, []record.Step{{Question: record.Question{ID: "q", Index: n}}})
			})
		}
		done <- err
	}()
	for version := int64(1); version <= writes; {
		transact(t, store, func(tx storage.Tx) error {
			read, steps, err := tx.GetSurveyWithSteps(t.Context(), survey.ID)
			if int64(len(steps)) != read.Version-1 {
				t.Errorf("got %d steps at version %d, want %d", len(steps), read.Version, read.Version-1)
			}
			version = read.Version
			return err
		})
		if t.Failed() {
			break
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	err := store.Transact(t.Context(), func(tx storage.Tx) error {
		_, _, err := tx.GetSurveyWithSteps(t.Context(), uuid.NewString())
		return err
	})
	if !errors.Is(err, record.ErrNotFound) {
		t.Errorf("GetSurveyWithSteps of an unknown survey: got %v, want record.ErrNotFound", err)
	}
}
