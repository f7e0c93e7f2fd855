// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

func buildRelease(t *testing.T) *model.Release {
	t.Helper()
	return modeltest.New().
		Condition("c_1", 0.02, func(c *model.DraftCondition) {
			c.Name, c.CommonName, c.Triage = "Migraine", "One-sided headache", model.Consultation24
		}).
		Symptom("s_1", 0.05, func(o *model.DraftObservation) {
			o.Name, o.CommonName, o.Seriousness = "Cephalalgia", "Headache", model.SeriousnessEmergency
		}).
		Link("c_1", "s_1", 0.95).
		Build(t)
}

func TestNames(t *testing.T) {
	t.Parallel()
	r := buildRelease(t)
	symptom, _ := r.ObservationByID("s_1")
	condition, _ := r.ConditionByID("c_1")
	if diff := cmp.Diff(Name{"s_1", "Cephalalgia", "Headache"}, ObservationName(r, symptom)); diff != "" {
		t.Errorf("the symptom (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Name{"c_1", "Migraine", "One-sided headache"}, ConditionName(r, condition)); diff != "" {
		t.Errorf("the condition (-want +got):\n%s", diff)
	}
	if got := ItemName(r, symptom); got != "Headache" {
		t.Errorf("patients are asked for %q", got)
	}
}

func TestDescribeTriage(t *testing.T) {
	t.Parallel()
	r := buildRelease(t)
	symptom, _ := r.ObservationByID("s_1")
	found := inference.Triage{Level: model.Emergency, Serious: []inference.SeriousObservation{{Observation: symptom, Seriousness: model.SeriousnessEmergency}}}
	want := Triage{
		Level: "emergency", RootCause: found.RootCause.String(),
		Serious: []SeriousObservation{{Name{"s_1", "Cephalalgia", "Headache"}, "emergency", true}},
	}
	if diff := cmp.Diff(want, DescribeTriage(r, &found)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDescribeConditionThreeLevels(t *testing.T) {
	t.Parallel()
	r := buildRelease(t)
	condition, _ := r.ConditionByID("c_1")
	if got := DescribeCondition(r, condition, false).TriageLevel; got != "consultation_24" {
		t.Errorf("of five levels it has %s", got)
	}
	if got := DescribeCondition(r, condition, true).TriageLevel; got != "consultation" {
		t.Errorf("of three levels it has %s", got)
	}
}

// TestQuestionTypeForCoversAllTypes ensures that clients never receive a question
// without a type.
func TestQuestionTypeForCoversAllTypes(t *testing.T) {
	t.Parallel()
	for _, kind := range []inference.QuestionType{inference.Single, inference.GroupSingle, inference.GroupMultiple, inference.Duration} {
		if QuestionTypeFor(&inference.Question{Type: kind}) == "" {
			t.Errorf("type %d has no word", kind)
		}
	}
}
