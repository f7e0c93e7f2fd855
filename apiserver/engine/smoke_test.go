// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

func TestAssessSmallModel(t *testing.T) {
	r := modeltest.New().
		Condition("c_1", 0.02).Condition("c_2", 0.001).
		Symptom("s_1", 0.05).Symptom("s_2", 0.02).Symptom("s_3", 0.02).
		Link("c_1", "s_1", 0.8).Link("c_2", "s_1", 0.5).Link("c_2", "s_2", 0.9).Link("c_1", "s_3", 0.7).
		Build(t)
	p, err := NewPatient(r, model.Female, 400, []ReportedEvidence{{ID: "s_1", Choice: Present, Source: SourceInitial}})
	if err != nil {
		t.Fatal(err)
	}
	a := New().Assess(r, p, Options{})
	odds := 0.02 / 0.98 * 0.8 / 0.05
	if len(a.Conditions) != 1 || a.Conditions[0].Probability < odds/(1+odds)-0.02 {
		t.Errorf("%+v", a)
	}
	t.Logf("%+v %+v", a, a.Question)
}
