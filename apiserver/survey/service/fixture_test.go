// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

func TestMain(m *testing.M) {
	runChildProcess()
	os.Exit(postgrestest.Run(m))
}

var (
	now    = time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC)
	portal = identity.Principal{Actor: audit.Actor{Application: "portal"}}
)

// forEachStorage runs a test on an empty database of each kind.
func forEachStorage(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for name, newURL := range map[string]func(testing.TB) string{
		"embedded":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db") },
		"PostgreSQL": func(t testing.TB) string { return postgrestest.NewDatabase(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newURL(t))
		})
	}
}

// writeRelease writes the small release to a new directory.
func writeRelease(t *testing.T) (dir string) {
	t.Helper()
	draft, dir := surveytest.NewReleaseBuilder(), t.TempDir()
	meta := draft.Draft().Meta
	if err := model.WriteFile(filepath.Join(dir, model.FileName(meta.ModelID, meta.Version)), draft.Bytes(t)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// newService returns a service over a database and the releases in a directory.
func newService(url, dir string) (r *service.Service, closeAll func(), err error) {
	store, err := open.New(url)
	if err != nil {
		return nil, nil, err
	}
	if err := store.Open(context.Background(), storage.Owner{}); err != nil {
		return nil, nil, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) == 0 {
		return nil, nil, fmt.Errorf("no release in %s: %w", dir, err)
	}
	library, err := model.OpenStore(dir, []model.ReleaseRef{{ID: surveytest.NewReleaseBuilder().Draft().Meta.ModelID}})
	if err != nil {
		return nil, nil, err
	}
	words, err := section.LoadTexts()
	r = &service.Service{
		Storage: storage.Scope[service.Reader, service.Tx]{Store: store}, Models: library, Engine: inference.New(), Texts: words, Now: func() time.Time { return now },
		Features: func() section.Features { return section.Features{Prefill: true, PatientResults: true} },
	}
	return r, func() { _ = store.Close(); library.Close() }, err
}

// openService returns a service that is closed after the test.
func openService(t *testing.T, url, dir string) *service.Service {
	t.Helper()
	r, closeAll, err := newService(url, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeAll)
	return r
}

// storeOf returns the store of a service.
func serviceStore(r *service.Service) storage.Store {
	return r.Storage.(storage.Scope[service.Reader, service.Tx]).Store.(storage.Store) //nolint:forcetypeassert // set by newService
}

// createPatient creates a patient with a new user.
func createPatient(t *testing.T, r *service.Service) record.Patient {
	t.Helper()
	user := record.EncryptedUser{ID: uuid.NewString(), EncryptedContact: []byte{1}, KeyVersion: "g", CreatedAt: now}
	patient := record.Patient{ID: uuid.NewString(), UserID: user.ID, CreatedAt: now}
	err := serviceStore(r).Transact(t.Context(), func(tx storage.Tx) error {
		if err := tx.InsertUser(t.Context(), user, nil); err != nil {
			return err
		}
		return tx.InsertPatient(t.Context(), patient)
	})
	if err != nil {
		t.Fatal(err)
	}
	return patient
}

// createSurvey creates a survey for a patient.
func createSurvey(t *testing.T, r *service.Service, patient record.Patient, kind record.Type) record.Survey {
	t.Helper()
	created, err := r.Create(t.Context(), portal, service.CreateRequest{PatientID: patient.ID, CreateOptions: flow.CreateOptions{Type: string(kind)}})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// validAnswer returns a valid answer to a question.
func validAnswer(q *record.Question) json.RawMessage {
	switch {
	case q.AnswerType == record.AnswerChoice:
		return json.RawMessage(`{"id": "` + q.Meta.Options[0].ID + `"}`)
	case q.AnswerType == record.AnswerNumber:
		return json.RawMessage("34")
	case q.AnswerType == record.AnswerText:
		return json.RawMessage(`"in my own words"`)
	case q.AnswerType == record.AnswerSymptoms && q.Meta.Component == record.ComponentSingle:
		return json.RawMessage(`[{"id": "` + q.Meta.Options[0].ID + `", "choice_id": "present"}]`)
	case q.AnswerType == record.AnswerList && q.Meta.SourceList.Name == record.SymptomList:
		return json.RawMessage(`[{"id": "s_1"}]`)
	}
	return json.RawMessage("[]")
}
