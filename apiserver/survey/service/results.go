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

// Reasons why a survey has no results to show.
var (
	// ErrNotCompleted means that the survey has unanswered questions.
	ErrNotCompleted = errors.New("the survey is not completed yet")
	// ErrNotAssessed means that the survey asks for nothing that can be assessed.
	ErrNotAssessed = errors.New("the survey has no assessment: neither dynamic nor symptoms is among its sections")
)

// Assessment returns the assessment of a completed survey, or ErrNotCompleted or
// ErrNotAssessed. Conditions are hidden from end users if the tenant hides them.
func (r *Service) Assessment(ctx context.Context, by identity.Principal, id string) (assessment record.Assessment, err error) {
	if !access.CanSeeConditions(by, r.Features().PatientResults) {
		return record.Assessment{}, record.ErrNotFound
	}
	err = r.Storage.Transact(ctx, func(tx Tx) error {
		if _, err := r.getCompleted(ctx, tx, by, id); err != nil {
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
func (r *Service) Summary(ctx context.Context, by identity.Principal, id string) (summary record.Summary, err error) {
	err = r.Storage.Transact(ctx, func(tx Tx) error {
		found, err := r.getCompleted(ctx, tx, by, id)
		if err != nil {
			return err
		}
		steps, err := tx.ListSteps(ctx, id)
		summary = record.Summarize(found, steps)
		return err
	})
	return summary, err
}

// getCompleted returns a completed survey and records that its result was read.
func (r *Service) getCompleted(ctx context.Context, tx Tx, by identity.Principal, id string) (record.Survey, error) {
	found, err := getVisible(ctx, tx, by, id)
	if err != nil {
		return record.Survey{}, err
	}
	if found.Status != record.StatusCompleted {
		return record.Survey{}, ErrNotCompleted
	}
	return found, tx.InsertAuditRecord(ctx, audit.NewRecord(r.Now(), by.Actor, audit.Read, audit.Result, id))
}

// Outcome returns the summary of a completed survey and, if there is one and the
// caller may see it, the assessment. It returns ErrNotCompleted otherwise.
func (r *Service) Outcome(ctx context.Context, by identity.Principal, id string) (record.Summary, *record.Assessment, error) {
	p, assessment, err := r.loadCompleted(ctx, by, id)
	if !access.CanSeeConditions(by, r.Features().PatientResults) {
		assessment = nil
	}
	return record.Summarize(p.Survey, p.Steps), assessment, err
}

// loadCompleted returns a completed survey with its steps and its assessment, if any.
func (r *Service) loadCompleted(ctx context.Context, by identity.Principal, id string) (p flow.Progress, assessment *record.Assessment, err error) {
	err = r.Storage.Transact(ctx, func(tx Tx) (err error) {
		if p.Survey, err = r.getCompleted(ctx, tx, by, id); err != nil {
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
