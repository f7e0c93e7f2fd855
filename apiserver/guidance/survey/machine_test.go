// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// pure is a flow without a server: what is kept is a value.
type pure struct {
	r     *rapid.T
	world section.World
	now   time.Time
	p     survey.Progress
	done  *guidance.Result
}

func (f *pure) Strict() bool          { return false }
func (f *pure) Pass(now time.Time)    { f.now = now }
func (f *pure) HasResult() bool       { return f.done != nil }
func (f *pure) Kept() survey.Progress { return f.p }

func (f *pure) Serve(draft *modeltest.Builder, confirms bool) section.World {
	f.world = guidancetest.World(f.r, draft.Build(f.r))
	f.world.Features.PrefillConfirmation = confirms
	return f.world
}

// Restart writes down what is kept and reads it.
func (f *pure) Restart() section.World {
	written, err := json.Marshal(f.p)
	if err != nil {
		f.r.Fatal(err)
	}
	f.p = survey.Progress{}
	if err := json.Unmarshal(written, &f.p); err != nil {
		f.r.Fatal(err)
	}
	return f.world
}

func (f *pure) Create(creation survey.Creation) (err error) {
	f.p, err = survey.Create(creation, f.now, f.world)
	return err
}

func (f *pure) Answer(given survey.Given) (*guidance.Question, error) {
	return f.keep(survey.Answer(f.p, given, f.now, f.world))
}

func (f *pure) Change(index int, answer json.RawMessage) (*guidance.Question, error) {
	return f.keep(survey.Change(f.p, index, answer, f.now, f.world))
}

func (f *pure) keep(move survey.Move, err error) (*guidance.Question, error) {
	if err != nil {
		return nil, err
	}
	if !move.Repeated {
		f.p, f.done = apply(f.p, move), move.Result
	}
	return move.Next(), nil
}

func (f *pure) Revise(patch survey.Patch) error {
	revised, err := survey.Revise(f.p, patch, nil, f.world)
	if err == nil {
		f.p = revised
	}
	return err
}

func (f *pure) Current() (*guidance.Question, error) {
	question, _, err := survey.Current(f.p, f.world)
	return question, err
}

func (f *pure) At(index int) (json.RawMessage, error) {
	step, err := survey.At(f.p, index, f.world)
	if err != nil {
		return nil, err
	}
	return json.Marshal(step.UserAnswer())
}

func TestAnySurvey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		r.Repeat(guidancetest.Actions(guidancetest.Start(r, &pure{r: r}, now)))
	})
}
