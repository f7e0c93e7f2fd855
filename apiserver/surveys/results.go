// SPDX-License-Identifier: Apache-2.0

package surveys

import (
	"context"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Why a survey has nothing to show.
var (
	// ErrNotCompleted says that a survey is not answered to its end.
	ErrNotCompleted = errors.New("the survey is not completed yet")
	// ErrNotAssessed says that a survey asks for nothing that could be assessed.
	ErrNotAssessed = errors.New("the survey has no assessment: neither dynamic nor symptoms is among its sections")
)

// Assessment is what the evidence of a survey says. It is ErrNotCompleted or
// ErrNotAssessed, and hidden from end users where the tenant wants it so.
func (r *Register) Assessment(ctx context.Context, by audit.Actor, id string) (assessment guidance.Assessment, err error) {
	if by.UserID != "" && !r.Features().PatientResults {
		return guidance.Assessment{}, storage.ErrNotFound
	}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) error {
		if _, err := r.completed(ctx, tx, by, id); err != nil {
			return err
		}
		result, err := tx.Result(ctx, id)
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

// Summary is a survey with all that was asked and answered. It is ErrNotCompleted.
func (r *Register) Summary(ctx context.Context, by audit.Actor, id string) (summary guidance.Summary, err error) {
	err = r.Storage.Transact(ctx, func(tx storage.Tx) error {
		found, err := r.completed(ctx, tx, by, id)
		if err != nil {
			return err
		}
		steps, err := tx.Steps(ctx, id)
		summary = guidance.Summarize(found, steps)
		return err
	})
	return summary, err
}

// completed is a completed survey whose result is read.
func (r *Register) completed(ctx context.Context, tx storage.Tx, by audit.Actor, id string) (guidance.Survey, error) {
	found, err := visible(ctx, tx, by, id)
	if err != nil {
		return guidance.Survey{}, err
	}
	if found.Status != guidance.Completed {
		return guidance.Survey{}, ErrNotCompleted
	}
	return found, tx.InsertAudit(ctx, r.record(by, audit.Read, audit.Result, id))
}

// Outcome is all that there is of a completed survey: the summary and, where there is
// one that may be seen, the assessment. It is ErrNotCompleted.
func (r *Register) Outcome(ctx context.Context, by audit.Actor, id string) (guidance.Summary, *guidance.Assessment, error) {
	p, assessment, err := r.whole(ctx, by, id)
	if by.UserID != "" && !r.Features().PatientResults {
		assessment = nil
	}
	return guidance.Summarize(p.Survey, p.Steps), assessment, err
}

// whole is a completed survey with its steps, and its assessment, if it has one.
func (r *Register) whole(ctx context.Context, by audit.Actor, id string) (p survey.Progress, assessment *guidance.Assessment, err error) {
	err = r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if p.Survey, err = r.completed(ctx, tx, by, id); err != nil {
			return err
		}
		if p.Steps, err = tx.Steps(ctx, id); err != nil {
			return err
		}
		result, err := tx.Result(ctx, id)
		assessment = result.Assessment
		return err
	})
	return p, assessment, err
}
