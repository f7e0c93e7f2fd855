// SPDX-License-Identifier: Apache-2.0

package surveys_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

func TestMain(m *testing.M) {
	child()
	os.Exit(postgrestest.Run(m))
}

var (
	now    = time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC)
	portal = audit.Actor{Application: "portal"}
)

// eachStorage runs a test on an empty database of each kind.
func eachStorage(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for name, fresh := range map[string]func(testing.TB) string{
		"embedded":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db") },
		"PostgreSQL": func(t testing.TB) string { return postgrestest.Database(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh(t))
		})
	}
}

// shelve writes the small release to a directory of its own.
func shelve(t *testing.T) (dir string) {
	t.Helper()
	draft, dir := guidancetest.Draft(), t.TempDir()
	meta := draft.Draft().Meta
	if err := model.WriteFile(filepath.Join(dir, model.FileName(meta.ModelID, meta.Version)), draft.Bytes(t)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// newRegister is a register over a database and the releases of a directory.
func newRegister(url, dir string) (r *surveys.Register, closeAll func(), err error) {
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
	library, err := model.OpenLibrary(dir, []model.Wanted{{ID: guidancetest.Draft().Draft().Meta.ModelID}})
	if err != nil {
		return nil, nil, err
	}
	words, err := section.ReadVocabulary()
	r = &surveys.Register{
		Storage: store, Models: library, Engine: engine.New(), Words: words, Now: func() time.Time { return now },
		Features: func() section.Features { return section.Features{Prefill: true, PatientResults: true} },
	}
	return r, func() { _ = store.Close(); library.Close() }, err
}

// opened is a register that is closed after the test.
func opened(t *testing.T, url, dir string) *surveys.Register {
	t.Helper()
	r, closeAll, err := newRegister(url, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeAll)
	return r
}

// aPatient is a patient of a user of its own.
func aPatient(t *testing.T, r *surveys.Register) guidance.Patient {
	t.Helper()
	user := storage.User{ID: uuid.NewString(), Contact: []byte{1}, Generation: "g", CreatedAt: now}
	patient := guidance.Patient{ID: uuid.NewString(), UserID: user.ID, CreatedAt: now}
	err := r.Storage.Transact(t.Context(), func(tx storage.Tx) error {
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

// begin makes a survey of a patient.
func begin(t *testing.T, r *surveys.Register, patient guidance.Patient, kind guidance.Type) guidance.Survey {
	t.Helper()
	made, err := r.Create(t.Context(), portal, surveys.NewSurvey{PatientID: patient.ID, Creation: survey.Creation{Type: string(kind)}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// anAnswer is a good one to a question.
func anAnswer(q *guidance.Question) json.RawMessage {
	switch {
	case q.AnswerType == guidance.Choice:
		return json.RawMessage(`{"id": "` + q.Meta.Options[0].ID + `"}`)
	case q.AnswerType == guidance.Number:
		return json.RawMessage("34")
	case q.AnswerType == guidance.Text:
		return json.RawMessage(`"in my own words"`)
	case q.AnswerType == guidance.Symptoms && q.Meta.Component == guidance.Single:
		return json.RawMessage(`[{"id": "` + q.Meta.Options[0].ID + `", "choice_id": "present"}]`)
	case q.AnswerType == guidance.List && q.Meta.SourceList.Name == guidance.SymptomList:
		return json.RawMessage(`[{"id": "s_1"}]`)
	}
	return json.RawMessage("[]")
}
