// SPDX-License-Identifier: Apache-2.0

package surveys

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

// A NewSurvey is what a client says of one. The id and the patient of the creation are
// not the client's: the patient is the one with PatientID.
type NewSurvey struct {
	survey.Creation
	PatientID string
	Language  string // empty: one that the client accepts
	Accepts   string // as in the header Accept-Language
}

// nobody says that there is no patient to make a survey of.
func nobody(id string) error {
	if id == "" {
		return &assessment.FieldError{Field: "patient_id", Problem: "missing, expected the id of a patient"}
	}
	return &assessment.FieldError{Field: "patient_id", Problem: "there is no patient with this id"}
}

// Create makes a survey and asks its first question.
func (r *Register) Create(ctx context.Context, by audit.Actor, wanted NewSurvey) (guidance.Survey, error) {
	patient, earlier, err := r.before(ctx, wanted.PatientID, wanted.NeedsEarlier())
	if err != nil {
		return guidance.Survey{}, err
	}
	modelID, err := r.chosenModel(wanted.Language, wanted.Accepts)
	if err != nil {
		return guidance.Survey{}, err
	}
	w, err := r.worldIn(modelID)
	if err != nil {
		return guidance.Survey{}, err
	}
	defer w.done()
	creation := wanted.Creation
	creation.ID, creation.Patient, creation.Earlier = uuid.NewString(), patient, survey.Reported(earlier, w.World)
	findings := max(len(creation.Evidence), len(creation.Earlier)) // at most
	made, err := inTurn(ctx, r, findings, func() (survey.Progress, error) { return survey.Create(creation, r.Now(), w.World) })
	if err != nil {
		return guidance.Survey{}, err
	}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) error {
		if err := tx.InsertSurvey(ctx, made.Survey); err != nil {
			return err
		}
		if err := tx.PutSteps(ctx, made.Survey.ID, 0, made.Steps); err != nil {
			return err
		}
		if !made.Survey.NotificationDate.IsZero() {
			if err := webhooks.Schedule(ctx, tx, made.Survey); err != nil {
				return err
			}
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Create, audit.Survey, made.Survey.ID))
	})
	if errors.Is(err, storage.ErrDangling) { // erased meanwhile
		err = nobody(wanted.PatientID)
	}
	if err == nil && r.Observer != nil {
		r.Observer.SurveyBegun(made.Survey.Type)
		r.Observer.QuestionAsked(made.Steps[0].Question.Section)
	}
	return made.Survey, err
}

// before is a patient, and the latest survey that the patient completed, if there is
// one and it is needed.
func (r *Register) before(ctx context.Context, patientID string, needsEarlier bool) (patient guidance.Patient, earlier survey.Progress, err error) {
	if !isID(patientID) {
		return patient, earlier, nobody(patientID)
	}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if patient, err = tx.Patient(ctx, patientID); errors.Is(err, storage.ErrNotFound) {
			return nobody(patientID)
		} else if err != nil {
			return err
		}
		if !needsEarlier {
			return nil
		}
		earlier, err = lastCompleted(ctx, tx, patientID)
		return err
	})
	return patient, earlier, err
}

func lastCompleted(ctx context.Context, tx storage.Tx, patientID string) (survey.Progress, error) {
	last, err := tx.LastCompletedSurvey(ctx, patientID)
	if errors.Is(err, storage.ErrNotFound) {
		return survey.Progress{}, nil
	} else if err != nil {
		return survey.Progress{}, err
	}
	steps, err := tx.Steps(ctx, last.ID)
	return survey.Progress{Survey: last, Steps: steps}, err
}
