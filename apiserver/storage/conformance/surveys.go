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

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// aSurvey is a new survey of a patient.
func aSurvey(patientID string) guidance.Survey {
	return guidance.Survey{
		ID: uuid.NewString(), PatientID: patientID, Type: guidance.Triage, Sections: []string{"symptoms", "dynamic"},
		Status: guidance.New, Version: 1, Language: "en", ModelID: "service-en", ModelVersion: "1", CreatedAt: moment,
	}
}

// surveyed is a store with a user and a patient.
func surveyed(t *testing.T, url string) (store storage.Store, user storage.User, patient guidance.Patient) {
	t.Helper()
	store = opened(t, url)
	user = aUser("g1")
	insertUser(t, store, user)
	patient = aPatient(user.ID)
	transact(t, store, func(tx storage.Tx) error { return tx.InsertPatient(t.Context(), patient) })
	return store, user, patient
}

func insertSurveys(t *testing.T, store storage.Store, surveys ...guidance.Survey) {
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

// moved is a survey after a write that changed its status.
func moved(survey guidance.Survey, status guidance.Status) guidance.Survey {
	survey.Version++
	survey.Status = status
	return survey
}

func idsOf(surveys []guidance.Survey) []string {
	ids := make([]string, len(surveys))
	for i, survey := range surveys {
		ids[i] = survey.ID
	}
	return ids
}

func testSurveys(t *testing.T, fresh Fresh) {
	url := fresh(t)
	store, ada, patient := surveyed(t, url)
	eve := aUser("g1")
	insertUser(t, store, eve)
	other := aPatient(eve.ID)
	transact(t, store, func(tx storage.Tx) error { return tx.InsertPatient(t.Context(), other) })
	first, second, third := aSurvey(patient.ID), aSurvey(other.ID), aSurvey(patient.ID)
	first.VisitReason, first.ExpirationDate = json.RawMessage(`{"why":"ä"}`), moment
	first.Evidence = []guidance.Evidence{{ID: "s_21", ChoiceID: guidance.Present, Source: guidance.Initial}}
	insertSurveys(t, store, first, second, third)
	first = moved(first, guidance.Completed)
	transact(t, store, func(tx storage.Tx) error { return tx.UpdateSurvey(t.Context(), first) })
	transact(t, opened(t, url), func(tx storage.Tx) error {
		got, err := tx.Survey(t.Context(), first.ID)
		if diff := cmp.Diff(first, got); diff != "" || err != nil {
			t.Errorf("read: %v (-want +got):\n%s", err, diff)
		}
		for name, part := range map[string]struct {
			filter          storage.SurveyFilter
			skipped, atMost int64
			want            []guidance.Survey
			total           int64
		}{
			"all":                  {storage.SurveyFilter{}, 0, 10, []guidance.Survey{first, second, third}, 3},
			"a part":               {storage.SurveyFilter{}, 1, 1, []guidance.Survey{second}, 3},
			"beyond the last":      {storage.SurveyFilter{}, 3, 10, nil, 3},
			"of a status":          {storage.SurveyFilter{Status: guidance.New}, 1, 10, []guidance.Survey{third}, 2},
			"of no status":         {storage.SurveyFilter{Status: guidance.Pending}, 0, 10, nil, 0},
			"of a patient":         {storage.SurveyFilter{PatientID: patient.ID}, 1, 10, []guidance.Survey{third}, 2},
			"of one, by status":    {storage.SurveyFilter{PatientID: patient.ID, Status: guidance.Completed}, 0, 10, []guidance.Survey{first}, 1},
			"of a user":            {storage.SurveyFilter{UserID: ada.ID}, 0, 1, []guidance.Survey{first}, 2},
			"of a user, by status": {storage.SurveyFilter{UserID: eve.ID, Status: guidance.New}, 0, 10, []guidance.Survey{second}, 1},
			"of nobody":            {storage.SurveyFilter{UserID: "x"}, 0, 10, nil, 0},
		} {
			page, total, err := tx.Surveys(t.Context(), part.filter, part.skipped, part.atMost)
			if diff := cmp.Diff(idsOf(part.want), idsOf(page)); diff != "" || total != part.total || err != nil {
				t.Errorf("%s: %d, %v, (-want +got):\n%s", name, total, err, diff)
			}
		}
		last, err := tx.LastCompletedSurvey(t.Context(), patient.ID)
		if last.ID != first.ID || err != nil {
			t.Errorf("the last completed one is %s, %v", last.ID, err)
		}
		return nil
	})
	wantNoSurvey(t, store, uuid.NewString(), other.ID)
	err := store.Transact(t.Context(), func(tx storage.Tx) error { return tx.InsertSurvey(t.Context(), aSurvey(uuid.NewString())) })
	if !errors.Is(err, storage.ErrDangling) {
		t.Errorf("a survey of nobody: got %v, want ErrDangling", err)
	}
}

// wantNoSurvey wants that there is none with an id, and that a patient completed none.
func wantNoSurvey(t *testing.T, store storage.Store, id, patientID string) {
	t.Helper()
	transact(t, store, func(tx storage.Tx) error {
		_, read := tx.Survey(t.Context(), id)
		_, last := tx.LastCompletedSurvey(t.Context(), patientID)
		_, result := tx.Result(t.Context(), id)
		for what, err := range map[string]error{"read": read, "last": last, "result": result, "deletion": tx.DeleteSurvey(t.Context(), id)} {
			if !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("%s: got %v, want ErrNotFound", what, err)
			}
		}
		steps, err := tx.Steps(t.Context(), id)
		if len(steps) != 0 {
			t.Errorf("there are steps of no survey: %v", steps)
		}
		return err
	})
}

func aStep(text string, answer guidance.Answer) guidance.Step {
	question := guidance.Question{ID: "notes", Section: "notes", Text: text, AnswerType: guidance.Text, Meta: guidance.Meta{MaxLength: 10}}
	return guidance.Step{Question: question, Answer: answer}
}

func testSteps(t *testing.T, fresh Fresh) {
	url := fresh(t)
	store, _, patient := surveyed(t, url)
	survey, other := aSurvey(patient.ID), aSurvey(patient.ID)
	insertSurveys(t, store, survey, other)
	steps := []guidance.Step{
		aStep("first", guidance.Answer{Form: guidance.SomeText, Text: "ä\x00"}), aStep("second", guidance.Answer{Form: guidance.Skipped}),
		aStep("third", guidance.Answer{Form: guidance.OneItem, Items: []guidance.Item{{ID: "s_1", Name: "a", ChoiceID: "present"}}}), aStep("fourth", guidance.Answer{}),
	}
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.PutSteps(t.Context(), survey.ID, 0, steps[:3]), tx.PutSteps(t.Context(), other.ID, 0, steps[3:]))
	})
	want := func(surveyID string, want []guidance.Step) {
		t.Helper()
		transact(t, opened(t, url), func(tx storage.Tx) error {
			got, err := tx.Steps(t.Context(), surveyID)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			return err
		})
	}
	want(survey.ID, steps[:3])
	transact(t, store, func(tx storage.Tx) error { return tx.PutSteps(t.Context(), survey.ID, 2, steps[1:4]) })
	want(survey.ID, []guidance.Step{steps[0], steps[1], steps[1], steps[2], steps[3]})
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteSteps(t.Context(), survey.ID, 1) })
	want(survey.ID, steps[:1])
	want(other.ID, steps[3:])
	result := guidance.Result{ModelID: "service-en", ModelVersion: "2", Assessment: &guidance.Assessment{Triage: guidance.TriageResult{Level: "emergency"}}}
	for range 2 { // one takes the place of the other
		transact(t, store, func(tx storage.Tx) error { return tx.PutResult(t.Context(), survey.ID, result) })
		transact(t, store, func(tx storage.Tx) error {
			got, err := tx.Result(t.Context(), survey.ID)
			if diff := cmp.Diff(result, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			return err
		})
		result.ModelVersion, result.Assessment = "3", nil
	}
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteSurvey(t.Context(), survey.ID) })
	wantNoSurvey(t, store, survey.ID, patient.ID)
	err := store.Transact(t.Context(), func(tx storage.Tx) error { return tx.PutSteps(t.Context(), survey.ID, 0, steps[:1]) })
	if !errors.Is(err, storage.ErrDangling) {
		t.Errorf("a step of a survey that was erased: got %v, want ErrDangling", err)
	}
}

// Who is erased is erased with surveys and the codes that lead to them.
func testSurveyErased(t *testing.T, fresh Fresh) {
	url := fresh(t)
	for what, erase := range map[string]func(tx storage.Tx, user, patient, survey string) error{
		"the survey":  func(tx storage.Tx, _, _, survey string) error { return tx.DeleteSurvey(t.Context(), survey) },
		"the patient": func(tx storage.Tx, _, patient, _ string) error { return tx.DeletePatient(t.Context(), patient) },
		"the user":    func(tx storage.Tx, user, _, _ string) error { return tx.DeleteUser(t.Context(), user) },
	} {
		store, user, patient := surveyed(t, url)
		survey := aSurvey(patient.ID)
		insertSurveys(t, store, survey)
		code := storage.MagicCode{Hash: []byte(survey.ID), UserID: user.ID, SurveyID: survey.ID, ExpiresAt: moment}
		transact(t, store, func(tx storage.Tx) error {
			return errors.Join(
				tx.PutSteps(t.Context(), survey.ID, 0, []guidance.Step{aStep("first", guidance.Answer{})}),
				tx.PutResult(t.Context(), survey.ID, guidance.Result{}),
				tx.InsertMagicCode(t.Context(), code, moment))
		})
		transact(t, store, func(tx storage.Tx) error { return erase(tx, user.ID, patient.ID, survey.ID) })
		wantNoSurvey(t, store, survey.ID, patient.ID)
		transact(t, store, func(tx storage.Tx) error {
			if _, err := tx.MagicCode(t.Context(), code.Hash); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("%s: the code that led to the survey: %v", what, err)
			}
			_, total, err := tx.Surveys(t.Context(), storage.SurveyFilter{}, 0, 1)
			if total != 0 {
				t.Errorf("%s: %d surveys are counted", what, total)
			}
			return err
		})
	}
}

// Of those who made something of the same version one writes it, the others are told.
func testSurveysChangedAtOnce(t *testing.T, fresh Fresh) {
	const replicas, writers, rounds = 2, 3, 4
	url := fresh(t)
	store, _, patient := surveyed(t, url)
	survey := aSurvey(patient.ID)
	insertSurveys(t, store, survey)
	stores := make([]storage.Store, replicas)
	for i := range stores {
		stores[i] = opened(t, url)
	}
	for range rounds {
		var group sync.WaitGroup
		won := make(chan guidance.Survey, replicas*writers)
		for i := range replicas * writers {
			group.Go(func() {
				next := moved(survey, guidance.Pending)
				next.Language = uuid.NewString()
				err := stores[i%replicas].Transact(t.Context(), func(tx storage.Tx) error { return tx.UpdateSurvey(t.Context(), next) })
				switch {
				case err == nil:
					won <- next
				case !errors.Is(err, storage.ErrChanged):
					t.Errorf("got %v, want ErrChanged", err)
				}
			})
		}
		group.Wait()
		if len(won) != 1 {
			t.Fatalf("%d wrote the version after %d", len(won), survey.Version)
		}
		survey = <-won
		transact(t, store, func(tx storage.Tx) error {
			kept, err := tx.Survey(t.Context(), survey.ID)
			if diff := cmp.Diff(survey, kept); diff != "" {
				t.Errorf("(-written +kept):\n%s", diff)
			}
			return err
		})
	}
}

// Pages of a list that is longer than what is counted together are those of the list,
// whatever was erased or moved on.
func testSurveyPages(t *testing.T, fresh Fresh) {
	store, _, patient := surveyed(t, fresh(t))
	surveys := make([]guidance.Survey, 2500)
	for i := range surveys {
		surveys[i] = aSurvey(patient.ID)
	}
	insertSurveys(t, store, surveys...)
	transact(t, store, func(tx storage.Tx) error {
		for i := range surveys {
			if i%3 == 0 {
				surveys[i] = moved(surveys[i], guidance.Pending)
				if err := tx.UpdateSurvey(t.Context(), surveys[i]); err != nil {
					return err
				}
			}
			if i%7 == 0 || i > 900 && i < 1200 {
				if err := tx.DeleteSurvey(t.Context(), surveys[i].ID); err != nil {
					return err
				}
				surveys[i].Status = "" // erased
			}
		}
		return nil
	})
	for _, status := range []guidance.Status{"", guidance.New, guidance.Pending, guidance.Completed} {
		left := slices.DeleteFunc(slices.Clone(surveys), func(s guidance.Survey) bool {
			return s.Status == "" || status != "" && s.Status != status
		})
		transact(t, store, func(tx storage.Tx) error {
			for skipped := 0; skipped < len(left)+100; skipped += 97 {
				page, total, err := tx.Surveys(t.Context(), storage.SurveyFilter{Status: status}, int64(skipped), 50)
				if err != nil {
					return err
				}
				from := min(skipped, len(left))
				want := left[from:min(from+50, len(left))]
				if diff := cmp.Diff(idsOf(want), idsOf(page)); diff != "" || total != int64(len(left)) {
					t.Fatalf("%q from %d of %d, counted %d (-want +got):\n%s", status, skipped, len(left), total, diff)
				}
			}
			return nil
		})
	}
}

// A survey and its steps are read as they are at one moment, whoever writes meanwhile.
func testSurveyWithSteps(t *testing.T, fresh Fresh) {
	store, _, patient := surveyed(t, fresh(t))
	survey := aSurvey(patient.ID)
	insertSurveys(t, store, survey)
	const writes = 200
	done := make(chan error, 1)
	go func() {
		written := survey
		var err error
		for n := 0; n < writes && err == nil; n++ {
			written = moved(written, guidance.Pending)
			err = store.Transact(t.Context(), func(tx storage.Tx) error {
				if err := tx.UpdateSurvey(t.Context(), written); err != nil {
					return err
				}
				return tx.PutSteps(t.Context(), written.ID, n, []guidance.Step{{Question: guidance.Question{ID: "q", Index: n}}})
			})
		}
		done <- err
	}()
	for version := int64(1); version <= writes; {
		transact(t, store, func(tx storage.Tx) error {
			read, steps, err := tx.SurveyWithSteps(t.Context(), survey.ID)
			if int64(len(steps)) != read.Version-1 {
				t.Errorf("at version %d it has %d steps", read.Version, len(steps))
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
		_, _, err := tx.SurveyWithSteps(t.Context(), uuid.NewString())
		return err
	})
	if !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("of none: got %v, want storage.ErrNotFound", err)
	}
}
