// SPDX-License-Identifier: Apache-2.0

// Package service is the survey service. It loads a survey with its steps, has package
// flow compute the next step outside any transaction, and writes the result in a
// transaction that succeeds only if the survey is unchanged since it was read. It
// enforces the rules of package access on each survey and writes the audit record in the same
// transaction as the action. Package section decides what a survey asks. SQL and HTTP
// do not belong here.
package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// Service manages the surveys of an instance. All fields but the last two are
// required. For an unknown ID, or one that the end user may not see, its methods
// return record.ErrNotFound. Errors of package flow are returned unchanged.
type Service struct {
	Storage  Storage
	Models   Models
	Engine   *inference.Engine
	Texts    *i18n.Catalog
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

// Get returns the survey with an ID.
func (r *Service) Get(ctx context.Context, by identity.Principal, id string) (record.Survey, error) {
	var found record.Survey
	err := r.Storage.Transact(ctx, func(tx Tx) (err error) {
		if found, err = getVisible(ctx, tx, by, id); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(r.Now(), by.Actor, audit.Read, audit.Survey, id))
	})
	return found, err
}

// getVisible returns a survey that the principal may see.
func getVisible(ctx context.Context, tx Tx, by identity.Principal, id string) (record.Survey, error) {
	if !identifier.IsUUID(id) {
		return record.Survey{}, record.ErrNotFound
	}
	found, err := tx.GetSurvey(ctx, id)
	if err != nil {
		return record.Survey{}, err
	}
	return found, checkAccess(ctx, tx, by, found)
}

// checkAccess returns record.ErrNotFound if the principal may not see a survey.
func checkAccess(ctx context.Context, tx Reader, by identity.Principal, found record.Survey) error {
	if access.SeesAllUsers(by) {
		return nil
	}
	patient, err := tx.GetPatient(ctx, found.PatientID)
	if err != nil {
		return err
	}
	if !access.CanSeeSurvey(by, found.ID, patient.UserID) {
		return record.ErrNotFound
	}
	return nil
}

// List returns a page of the surveys and their total number, optionally restricted to
// a patient and a status. End users see only their own.
func (r *Service) List(ctx context.Context, by identity.Principal, patientID string, status record.Status, page record.Page) (surveys []record.Survey, total int64, err error) {
	filter := record.SurveyFilter{PatientID: patientID, Status: status}
	err = r.Storage.Transact(ctx, func(tx Tx) (err error) {
		var empty bool
		if filter, empty, err = restrictFilter(ctx, tx, by, filter); err != nil {
			return err
		}
		if !empty {
			if surveys, total, err = tx.ListSurveys(ctx, filter, page.Offset, page.Limit); err != nil {
				return err
			}
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(r.Now(), by.Actor, audit.List, audit.Survey, ""))
	})
	return surveys, total, err
}

// restrictFilter narrows a filter to what the principal may see, and reports whether
// nothing is left to select.
func restrictFilter(ctx context.Context, tx Tx, by identity.Principal, filter record.SurveyFilter) (narrowed record.SurveyFilter, empty bool, err error) {
	switch {
	case filter.PatientID == "":
		owner, ok := access.ListOwner(by, "")
		filter.UserID = owner
		return filter, !ok, nil
	case !identifier.IsUUID(filter.PatientID):
		return filter, true, nil
	case access.SeesAllUsers(by):
		return filter, false, nil
	}
	patient, err := tx.GetPatient(ctx, filter.PatientID)
	if errors.Is(err, record.ErrNotFound) {
		return filter, true, nil
	}
	return filter, !access.CanSeePatient(by, patient.UserID), err
}

// Delete deletes a survey with all its data.
func (r *Service) Delete(ctx context.Context, by identity.Principal, id string) error {
	return r.Storage.Transact(ctx, func(tx Tx) error {
		if _, err := getVisible(ctx, tx, by, id); err != nil {
			return err
		}
		if err := tx.DeleteSurvey(ctx, id); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(r.Now(), by.Actor, audit.Delete, audit.Survey, id))
	})
}

// load reads a survey with its steps and writes the audit records of read-only
// actions.
func (r *Service) load(ctx context.Context, by identity.Principal, id string, acts ...audit.Record) (p flow.Progress, err error) {
	if !identifier.IsUUID(id) {
		return p, record.ErrNotFound
	}
	read := func(tx Reader) (err error) {
		if p.Survey, p.Steps, err = tx.GetSurveyWithSteps(ctx, id); err != nil {
			return err
		}
		return checkAccess(ctx, tx, by, p.Survey)
	}
	if len(acts) == 0 {
		err = r.Storage.View(ctx, read)
		return p, err
	}
	err = r.Storage.Transact(ctx, func(tx Tx) error {
		if err := read(tx); err != nil {
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
// times. Then it returns record.ErrConflict.
func retryOnConflict[T any](do func() (T, error)) (done T, err error) {
	for range maxAttempts {
		if done, err = do(); !errors.Is(err, record.ErrVersionMismatch) {
			return done, err
		}
	}
	return done, record.ErrConflict
}
