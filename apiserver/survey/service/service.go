// SPDX-License-Identifier: Apache-2.0

// Package service is the survey service. It loads a survey with its steps, has package
// flow compute the next step outside any transaction, and writes the result in a
// transaction that succeeds only if the survey is unchanged since it was read. It
// restricts end users to their own data and writes the audit record in the same
// transaction as the action. Package section decides what a survey asks. SQL and HTTP
// do not belong here.
package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// Service manages the surveys of an instance. All fields but the last two are
// required. For an unknown ID, or one that the end user may not see, its methods
// return storage.ErrNotFound. Errors of package flow are returned unchanged.
type Service struct {
	Storage  storage.Transactor
	Models   Models
	Engine   *inference.Engine
	Texts    section.Catalog
	Features func() section.Features
	Now      func() time.Time
	// LimiterFor returns the limiter for computations about patients with the given number
	// of findings. If nil, computations are not limited.
	LimiterFor func(findings int) Limiter
	// Observer is notified of the progress of surveys. Optional.
	Observer Observer
}

// A Limiter limits concurrent computations. *limiter.Limiter implements it.
type Limiter interface {
	// Acquire waits for a slot, which the caller must Release. It returns an error if the
	// caller has to retry later.
	Acquire(ctx context.Context) error
	Release()
}

// An Observer is notified of the progress of surveys, without identifying patients.
type Observer interface {
	// SurveyStarted is called for each new survey.
	SurveyStarted(kind record.Type)
	// QuestionAsked is called for each question put to a patient, with its section.
	QuestionAsked(section string)
	// QuestionAnswered is called for each stored answer, with its section and the time
	// since the question was asked. The time is zero for a changed answer or if it is
	// unknown.
	QuestionAnswered(section string, after time.Duration)
	// SurveyCompleted is called for each completed survey.
	SurveyCompleted(kind record.Type)
}

// Page selects part of a list.
type Page struct{ Offset, Limit int64 }

// newAuditRecord returns the audit record of an action.
func (r *Service) newAuditRecord(by audit.Actor, action audit.Action, resource audit.Resource, id string) audit.Record {
	return audit.Record{At: r.Now(), Actor: by, Action: action, Resource: resource, ResourceID: id}
}

// isUUID reports whether an ID is well-formed for a survey or a patient.
func isUUID(id string) bool { return uuid.Validate(id) == nil }

// Get returns the survey with an ID.
func (r *Service) Get(ctx context.Context, by audit.Actor, id string) (record.Survey, error) {
	var found record.Survey
	err := r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if found, err = getVisible(ctx, tx, by, id); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, r.newAuditRecord(by, audit.Read, audit.Survey, id))
	})
	return found, err
}

// getVisible returns a survey that the actor may see. Applications may see all
// surveys, end users only those of their own patients.
func getVisible(ctx context.Context, tx storage.Tx, by audit.Actor, id string) (record.Survey, error) {
	if !isUUID(id) {
		return record.Survey{}, storage.ErrNotFound
	}
	found, err := tx.GetSurvey(ctx, id)
	if err != nil {
		return record.Survey{}, err
	}
	return found, checkAccess(ctx, tx, by, found)
}

// checkAccess returns storage.ErrNotFound if the actor may not see a survey.
func checkAccess(ctx context.Context, tx storage.Tx, by audit.Actor, found record.Survey) error {
	if by.UserID == "" {
		return nil
	}
	patient, err := tx.GetPatient(ctx, found.PatientID)
	if err != nil {
		return err
	}
	if patient.UserID != by.UserID {
		return storage.ErrNotFound
	}
	return nil
}

// List returns a page of the surveys and their total number, optionally restricted to
// a patient and a status. End users see only their own.
func (r *Service) List(ctx context.Context, by audit.Actor, patientID string, status record.Status, page Page) (surveys []record.Survey, total int64, err error) {
	filter := storage.SurveyFilter{PatientID: patientID, Status: status}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		var empty bool
		if filter, empty, err = restrictFilter(ctx, tx, by, filter); err != nil {
			return err
		}
		if !empty {
			if surveys, total, err = tx.ListSurveys(ctx, filter, page.Offset, page.Limit); err != nil {
				return err
			}
		}
		return tx.InsertAuditRecord(ctx, r.newAuditRecord(by, audit.List, audit.Survey, ""))
	})
	return surveys, total, err
}

// restrictFilter narrows a filter to what the actor may see, and reports whether
// nothing is left to select.
func restrictFilter(ctx context.Context, tx storage.Tx, by audit.Actor, filter storage.SurveyFilter) (narrowed storage.SurveyFilter, empty bool, err error) {
	switch {
	case filter.PatientID == "":
		filter.UserID = by.UserID
		return filter, false, nil
	case !isUUID(filter.PatientID):
		return filter, true, nil
	case by.UserID == "":
		return filter, false, nil
	}
	patient, err := tx.GetPatient(ctx, filter.PatientID)
	if errors.Is(err, storage.ErrNotFound) {
		return filter, true, nil
	}
	return filter, patient.UserID != by.UserID, err
}

// Delete deletes a survey with all its data.
func (r *Service) Delete(ctx context.Context, by audit.Actor, id string) error {
	return r.Storage.Transact(ctx, func(tx storage.Tx) error {
		if _, err := getVisible(ctx, tx, by, id); err != nil {
			return err
		}
		if err := tx.DeleteSurvey(ctx, id); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, r.newAuditRecord(by, audit.Delete, audit.Survey, id))
	})
}

// load reads a survey with its steps and writes the audit records of read-only
// actions.
func (r *Service) load(ctx context.Context, by audit.Actor, id string, acts ...audit.Record) (p flow.Progress, err error) {
	if !isUUID(id) {
		return p, storage.ErrNotFound
	}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if p.Survey, p.Steps, err = tx.GetSurveyWithSteps(ctx, id); err != nil {
			return err
		}
		if err := checkAccess(ctx, tx, by, p.Survey); err != nil {
			return err
		}
		for _, act := range acts {
			if err := tx.InsertAuditRecord(ctx, act); err != nil {
				return err
			}
		}
		return nil
	})
	return p, err
}

// ErrFlow is wrapped by errors from the survey flow: client errors, as defined by
// package flow, or errors in the content or the code.
var ErrFlow = errors.New("running survey flow")

func wrapFlowError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrFlow, err)
}

// maxAttempts is how often a write is attempted when concurrent writes conflict.
const maxAttempts = 4

// retryOnConflict retries do while a concurrent write came first, up to maxAttempts
// times. Then it returns storage.ErrConflict.
func retryOnConflict[T any](do func() (T, error)) (done T, err error) {
	for range maxAttempts {
		if done, err = do(); !errors.Is(err, storage.ErrVersionMismatch) {
			return done, err
		}
	}
	return done, storage.ErrConflict
}
