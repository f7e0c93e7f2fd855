// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
)

// Errors returned for surveys without results.
var (
	// ErrNotCompleted means that the survey has unanswered questions.
	ErrNotCompleted = errors.New("survey is not completed")
	// ErrNotAssessed means that no section of the survey yields an assessment.
	ErrNotAssessed = errors.New("survey has no assessment: its sections include neither dynamic nor symptoms")
)

// Assessment returns the assessment of a completed survey, or ErrNotCompleted or
// ErrNotAssessed. Conditions are hidden from end users if the tenant hides them.
func (s *Service) Assessment(ctx context.Context, principal identity.Principal, id string) (assessment record.Assessment, err error) {
	if !access.CanSeeConditions(principal, s.Features().PatientResults) {
		return record.Assessment{}, record.ErrNotFound
	}
	err = s.Storage.Transact(ctx, func(tx Tx) error {
		if _, err := s.getCompleted(ctx, tx, principal, id); err != nil {
			return err
		}
		result, err := tx.GetResult(ctx, id)
		if err != nil {
			return err
		}
		if result.Assessment == nil {
			return ErrNotAssessed
		}
		assessment = *result.Assessment
		return nil
	})
	return assessment, err
}

// Summary returns a completed survey with all questions and answers, or
// ErrNotCompleted.
func (s *Service) Summary(ctx context.Context, principal identity.Principal, id string) (summary record.Summary, err error) {
	err = s.Storage.Transact(ctx, func(tx Tx) error {
		survey, err := s.getCompleted(ctx, tx, principal, id)
		if err != nil {
			return err
		}
		steps, err := tx.ListSteps(ctx, id)
		summary = record.Summarize(survey, steps)
		return err
	})
	return summary, err
}

// getCompleted returns a completed survey and records that its result was read.
func (s *Service) getCompleted(ctx context.Context, tx Tx, principal identity.Principal, id string) (record.Survey, error) {
	survey, err := getVisible(ctx, tx, principal, id)
	if err != nil {
		return record.Survey{}, err
	}
	if survey.Status != record.StatusCompleted {
		return record.Survey{}, ErrNotCompleted
	}
	return survey, tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Read, audit.Result, id))
}

// Outcome returns the summary of a completed survey and, if available and visible to the
// caller, the assessment. It returns ErrNotCompleted if the survey is not completed.
func (s *Service) Outcome(ctx context.Context, principal identity.Principal, id string) (record.Summary, *record.Assessment, error) {
	p, assessment, err := s.loadCompleted(ctx, principal, id)
	if !access.CanSeeConditions(principal, s.Features().PatientResults) {
		assessment = nil
	}
	return record.Summarize(p.Survey, p.Steps), assessment, err
}

// loadCompleted returns a completed survey with its steps and its assessment, if any.
func (s *Service) loadCompleted(ctx context.Context, principal identity.Principal, id string) (p flow.Progress, assessment *record.Assessment, err error) {
	err = s.Storage.Transact(ctx, func(tx Tx) (err error) {
		if p.Survey, err = s.getCompleted(ctx, tx, principal, id); err != nil {
			return err
		}
		if p.Steps, err = tx.ListSteps(ctx, id); err != nil {
			return err
		}
		result, err := tx.GetResult(ctx, id)
		assessment = result.Assessment
		return err
	})
	return p, assessment, err
}
