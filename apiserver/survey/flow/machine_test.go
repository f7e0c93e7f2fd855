// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// An inMemoryDriver runs the flow without a server and keeps its state in memory.
type inMemoryDriver struct {
	r        *rapid.T
	env      section.Env
	now      time.Time
	progress flow.Progress
	result   *record.Result
}

func (f *inMemoryDriver) RejectsMalformed() bool { return false }
func (f *inMemoryDriver) SetTime(now time.Time)  { f.now = now }
func (f *inMemoryDriver) HasResult() bool        { return f.result != nil }
func (f *inMemoryDriver) Stored() flow.Progress  { return f.progress }

func (f *inMemoryDriver) ServeRelease(draft *modeltest.Builder, confirms bool) section.Env {
	f.env = surveytest.NewEnv(f.r, draft.Build(f.r))
	f.env.Features.PrefillConfirmation = confirms
	return f.env
}

// Restart encodes and decodes the stored state.
func (f *inMemoryDriver) Restart() section.Env {
	written, err := json.Marshal(f.progress)
	if err != nil {
		f.r.Fatal(err)
	}
	f.progress = flow.Progress{}
	if err := json.Unmarshal(written, &f.progress); err != nil {
		f.r.Fatal(err)
	}
	return f.env
}

func (f *inMemoryDriver) Create(creation flow.CreateOptions) (err error) {
	f.progress, err = flow.Create(creation, f.now, f.env)
	return err
}

func (f *inMemoryDriver) Answer(given flow.Submission) (*record.Question, error) {
	return f.store(flow.Answer(f.progress, given, f.now, f.env))
}

func (f *inMemoryDriver) ChangeAnswer(index int, answer json.RawMessage) (*record.Question, error) {
	return f.store(flow.ChangeAnswer(f.progress, index, answer, f.now, f.env))
}

func (f *inMemoryDriver) store(move flow.Transition, err error) (*record.Question, error) {
	if err != nil {
		return nil, err
	}
	if !move.Duplicate {
		f.progress, f.result = applyTransition(f.progress, move), move.Result
	}
	return move.NextQuestion(), nil
}

func (f *inMemoryDriver) Update(patch flow.Patch) error {
	revised, err := flow.Update(f.progress, patch, nil, f.env)
	if err == nil {
		f.progress = revised
	}
	return err
}

func (f *inMemoryDriver) Current() (*record.Question, error) {
	question, _, err := flow.CurrentQuestion(f.progress, f.env)
	return question, err
}

func (f *inMemoryDriver) AnswerAt(index int) (json.RawMessage, error) {
	step, err := flow.StepAt(f.progress, index, f.env)
	if err != nil {
		return nil, err
	}
	return json.Marshal(step.UserAnswer())
}

func TestRandomSurveys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		r.Repeat(surveytest.Actions(surveytest.NewMachine(r, &inMemoryDriver{r: r}, now)))
	})
}
