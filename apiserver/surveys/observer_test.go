// SPDX-License-Identifier: Apache-2.0

package surveys_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// notes are what an observer was told.
type notes []string

func (n *notes) SurveyBegun(kind guidance.Type)     { *n = append(*n, "begun "+string(kind)) }
func (n *notes) SurveyCompleted(kind guidance.Type) { *n = append(*n, "completed "+string(kind)) }
func (n *notes) QuestionAsked(section string)       { *n = append(*n, "asked "+section) }
func (n *notes) QuestionAnswered(section string, after time.Duration) {
	*n = append(*n, fmt.Sprintf("answered %s after %v", section, after))
}

// An observer sees where patients are, and how long they think: of a first answer, and
// neither of one that is changed nor of one that is repeated.
func TestObserver(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, url string) {
		r := opened(t, url, shelve(t))
		clock, seen := now, notes{}
		r.Now, r.Observer = func() time.Time { return clock }, &seen
		made, err := r.Create(t.Context(), portal, surveys.NewSurvey{PatientID: aPatient(t, r).ID, Creation: survey.Creation{
			Type: "intake", Sections: []string{"visit_reason", "notes"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(7 * time.Second)
		zero, one := 0, 1
		for _, given := range []survey.Given{
			{Answer: json.RawMessage(`"a cough"`)},
			{Answer: json.RawMessage(`"a cough"`), Index: &zero}, // repeated
			{Answer: json.RawMessage(`5`)},                       // no text
		} {
			_, _ = r.Answer(t.Context(), portal, made.ID, given)
		}
		if _, err := r.AnswerAgain(t.Context(), portal, made.ID, 0, json.RawMessage(`"a bad cough"`)); err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(time.Minute)
		if _, err := r.Answer(t.Context(), portal, made.ID, survey.Given{Answer: json.RawMessage(`null`), Index: &one}); err != nil {
			t.Fatal(err)
		}
		want := notes{
			"begun intake", "asked visit_reason", "answered visit_reason after 7s", "asked notes",
			"answered visit_reason after 0s", "asked notes", "answered notes after 1m0s", "completed intake",
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}
