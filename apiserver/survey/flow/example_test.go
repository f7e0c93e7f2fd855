// SPDX-License-Identifier: Apache-2.0

package flow_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

func ExampleAnswer() {
	t := &testing.T{} // the test's own
	env := surveytest.NewEnv(t, surveytest.NewRelease(t))
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	patient := record.Patient{ID: "a UUID", Sex: "male"}
	p, err := flow.Create(flow.CreateOptions{ID: "another", Patient: patient, Type: "triage", Sections: []string{"symptoms"}}, now, env)
	for _, sent := range []string{`340`, `34`, `[{"id": "s_1"}]`} {
		if err != nil {
			break
		}
		fmt.Println(p.Steps[len(p.Steps)-1].Question.Text)
		transition, err := flow.Answer(p, flow.Submission{Answer: json.RawMessage(sent)}, now, env)
		if err != nil {
			fmt.Println(" ", err)
			continue
		}
		// Store the transition here, if the stored version still equals p.Survey.Version.
		p = flow.Progress{Survey: transition.Survey, Steps: append(slices.Clone(p.Steps[:transition.FirstStep]), transition.Steps...)}
		if transition.NextQuestion() == nil {
			fmt.Println(p.Survey.Status, transition.Result.Assessment.Triage.Level)
		}
	}
	// Output:
	// How old are you, in years?
	//   answer: expected a whole number from 0 to 130, got the number 340
	// How old are you, in years?
	// What symptoms do you have? Start with the one that bothers you most.
	// completed consultation
}
