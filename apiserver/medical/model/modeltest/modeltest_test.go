// SPDX-License-Identifier: Apache-2.0

package modeltest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// recordingTB is a TB that records the failure message.
type recordingTB struct{ message string }

func (r *recordingTB) Helper() {}

func (r *recordingTB) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	panic(r)
}

// buildFailure returns the message with which Build fails a test, or an empty string.
func buildFailure(b *modeltest.Builder) (message string) {
	r := &recordingTB{}
	defer func() {
		if recovered := recover(); recovered != nil && recovered != any(r) {
			panic(recovered)
		}
		message = r.message
	}()
	b.Build(r)
	return ""
}

// addLabTest adds a laboratory test with one result.
func addLabTest(b *modeltest.Builder) *modeltest.Builder {
	return b.LabTest("lab_1", "Iron", map[string]model.ResultType{"lt_1": model.Low})
}

func TestBuilderPopulatesRelease(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		Condition("c_1", 0.1).Condition("c_2", 0.1).Course("c_2", time.Hour, 100*time.Hour).
		Symptom("s_1", 0.1, modeltest.WithTopic(model.Injury)).
		Child("s_2", "s_1", model.DurationRelation, 0.01, modeltest.WithDurationRange(time.Hour, 2*time.Hour)).
		Child("s_3", "s_1", model.DurationRelation, 0.01, modeltest.WithDurationRange(2*time.Hour, 0)).
		LabResult("lt_1", 0.1).LabResult("lt_5", 0.1).
		LabTest("lab_1", "Iron", map[string]model.ResultType{"lt_1": model.Low}).
		Article("c_2", "Migraine", modeltest.Section(model.SourcesSection, "Sources", modeltest.Node(model.ParagraphNode, modeltest.Link("https://example.org", "A book")))).
		Build(t)
	if got, want := r.Conditions[1].Course, model.NewCourse(60, 6000); got != want {
		t.Errorf("the course is %v, want %v", got, want)
	}
	var observations []string
	for i, o := range r.Observations {
		observations = append(observations, fmt.Sprint(r.ObservationID(model.ObservationIndex(i)), " ", o.Topic, " ", o.LabResult, " ", o.DurationFrom, " ", o.DurationTo))
	}
	want := []string{
		"s_1 injury none 0 0", "s_2 none none 60 120", fmt.Sprint("s_3 none none 120 ", model.NoUpperBound), "lt_1 none low 0 0", "lt_5 none present 0 0",
	}
	if diff := cmp.Diff(want, observations); diff != "" {
		t.Error(diff)
	}
	// A result that no test names gets its own test.
	if len(r.LabTests) != 2 || r.LabTestID(1) != "lab_5" {
		t.Errorf("the laboratory tests are %+v", r.LabTests)
	}
	if a := r.Articles[r.Conditions[1].Article]; len(r.Articles) != 1 || r.Conditions[0].Article != model.None || a.Sections.Len() != 1 {
		t.Errorf("the articles are %+v", r.Articles)
	}
}

func TestBuildReportsFirstError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		builder *modeltest.Builder
		wantErr string
	}{
		"a condition with the id of a symptom": {modeltest.New().Condition("s_1", 0.1), `condition "s_1"`},
		"a condition twice":                    {modeltest.New().Condition("c_1", 0.1).Condition("c_1", 0.1), `condition "c_1"`},
		"a symptom with the id of a factor":    {modeltest.New().Symptom("p_1", 0.1), `symptom "p_1"`},
		"a symptom twice":                      {modeltest.New().Symptom("s_1", 0.1).Symptom("s_1", 0.1), `symptom "s_1"`},
		"a link of an unknown condition":       {modeltest.New().Symptom("s_1", 0.1).Link("c_1", "s_1", 0.5), `unknown condition "c_1"`},
		"a link to an unknown symptom":         {modeltest.New().Condition("c_1", 0.1).Link("c_1", "s_1", 0.5), `unknown observation "s_1"`},
		"a factor of an unknown condition":     {modeltest.New().Symptom("s_1", 0.1).Factor("c_1", "s_1", 1, 1), `unknown condition "c_1"`},
		"a child of an unknown parent":         {modeltest.New().Child("s_1", "s_2", model.LocationRelation, 0.1), `unknown observation "s_2"`},
		"a laboratory test with another id":    {modeltest.New().LabTest("lt_1", "Iron", nil), `laboratory test "lt_1"`},
		"a laboratory test twice":              {addLabTest(addLabTest(modeltest.New().LabResult("lt_1", 0.1))), `laboratory test "lab_1"`},
		"a laboratory test of unknown results": {addLabTest(modeltest.New()), `unknown observation "lt_1"`},
		"a laboratory test of no results":      {modeltest.New().LabTest("lab_1", "Iron", nil), "group 0: missing items"},
		"a course of an unknown condition":     {modeltest.New().Course("c_1", time.Hour, 2*time.Hour), `course of unknown condition "c_1"`},
		"an article about a missing concept":   {modeltest.New().Article("c_1", "Migraine"), `article about unknown condition "c_1"`},
		"a time without a parent":              {modeltest.New().Symptom("s_1", 0.1, modeltest.WithDurationRange(time.Hour, 0)), "duration from 60"},
		"a group of unknown items":             {modeltest.New().Group(model.GroupSingle, "s_1"), `unknown observation "s_1"`},
		"a release that servers refuse":        {modeltest.New().Symptom("s_1", 2), "decoding the release"},
	} {
		if got := buildFailure(test.builder); !strings.Contains(got, test.wantErr) {
			t.Errorf("%s: Build failed with %q, want it to contain %q", name, got, test.wantErr)
		}
	}
	if got := buildFailure(modeltest.New()); got != "" {
		t.Errorf("failed to build an empty release: %s", got)
	}
}
