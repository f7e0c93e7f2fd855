// SPDX-License-Identifier: Apache-2.0

package surveys

import (
	"context"
	"encoding/json"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

// Current is the current question of a survey, nil when it is completed.
func (r *Register) Current(ctx context.Context, by audit.Actor, id string) (*guidance.Step, error) {
	p, err := r.load(ctx, by, id, r.record(by, audit.Read, audit.Survey, id))
	if err != nil {
		return nil, err
	}
	w, err := r.worldOf(&p.Survey)
	if err != nil {
		return nil, err
	}
	defer w.done()
	question, done, err := survey.Current(p, w.World)
	if err != nil || done {
		return nil, computed(err)
	}
	return &guidance.Step{Question: *question}, nil
}

// At is the question at an index with its answer, or the current one.
func (r *Register) At(ctx context.Context, by audit.Actor, id string, index int) (guidance.Step, error) {
	p, err := r.load(ctx, by, id, r.record(by, audit.Read, audit.Survey, id))
	if err != nil {
		return guidance.Step{}, err
	}
	w, err := r.worldOf(&p.Survey)
	if err != nil {
		return guidance.Step{}, err
	}
	defer w.done()
	step, err := survey.At(p, index, w.World)
	return step, computed(err)
}

// Answers is a part of the questions that were answered, and how many there are.
func (r *Register) Answers(ctx context.Context, by audit.Actor, id string, page Page) (steps []guidance.Step, total int64, err error) {
	p, err := r.load(ctx, by, id, r.record(by, audit.Read, audit.Survey, id))
	if err != nil {
		return nil, 0, err
	}
	answered := guidance.Answered(p.Steps)
	total = int64(len(answered))
	from := min(page.Skipped, total)
	return answered[from:min(from+page.AtMost, total)], total, nil
}

// Answer answers the current question and returns the next one, nil when there is
// none. Of two answers that race one is kept, and the other is a conflict, unless it
// names the index that is current then or repeats what was kept.
func (r *Register) Answer(ctx context.Context, by audit.Actor, id string, given survey.Given) (*guidance.Question, error) {
	meant := -1 // the question that was current when the answer came
	return again(func() (*guidance.Question, error) {
		p, err := r.load(ctx, by, id)
		if err != nil {
			return nil, err
		}
		current := len(guidance.Answered(p.Steps))
		if meant < 0 {
			meant = current
		}
		if given.Index == nil && current != meant {
			return nil, &survey.NotCurrentError{Index: meant, Current: current}
		}
		return r.move(ctx, by, p, func(w world) (survey.Move, error) {
			return survey.Answer(p, given, r.Now(), w.World)
		})
	})
}

// AnswerAgain gives another answer to the question at an index, and returns the next
// one, nil when there is none. Whatever followed is forgotten.
func (r *Register) AnswerAgain(ctx context.Context, by audit.Actor, id string, index int, answer json.RawMessage) (*guidance.Question, error) {
	return again(func() (*guidance.Question, error) {
		p, err := r.load(ctx, by, id)
		if err != nil {
			return nil, err
		}
		return r.move(ctx, by, p, func(w world) (survey.Move, error) {
			return survey.Change(p, index, answer, r.Now(), w.World)
		})
	})
}

// move computes what an answer changes and writes it. It is storage.ErrChanged where
// somebody else was faster.
func (r *Register) move(ctx context.Context, by audit.Actor, p survey.Progress, compute func(world) (survey.Move, error)) (*guidance.Question, error) {
	w, err := r.worldOf(&p.Survey)
	if err != nil {
		return nil, err
	}
	defer w.done()
	moved, err := inTurn(ctx, r, survey.Findings(p, w.World), func() (survey.Move, error) { return compute(w) })
	if err != nil {
		return nil, err
	}
	if moved.Repeated {
		return moved.Next(), nil
	}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) error { return r.write(ctx, tx, by, len(p.Steps), &moved) })
	if err != nil {
		return nil, err
	}
	r.observe(&p, &moved)
	return moved.Next(), nil
}

// inTurn computes something about a patient with so many findings when it is its turn.
func inTurn[T any](ctx context.Context, r *Register, findings int, compute func() (T, error)) (done T, err error) {
	if r.Lane != nil {
		lane := r.Lane(findings)
		if err := lane.Enter(ctx); err != nil {
			return done, err
		}
		defer lane.Leave()
	}
	done, err = compute()
	return done, computed(err)
}

// write keeps what an answer changed, of a survey that had so many steps.
func (r *Register) write(ctx context.Context, tx storage.Tx, by audit.Actor, steps int, moved *survey.Move) error {
	id := moved.Survey.ID
	if err := tx.UpdateSurvey(ctx, moved.Survey); err != nil {
		return err
	}
	if err := tx.PutSteps(ctx, id, moved.From, moved.Steps); err != nil {
		return err
	}
	if end := moved.From + len(moved.Steps); end < steps {
		if err := tx.DeleteSteps(ctx, id, end); err != nil {
			return err
		}
	}
	if moved.Result != nil {
		if err := complete(ctx, tx, moved); err != nil {
			return err
		}
	}
	return tx.InsertAudit(ctx, r.record(by, audit.Change, audit.Survey, id))
}

// complete keeps what a survey came to, tells of it, and fills the record of the patient
// where it is empty.
func complete(ctx context.Context, tx storage.Tx, moved *survey.Move) error {
	if err := tx.PutResult(ctx, moved.Survey.ID, *moved.Result); err != nil {
		return err
	}
	if err := webhooks.Finished(ctx, tx, moved.Survey); err != nil {
		return err
	}
	patient, err := tx.LockPatient(ctx, moved.Survey.PatientID)
	if err != nil {
		return err
	}
	if filled, changed := moved.Learned.Fill(patient); changed {
		return tx.UpdatePatient(ctx, filled)
	}
	return nil
}

// observe tells of an answer to a survey as it was.
func (r *Register) observe(was *survey.Progress, moved *survey.Move) {
	if r.Observer == nil {
		return
	}
	var after time.Duration
	if asked := was.Survey.AskedAt; moved.From == len(guidance.Answered(was.Steps)) && !asked.IsZero() {
		after = r.Now().Sub(asked)
	}
	r.Observer.QuestionAnswered(moved.Steps[0].Question.Section, after)
	if next := moved.Next(); next != nil {
		r.Observer.QuestionAsked(next.Section)
	}
	if moved.Result != nil {
		r.Observer.SurveyCompleted(moved.Survey.Type)
	}
}
