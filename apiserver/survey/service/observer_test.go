// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// recordingObserver records the observer's calls.
type recordingObserver []string

func (n *recordingObserver) SurveyStarted(kind record.Type) { *n = append(*n, "begun "+string(kind)) }
func (n *recordingObserver) SurveyCompleted(kind record.Type) {
	*n = append(*n, "completed "+string(kind))
}
func (n *recordingObserver) QuestionAsked(section string) { *n = append(*n, "asked "+section) }
func (n *recordingObserver) QuestionAnswered(section string, after time.Duration) {
	*n = append(*n, fmt.Sprintf("answered %s after %v", section, after))
}

// An observer sees the progress of surveys and the thinking time for first answers,
// but not for changed or repeated ones.
func TestObserver(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, url string) {
		r := openService(t, url, writeRelease(t))
		clock, seen := now, recordingObserver{}
		r.Now, r.Observer = func() time.Time { return clock }, &seen
		made, err := r.Create(t.Context(), portal, service.CreateRequest{PatientID: createPatient(t, r).ID, CreateOptions: flow.CreateOptions{
			Type: "intake", Sections: []string{"visit_reason", "notes"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(7 * time.Second)
		zero, one := 0, 1
		for _, given := range []flow.Submission{
			{Answer: json.RawMessage(`"a cough"`)},
			{Answer: json.RawMessage(`"a cough"`), Index: &zero}, // repeated
			{Answer: json.RawMessage(`5`)},                       // no text
		} {
			_, _ = r.Answer(t.Context(), portal, made.ID, given)
		}
		if _, err := r.ChangeAnswer(t.Context(), portal, made.ID, 0, json.RawMessage(`"a bad cough"`)); err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(time.Minute)
		if _, err := r.Answer(t.Context(), portal, made.ID, flow.Submission{Answer: json.RawMessage(`null`), Index: &one}); err != nil {
			t.Fatal(err)
		}
		want := recordingObserver{
			"begun intake", "asked visit_reason", "answered visit_reason after 7s", "asked notes",
			"answered visit_reason after 0s", "asked notes", "answered notes after 1m0s", "completed intake",
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}
