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

func (o *recordingObserver) SurveyStarted(kind record.Type) { *o = append(*o, "begun "+string(kind)) }
func (o *recordingObserver) SurveyCompleted(kind record.Type) {
	*o = append(*o, "completed "+string(kind))
}
func (o *recordingObserver) QuestionAsked(section string) { *o = append(*o, "asked "+section) }
func (o *recordingObserver) QuestionAnswered(section string, after time.Duration) {
	*o = append(*o, fmt.Sprintf("answered %s after %v", section, after))
}

// TestObserver checks that an observer receives the progress of surveys and the thinking time
// of first answers, but not of changed or repeated ones.
func TestObserver(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, url string) {
		r := openService(t, url, writeRelease(t))
		clock, observed := now, recordingObserver{}
		r.Now, r.Observer = func() time.Time { return clock }, &observed
		created, err := r.Create(t.Context(), portal, service.CreateRequest{PatientID: createPatient(t, r).ID, CreateOptions: flow.CreateOptions{
			Type: "intake", Sections: []string{"visit_reason", "notes"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(7 * time.Second)
		zero, one := 0, 1
		for _, submission := range []flow.Submission{
			{Answer: json.RawMessage(`"a cough"`)},
			{Answer: json.RawMessage(`"a cough"`), Index: &zero}, // repeated
			{Answer: json.RawMessage(`5`)},                       // no text
		} {
			_, _ = r.Answer(t.Context(), portal, created.ID, submission)
		}
		if _, err := r.ChangeAnswer(t.Context(), portal, created.ID, 0, json.RawMessage(`"a bad cough"`)); err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(time.Minute)
		if _, err := r.Answer(t.Context(), portal, created.ID, flow.Submission{Answer: json.RawMessage(`null`), Index: &one}); err != nil {
			t.Fatal(err)
		}
		want := recordingObserver{
			"begun intake", "asked visit_reason", "answered visit_reason after 7s", "asked notes",
			"answered visit_reason after 0s", "asked notes", "answered notes after 1m0s", "completed intake",
		}
		if diff := cmp.Diff(want, observed); diff != "" {
			t.Errorf("observed calls (-want +got):\n%s", diff)
		}
	})
}
