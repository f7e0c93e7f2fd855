// SPDX-License-Identifier: Apache-2.0

package service

import (
	"context"
	"encoding/json"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
)

// Current returns the current question of a survey, or nil if the survey is completed.
func (r *Service) Current(ctx context.Context, by identity.Principal, id string) (*record.Step, error) {
	p, err := r.load(ctx, by, id, audit.NewRecord(r.Now(), by.Actor, audit.Read, audit.Survey, id))
	if err != nil {
		return nil, err
	}
	w, err := r.envForSurvey(&p.Survey)
	if err != nil {
		return nil, err
	}
	defer w.release()
	question, done, err := flow.CurrentQuestion(p, w.Env)
	if err != nil || done {
		return nil, wrapFlowError(err)
	}
	return &record.Step{Question: *question}, nil
}

// StepAt returns the question at an index with its answer, or the current question.
func (r *Service) StepAt(ctx context.Context, by identity.Principal, id string, index int) (record.Step, error) {
	p, err := r.load(ctx, by, id, audit.NewRecord(r.Now(), by.Actor, audit.Read, audit.Survey, id))
	if err != nil {
		return record.Step{}, err
	}
	w, err := r.envForSurvey(&p.Survey)
	if err != nil {
		return record.Step{}, err
	}
	defer w.release()
	step, err := flow.StepAt(p, index, w.Env)
	return step, wrapFlowError(err)
}

// ListAnswers returns a page of the answered questions and their total number.
func (r *Service) ListAnswers(ctx context.Context, by identity.Principal, id string, page record.Page) (steps []record.Step, total int64, err error) {
	p, err := r.load(ctx, by, id, audit.NewRecord(r.Now(), by.Actor, audit.Read, audit.Survey, id))
	if err != nil {
		return nil, 0, err
	}
	answered := record.AnsweredSteps(p.Steps)
	return record.Slice(answered, page), int64(len(answered)), nil
}

// Answer records the answer to the current question and returns the next one, or nil
// if the survey is completed. Concurrent answers to one question conflict: the first
// commit wins. The other returns a conflict, unless it names the index that is then
// current or repeats the stored answer.
func (r *Service) Answer(ctx context.Context, by identity.Principal, id string, given flow.Submission) (*record.Question, error) {
	meant := -1 // index of the current question when the answer arrived
	return retryOnConflict(func() (*record.Question, error) {
		p, err := r.load(ctx, by, id)
		if err != nil {
			return nil, err
		}
		current := len(record.AnsweredSteps(p.Steps))
		if meant < 0 {
			meant = current
		}
		if given.Index == nil && current != meant {
			return nil, &flow.NotCurrentError{Index: meant, Current: current}
		}
		return r.applyTransition(ctx, by, p, func(w leasedEnv) (flow.Transition, error) {
			return flow.Answer(p, given, r.Now(), w.Env)
		})
	})
}

// ChangeAnswer replaces the answer to the question at an index and returns the next
// question, or nil if the survey is completed. It discards all later answers.
func (r *Service) ChangeAnswer(ctx context.Context, by identity.Principal, id string, index int, answer json.RawMessage) (*record.Question, error) {
	return retryOnConflict(func() (*record.Question, error) {
		p, err := r.load(ctx, by, id)
		if err != nil {
			return nil, err
		}
		return r.applyTransition(ctx, by, p, func(w leasedEnv) (flow.Transition, error) {
			return flow.ChangeAnswer(p, index, answer, r.Now(), w.Env)
		})
	})
}

// AnswerViewed records the answer to a question of a survey that the caller has just viewed,
// like Answer for the current question and like ChangeAnswer for an answered one. It reads
// the survey again only if another write came first.
func (r *Service) AnswerViewed(ctx context.Context, by identity.Principal, sight *flow.View, index int, answer json.RawMessage) (*record.Question, error) {
	p, id, viewed := sight.Progress, sight.Survey.ID, true
	change := index < len(record.AnsweredSteps(p.Steps))
	return retryOnConflict(func() (_ *record.Question, err error) {
		if !viewed {
			if p, err = r.load(ctx, by, id); err != nil {
				return nil, err
			}
		}
		viewed = false
		return r.applyTransition(ctx, by, p, func(w leasedEnv) (flow.Transition, error) {
			if change {
				return flow.ChangeAnswer(p, index, answer, r.Now(), w.Env)
			}
			return flow.Answer(p, flow.Submission{Answer: answer, Index: &index}, r.Now(), w.Env)
		})
	})
}

// applyTransition computes the effect of an answer and writes it. It returns
// storage.ErrVersionMismatch if another write came first.
func (r *Service) applyTransition(ctx context.Context, by identity.Principal, p flow.Progress, compute func(leasedEnv) (flow.Transition, error)) (*record.Question, error) {
	w, err := r.envForSurvey(&p.Survey)
	if err != nil {
		return nil, err
	}
	defer w.release()
	moved, err := withLimiter(ctx, r, flow.CountFindings(p, w.Env), func() (flow.Transition, error) { return compute(w) })
	if err != nil {
		return nil, err
	}
	if moved.Duplicate {
		return moved.NextQuestion(), nil
	}
	err = r.Storage.Transact(ctx, func(tx Tx) error { return r.writeTransition(ctx, tx, by, len(p.Steps), &moved) })
	if err != nil {
		return nil, err
	}
	r.notifyObserver(&p, &moved)
	return moved.NextQuestion(), nil
}

// withLimiter runs a computation about a patient with the given number of findings
// under the limiter for that size.
func withLimiter[T any](ctx context.Context, r *Service, findings int, compute func() (T, error)) (done T, err error) {
	if r.LimiterFor != nil {
		lane := r.LimiterFor(findings)
		if err := lane.Acquire(ctx); err != nil {
			return done, err
		}
		defer lane.Release()
	}
	done, err = compute()
	return done, wrapFlowError(err)
}

// writeTransition stores the effect of an answer to a survey that had the given number
// of steps.
func (r *Service) writeTransition(ctx context.Context, tx Tx, by identity.Principal, steps int, moved *flow.Transition) error {
	id := moved.Survey.ID
	if err := tx.UpdateSurvey(ctx, moved.Survey); err != nil {
		return err
	}
	if err := tx.PutSteps(ctx, id, moved.FirstStep, moved.Steps); err != nil {
		return err
	}
	if end := moved.FirstStep + len(moved.Steps); end < steps {
		if err := tx.DeleteSteps(ctx, id, end); err != nil {
			return err
		}
	}
	if moved.Result != nil {
		if err := complete(ctx, tx, moved); err != nil {
			return err
		}
	}
	return tx.InsertAuditRecord(ctx, audit.NewRecord(r.Now(), by.Actor, audit.Change, audit.Survey, id))
}

// complete stores the result of a survey, enqueues its event, and fills in missing
// fields of the patient's record.
func complete(ctx context.Context, tx Tx, moved *flow.Transition) error {
	if err := tx.PutResult(ctx, moved.Survey.ID, *moved.Result); err != nil {
		return err
	}
	if err := webhook.PublishSurveyFinished(ctx, tx, moved.Survey); err != nil {
		return err
	}
	patient, err := tx.LockPatient(ctx, moved.Survey.PatientID)
	if err != nil {
		return err
	}
	if filled, changed := moved.PatientUpdate.FillMissing(patient); changed {
		return tx.UpdatePatient(ctx, filled)
	}
	return nil
}

// notifyObserver reports an answer to the observer; was is the survey before the
// answer.
func (r *Service) notifyObserver(was *flow.Progress, moved *flow.Transition) {
	if r.Observer == nil {
		return
	}
	var after time.Duration
	if asked := was.Survey.AskedAt; moved.FirstStep == len(record.AnsweredSteps(was.Steps)) && !asked.IsZero() {
		after = r.Now().Sub(asked)
	}
	r.Observer.QuestionAnswered(moved.Steps[0].Question.Section, after)
	if next := moved.NextQuestion(); next != nil {
		r.Observer.QuestionAsked(next.Section)
	}
	if moved.Result != nil {
		r.Observer.SurveyCompleted(moved.Survey.Type)
	}
}
