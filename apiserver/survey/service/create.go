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

// A CreateRequest is a client's request to create a survey. The client identifies the patient
// by PatientID; the server sets the ID and the patient in the options.
type CreateRequest struct {
	flow.CreateOptions
	PatientID      string
	Language       string // if empty, chosen by AcceptLanguage
	AcceptLanguage string // the Accept-Language header
}

// patientNotFoundError returns the error for a missing or unknown patient ID.
func patientNotFoundError(id string) error {
	if id == "" {
		return &assessment.FieldError{Field: "patient_id", Problem: "missing, expected the id of a patient"}
	}
	return &assessment.FieldError{Field: "patient_id", Problem: "patient not found; use the id of an existing patient"}
}

// Create creates a survey and asks its first question.
func (s *Service) Create(ctx context.Context, principal identity.Principal, request CreateRequest) (record.Survey, error) {
	patient, prior, err := s.loadPatient(ctx, request.PatientID, request.NeedsPriorEvidence())
	if err != nil {
		return record.Survey{}, err
	}
	modelID, err := s.selectModel(request.Language, request.AcceptLanguage)
	if err != nil {
		return record.Survey{}, err
	}
	env, err := s.envForModel(modelID)
	if err != nil {
		return record.Survey{}, err
	}
	defer env.release()
	options := request.CreateOptions
	options.ID, options.Patient, options.PriorEvidence = uuid.NewString(), patient, flow.FollowUpEvidence(prior, env.Env)
	findings := max(len(options.Evidence), len(options.PriorEvidence)) // an upper bound
	created, err := withLimiter(ctx, s, findings, func() (flow.Progress, error) { return flow.Create(options, s.Now(), env.Env) })
	if err != nil {
		return record.Survey{}, err
	}
	err = s.Storage.Transact(ctx, func(tx Tx) error {
		if err := tx.InsertSurvey(ctx, created.Survey); err != nil {
			return err
		}
		if err := tx.PutSteps(ctx, created.Survey.ID, 0, created.Steps); err != nil {
			return err
		}
		if !created.Survey.NotificationDate.IsZero() {
			if err := webhook.ScheduleNotification(ctx, tx, created.Survey); err != nil {
				return err
			}
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Create, audit.Survey, created.Survey.ID))
	})
	if errors.Is(err, record.ErrReferenceNotFound) { // the patient was deleted concurrently
		err = patientNotFoundError(request.PatientID)
	}
	if err == nil && s.Observer != nil {
		s.Observer.SurveyStarted(created.Survey.Type)
		s.Observer.QuestionAsked(created.Steps[0].Question.Section)
	}
	return created.Survey, err
}

// loadPatient returns a patient and, if needed, the latest survey that the patient
// completed.
func (s *Service) loadPatient(ctx context.Context, patientID string, needsPrior bool) (patient record.Patient, prior flow.Progress, err error) {
	if !identifier.IsUUID(patientID) {
		return patient, prior, patientNotFoundError(patientID)
	}
	err = s.Storage.View(ctx, func(tx Reader) (err error) {
		if patient, err = tx.GetPatient(ctx, patientID); errors.Is(err, record.ErrNotFound) {
			return patientNotFoundError(patientID)
		} else if err != nil {
			return err
		}
		if !needsPrior {
			return nil
		}
		prior, err = loadLastCompleted(ctx, tx, patientID)
		return err
	})
	return patient, prior, err
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
