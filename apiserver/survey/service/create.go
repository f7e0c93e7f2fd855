// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
)

// A CreateRequest is a client's request to create a survey. The server sets the ID and
// the patient in the options; the client names the patient by PatientID.
type CreateRequest struct {
	flow.CreateOptions
	PatientID      string
	Language       string // if empty, chosen by AcceptLanguage
	AcceptLanguage string // the Accept-Language header
}

// patientNotFoundError returns the error for a survey of an unknown patient.
func patientNotFoundError(id string) error {
	if id == "" {
		return &assessment.FieldError{Field: "patient_id", Problem: "missing, expected the id of a patient"}
	}
	return &assessment.FieldError{Field: "patient_id", Problem: "patient not found; use the id of an existing patient"}
}

// Create creates a survey and asks its first question.
func (r *Service) Create(ctx context.Context, by identity.Principal, wanted CreateRequest) (record.Survey, error) {
	patient, earlier, err := r.loadPatient(ctx, wanted.PatientID, wanted.NeedsPriorEvidence())
	if err != nil {
		return record.Survey{}, err
	}
	modelID, err := r.selectModel(wanted.Language, wanted.AcceptLanguage)
	if err != nil {
		return record.Survey{}, err
	}
	w, err := r.envForModel(modelID)
	if err != nil {
		return record.Survey{}, err
	}
	defer w.release()
	creation := wanted.CreateOptions
	creation.ID, creation.Patient, creation.PriorEvidence = uuid.NewString(), patient, flow.FollowUpEvidence(earlier, w.Env)
	findings := max(len(creation.Evidence), len(creation.PriorEvidence)) // an upper bound
	made, err := withLimiter(ctx, r, findings, func() (flow.Progress, error) { return flow.Create(creation, r.Now(), w.Env) })
	if err != nil {
		return record.Survey{}, err
	}
	err = r.Storage.Transact(ctx, func(tx Tx) error {
		if err := tx.InsertSurvey(ctx, made.Survey); err != nil {
			return err
		}
		if err := tx.PutSteps(ctx, made.Survey.ID, 0, made.Steps); err != nil {
			return err
		}
		if !made.Survey.NotificationDate.IsZero() {
			if err := webhook.ScheduleNotification(ctx, tx, made.Survey); err != nil {
				return err
			}
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(r.Now(), by.Actor, audit.Create, audit.Survey, made.Survey.ID))
	})
	if errors.Is(err, record.ErrReferenceNotFound) { // the patient was deleted concurrently
		err = patientNotFoundError(wanted.PatientID)
	}
	if err == nil && r.Observer != nil {
		r.Observer.SurveyStarted(made.Survey.Type)
		r.Observer.QuestionAsked(made.Steps[0].Question.Section)
	}
	return made.Survey, err
}

// loadPatient returns a patient and, if needed, the latest survey that the patient
// completed.
func (r *Service) loadPatient(ctx context.Context, patientID string, needsEarlier bool) (patient record.Patient, earlier flow.Progress, err error) {
	if !identifier.IsUUID(patientID) {
		return patient, earlier, patientNotFoundError(patientID)
	}
	err = r.Storage.View(ctx, func(tx Reader) (err error) {
		if patient, err = tx.GetPatient(ctx, patientID); errors.Is(err, record.ErrNotFound) {
			return patientNotFoundError(patientID)
		} else if err != nil {
			return err
		}
		if !needsEarlier {
			return nil
		}
		earlier, err = loadLastCompleted(ctx, tx, patientID)
		return err
	})
	return patient, earlier, err
}

func loadLastCompleted(ctx context.Context, tx Reader, patientID string) (flow.Progress, error) {
	last, err := tx.GetLastCompletedSurvey(ctx, patientID)
	if errors.Is(err, record.ErrNotFound) {
		return flow.Progress{}, nil
	} else if err != nil {
		return flow.Progress{}, err
	}
	steps, err := tx.ListSteps(ctx, last.ID)
	return flow.Progress{Survey: last, Steps: steps}, err
}
