// SPDX-License-Identifier: Apache-2.0

// Package service is the survey service. It loads a survey with its steps, calls package flow
// to compute the next step outside any transaction, and writes the result in a transaction
// that succeeds only if the survey has not changed in the meantime. It enforces the rules of
// package access and writes each audit record in the transaction of the audited action.
// Package section decides what a survey asks. SQL and HTTP do not belong here.
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

// Service manages the surveys of an instance. All fields except LimiterFor and Observer are
// required. Methods return record.ErrNotFound for surveys that do not exist or that the end
// user may not see. Errors of package flow are returned unchanged.
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
	// Acquire waits for a slot, which the caller must Release. An error means that the caller
	// has to retry later.
	Acquire(ctx context.Context) error
	Release()
}

// An Observer is notified of the progress of surveys, without identifying patients.
type Observer interface {
	// SurveyStarted is called for each new survey.
	SurveyStarted(kind record.Type)
	// QuestionAsked is called for each question that a patient is asked, with its section.
	QuestionAsked(section string)
	// QuestionAnswered is called for each stored answer, with its section and the time
	// since the question was asked. The time is zero for a changed answer or if it is
	// unknown.
	QuestionAnswered(section string, after time.Duration)
	// SurveyCompleted is called for each completed survey.
	SurveyCompleted(kind record.Type)
}

// Get returns the survey with an ID.
func (s *Service) Get(ctx context.Context, principal identity.Principal, id string) (record.Survey, error) {
	var survey record.Survey
	err := s.Storage.Transact(ctx, func(tx Tx) (err error) {
		if survey, err = getVisible(ctx, tx, principal, id); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Read, audit.Survey, id))
	})
	return survey, err
}

// getVisible returns a survey that the principal may see.
func getVisible(ctx context.Context, tx Tx, principal identity.Principal, id string) (record.Survey, error) {
	if !identifier.IsUUID(id) {
		return record.Survey{}, record.ErrNotFound
	}
	survey, err := tx.GetSurvey(ctx, id)
	if err != nil {
		return record.Survey{}, err
	}
	return survey, checkAccess(ctx, tx, principal, survey)
}

// checkAccess returns record.ErrNotFound if the principal may not see a survey.
func checkAccess(ctx context.Context, tx Reader, principal identity.Principal, survey record.Survey) error {
	if access.SeesAllUsers(principal) {
		return nil
	}
	patient, err := tx.GetPatient(ctx, survey.PatientID)
	if err != nil {
		return err
	}
	if !access.CanSeeSurvey(principal, survey.ID, patient.UserID) {
		return record.ErrNotFound
	}
	return nil
}

// List returns a page of the surveys and their total number, optionally restricted to
// a patient and a status. End users see only their own.
func (s *Service) List(ctx context.Context, principal identity.Principal, patientID string, status record.Status, page record.Page) (surveys []record.Survey, total int64, err error) {
	filter := record.SurveyFilter{PatientID: patientID, Status: status}
	err = s.Storage.Transact(ctx, func(tx Tx) (err error) {
		var empty bool
		if filter, empty, err = restrictFilter(ctx, tx, principal, filter); err != nil {
			return err
		}
		if !empty {
			if surveys, total, err = tx.ListSurveys(ctx, filter, page.Offset, page.Limit); err != nil {
				return err
			}
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.List, audit.Survey, ""))
	})
	return surveys, total, err
}

// restrictFilter restricts a filter to the surveys that the principal may see, and reports
// whether it cannot match any.
func restrictFilter(ctx context.Context, tx Tx, principal identity.Principal, filter record.SurveyFilter) (narrowed record.SurveyFilter, empty bool, err error) {
	switch {
	case filter.PatientID == "":
		owner, ok := access.ListOwner(principal, "")
		filter.UserID = owner
		return filter, !ok, nil
	case !identifier.IsUUID(filter.PatientID):
		return filter, true, nil
	case access.SeesAllUsers(principal):
		return filter, false, nil
	}
	patient, err := tx.GetPatient(ctx, filter.PatientID)
	if errors.Is(err, record.ErrNotFound) {
		return filter, true, nil
	}
	return filter, !access.CanSeePatient(principal, patient.UserID), err
}

// Delete deletes a survey with all its data.
func (s *Service) Delete(ctx context.Context, principal identity.Principal, id string) error {
	return s.Storage.Transact(ctx, func(tx Tx) error {
		if _, err := getVisible(ctx, tx, principal, id); err != nil {
			return err
		}
		if err := tx.DeleteSurvey(ctx, id); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Delete, audit.Survey, id))
	})
}

// load reads a survey with its steps and, for read-only actions, writes the given audit
// records.
func (s *Service) load(ctx context.Context, principal identity.Principal, id string, auditRecords ...audit.Record) (p flow.Progress, err error) {
	if !identifier.IsUUID(id) {
		return p, record.ErrNotFound
	}
	read := func(tx Reader) (err error) {
		if p.Survey, p.Steps, err = tx.GetSurveyWithSteps(ctx, id); err != nil {
			return err
		}
		return checkAccess(ctx, tx, principal, p.Survey)
	}
	if len(auditRecords) == 0 {
		err = s.Storage.View(ctx, read)
		return p, err
	}
	err = s.Storage.Transact(ctx, func(tx Tx) error {
		if err := read(tx); err != nil {
			return err
		}
		for _, auditRecord := range auditRecords {
			if err := tx.InsertAuditRecord(ctx, auditRecord); err != nil {
				return err
			}
		}
		return nil
	})
	return p, err
}

// ErrFlow wraps errors from the survey flow: client errors, as defined by package flow, or
// errors in the content or the code.
var ErrFlow = errors.New("running survey flow")

func wrapFlowError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrFlow, err)
}

// maxAttempts is the maximum number of attempts for a write that conflicts with concurrent
// writes.
const maxAttempts = 4

// retryOnConflict calls attempt again if a concurrent write came first, up to maxAttempts
// times in total. Then it returns record.ErrConflict.
func retryOnConflict[T any](attempt func() (T, error)) (result T, err error) {
	for range maxAttempts {
		if result, err = attempt(); !errors.Is(err, record.ErrVersionMismatch) {
			return result, err
		}
	}
	return result, record.ErrConflict
}
