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

func (d *inMemoryDriver) RejectsMalformed() bool { return false }
func (d *inMemoryDriver) SetTime(now time.Time)  { d.now = now }
func (d *inMemoryDriver) HasResult() bool        { return d.result != nil }
func (d *inMemoryDriver) Stored() flow.Progress  { return d.progress }

func (d *inMemoryDriver) ServeRelease(draft *modeltest.Builder, confirms bool) section.Env {
	d.env = surveytest.NewEnv(d.r, draft.Build(d.r))
	d.env.Features.PrefillConfirmation = confirms
	return d.env
}

// Restart encodes and decodes the stored state.
func (d *inMemoryDriver) Restart() section.Env {
	written, err := json.Marshal(d.progress)
	if err != nil {
		d.r.Fatal(err)
	}
	d.progress = flow.Progress{}
	if err := json.Unmarshal(written, &d.progress); err != nil {
		d.r.Fatal(err)
	}
	return d.env
}

func (d *inMemoryDriver) Create(options flow.CreateOptions) (err error) {
	d.progress, err = flow.Create(options, d.now, d.env)
	return err
}

func (d *inMemoryDriver) Answer(submission flow.Submission) (*record.Question, error) {
	return d.store(flow.Answer(d.progress, submission, d.now, d.env))
}

func (d *inMemoryDriver) ChangeAnswer(index int, answer json.RawMessage) (*record.Question, error) {
	return d.store(flow.ChangeAnswer(d.progress, index, answer, d.now, d.env))
}

func (d *inMemoryDriver) store(transition flow.Transition, err error) (*record.Question, error) {
	if err != nil {
		return nil, err
	}
	if !transition.Duplicate {
		d.progress, d.result = applyTransition(d.progress, transition), transition.Result
	}
	return transition.NextQuestion(), nil
}

func (d *inMemoryDriver) Update(patch flow.Patch) error {
	updated, err := flow.Update(d.progress, patch, nil, d.env)
	if err == nil {
		d.progress = updated
	}
	return err
}

func (d *inMemoryDriver) Current() (*record.Question, error) {
	question, _, err := flow.CurrentQuestion(d.progress, d.env)
	return question, err
}

func (d *inMemoryDriver) AnswerAt(index int) (json.RawMessage, error) {
	step, err := flow.StepAt(d.progress, index, d.env)
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
