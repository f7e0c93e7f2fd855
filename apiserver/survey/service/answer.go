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
func (s *Service) Current(ctx context.Context, principal identity.Principal, id string) (*record.Step, error) {
	p, err := s.load(ctx, principal, id, audit.NewRecord(s.Now(), principal.Actor, audit.Read, audit.Survey, id))
	if err != nil {
		return nil, err
	}
	env, err := s.envForSurvey(&p.Survey)
	if err != nil {
		return nil, err
	}
	defer env.release()
	question, done, err := flow.CurrentQuestion(p, env.Env)
	if err != nil || done {
		return nil, wrapFlowError(err)
	}
	return &record.Step{Question: *question}, nil
}

// StepAt returns the question at an index with its answer, or the current question.
func (s *Service) StepAt(ctx context.Context, principal identity.Principal, id string, index int) (record.Step, error) {
	p, err := s.load(ctx, principal, id, audit.NewRecord(s.Now(), principal.Actor, audit.Read, audit.Survey, id))
	if err != nil {
		return record.Step{}, err
	}
	env, err := s.envForSurvey(&p.Survey)
	if err != nil {
		return record.Step{}, err
	}
	defer env.release()
	step, err := flow.StepAt(p, index, env.Env)
	return step, wrapFlowError(err)
}

// ListAnswers returns a page of the answered questions and their total number.
func (s *Service) ListAnswers(ctx context.Context, principal identity.Principal, id string, page record.Page) (steps []record.Step, total int64, err error) {
	p, err := s.load(ctx, principal, id, audit.NewRecord(s.Now(), principal.Actor, audit.Read, audit.Survey, id))
	if err != nil {
		return nil, 0, err
	}
	answered := record.AnsweredSteps(p.Steps)
	return record.Slice(answered, page), int64(len(answered)), nil
}

// Answer records the answer to the current question and returns the next question, or nil if
// the survey is completed. Concurrent answers to one question conflict: the first commit
// wins, and the second returns a conflict unless its index is current by then or it repeats
// the stored answer.
func (s *Service) Answer(ctx context.Context, principal identity.Principal, id string, submission flow.Submission) (*record.Question, error) {
	received := -1 // index of the current question when the answer was received
	return retryOnConflict(func() (*record.Question, error) {
		p, err := s.load(ctx, principal, id)
		if err != nil {
			return nil, err
		}
		current := len(record.AnsweredSteps(p.Steps))
		if received < 0 {
			received = current
		}
		if submission.Index == nil && current != received {
			return nil, &flow.NotCurrentError{Index: received, Current: current}
		}
		return s.applyTransition(ctx, principal, p, func(env leasedEnv) (flow.Transition, error) {
			return flow.Answer(p, submission, s.Now(), env.Env)
		})
	})
}

// ChangeAnswer replaces the answer to the question at an index and returns the next
// question, or nil if the survey is completed. It discards all later answers.
func (s *Service) ChangeAnswer(ctx context.Context, principal identity.Principal, id string, index int, answer json.RawMessage) (*record.Question, error) {
	return retryOnConflict(func() (*record.Question, error) {
		p, err := s.load(ctx, principal, id)
		if err != nil {
			return nil, err
		}
		return s.applyTransition(ctx, principal, p, func(env leasedEnv) (flow.Transition, error) {
			return flow.ChangeAnswer(p, index, answer, s.Now(), env.Env)
		})
	})
}

// AnswerViewed records the answer to a question that the caller has just viewed. It behaves
// like Answer for the current question and like ChangeAnswer for an answered one, but loads
// the survey again only if another write came first.
func (s *Service) AnswerViewed(ctx context.Context, principal identity.Principal, view *flow.View, index int, answer json.RawMessage) (*record.Question, error) {
	p, id, viewed := view.Progress, view.Survey.ID, true
	change := index < len(record.AnsweredSteps(p.Steps))
	return retryOnConflict(func() (_ *record.Question, err error) {
		if !viewed {
			if p, err = s.load(ctx, principal, id); err != nil {
				return nil, err
			}
		}
		viewed = false
		return s.applyTransition(ctx, principal, p, func(env leasedEnv) (flow.Transition, error) {
			if change {
				return flow.ChangeAnswer(p, index, answer, s.Now(), env.Env)
			}
			return flow.Answer(p, flow.Submission{Answer: answer, Index: &index}, s.Now(), env.Env)
		})
	})
}

// applyTransition computes the effect of an answer and writes it. It returns
// storage.ErrVersionMismatch if another write came first.
func (s *Service) applyTransition(ctx context.Context, principal identity.Principal, p flow.Progress, compute func(leasedEnv) (flow.Transition, error)) (*record.Question, error) {
	env, err := s.envForSurvey(&p.Survey)
	if err != nil {
		return nil, err
	}
	defer env.release()
	transition, err := withLimiter(ctx, s, flow.CountFindings(p, env.Env), func() (flow.Transition, error) { return compute(env) })
	if err != nil {
		return nil, err
	}
	if transition.Duplicate {
		return transition.NextQuestion(), nil
	}
	err = s.Storage.Transact(ctx, func(tx Tx) error { return s.writeTransition(ctx, tx, principal, len(p.Steps), &transition) })
	if err != nil {
		return nil, err
	}
	s.notifyObserver(&p, &transition)
	return transition.NextQuestion(), nil
}

// withLimiter runs a computation under the limiter for patients with the given number of
// findings.
func withLimiter[T any](ctx context.Context, s *Service, findings int, compute func() (T, error)) (result T, err error) {
	if s.LimiterFor != nil {
		limiter := s.LimiterFor(findings)
		if err := limiter.Acquire(ctx); err != nil {
			return result, err
		}
		defer limiter.Release()
	}
	result, err = compute()
	return result, wrapFlowError(err)
}

// writeTransition stores the effect of an answer. The survey had the given number of steps
// before.
func (s *Service) writeTransition(ctx context.Context, tx Tx, principal identity.Principal, steps int, transition *flow.Transition) error {
	id := transition.Survey.ID
	if err := tx.UpdateSurvey(ctx, transition.Survey); err != nil {
		return err
	}
	if err := tx.PutSteps(ctx, id, transition.FirstStep, transition.Steps); err != nil {
		return err
	}
	if end := transition.FirstStep + len(transition.Steps); end < steps {
		if err := tx.DeleteSteps(ctx, id, end); err != nil {
			return err
		}
	}
	if transition.Result != nil {
		if err := complete(ctx, tx, transition); err != nil {
			return err
		}
	}
	return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Change, audit.Survey, id))
}

// complete stores the result of a survey, enqueues its event, and fills in missing
// fields of the patient's record.
func complete(ctx context.Context, tx Tx, transition *flow.Transition) error {
	if err := tx.PutResult(ctx, transition.Survey.ID, *transition.Result); err != nil {
		return err
	}
	if err := webhook.PublishSurveyFinished(ctx, tx, transition.Survey); err != nil {
		return err
	}
	patient, err := tx.LockPatient(ctx, transition.Survey.PatientID)
	if err != nil {
		return err
	}
	if filled, changed := transition.PatientUpdate.FillMissing(patient); changed {
		return tx.UpdatePatient(ctx, filled)
	}
	return nil
}

// notifyObserver reports an answer to the observer. The parameter before is the survey before
// the answer.
func (s *Service) notifyObserver(before *flow.Progress, transition *flow.Transition) {
	if s.Observer == nil {
		return
	}
	var elapsed time.Duration
	if askedAt := before.Survey.AskedAt; transition.FirstStep == len(record.AnsweredSteps(before.Steps)) && !askedAt.IsZero() {
		elapsed = s.Now().Sub(askedAt)
	}
	s.Observer.QuestionAnswered(transition.Steps[0].Question.Section, elapsed)
	if next := transition.NextQuestion(); next != nil {
		s.Observer.QuestionAsked(next.Section)
	}
	if transition.Result != nil {
		s.Observer.SurveyCompleted(transition.Survey.Type)
	}
}
