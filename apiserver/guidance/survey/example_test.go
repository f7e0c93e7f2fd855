// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

func ExampleAnswer() {
	t := &testing.T{} // that of the test
	w := guidancetest.World(t, guidancetest.Release(t))
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	patient := guidance.Patient{ID: "a UUID", Sex: "male"}
	p, err := survey.Create(survey.Creation{ID: "another", Patient: patient, Type: "triage", Sections: []string{"symptoms"}}, now, w)
	for _, sent := range []string{`340`, `34`, `[{"id": "s_1"}]`} {
		if err != nil {
			break
		}
		fmt.Println(p.Steps[len(p.Steps)-1].Question.Text)
		move, refused := survey.Answer(p, survey.Given{Answer: json.RawMessage(sent)}, now, w)
		if refused != nil {
			fmt.Println(" ", refused)
			continue
		}
		// Here the move is written, where the version is still p.Survey.Version.
		p = survey.Progress{Survey: move.Survey, Steps: append(slices.Clone(p.Steps[:move.From]), move.Steps...)}
		if move.Next() == nil {
			fmt.Println(p.Survey.Status, move.Result.Assessment.Triage.Level)
		}
	}
	// Output:
	// How old are you, in years?
	//   answer: expected a whole number from 0 to 130, got the number 340
	// How old are you, in years?
	// What symptoms do you have? Begin with the one that bothers you most.
	// completed consultation
}
