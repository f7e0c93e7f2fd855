// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

func TestFrequencyViolations(t *testing.T) {
	t.Parallel()
	// A parent with leak 0.1 and two children, linked to one condition.
	parent := func() *modeltest.Builder {
		return modeltest.New().Condition("c_1", 0.1).Symptom("s_1", 0.1)
	}
	children := func(b *modeltest.Builder, relation model.Relation, first, second float64) *modeltest.Builder {
		return b.Child("s_2", "s_1", relation, first).Child("s_3", "s_1", relation, second)
	}
	for _, test := range []struct {
		name  string
		build *modeltest.Builder
		want  []string
	}{
		{"children within their parent", children(parent(), model.LocationRelation, 0.09, 0.08).Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.8), nil},
		{"children as frequent as their parent", children(parent(), model.LocationRelation, 0.1, 0.1).Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.9), nil},
		{"a child without a link", children(parent(), model.LocationRelation, 0.09, 0.08).Link("c_1", "s_1", 0.9), nil},
		{"a child of a leak over the parent's", children(parent(), model.LocationRelation, 0.11, 0.05), []string{"leaks: [s_2] 0.11 over s_1 0.1"}},
		{"a child of a share over the parent's", children(parent(), model.LocationRelation, 0.1, 0.05).Link("c_1", "s_1", 0.5).Link("c_1", "s_2", 0.6), []string{"c_1: [s_2] 0.6 over s_1 0.5"}},
		// 0.5 with leak 0.1 is a link of 0.444; the child's 0.5 with leak 0.01 is a link of
		// 0.495.
		{"a child of a link over the parent's", children(parent(), model.LocationRelation, 0.01, 0.05).Link("c_1", "s_1", 0.5).Link("c_1", "s_2", 0.5), []string{"c_1: [s_2] 0.5 over s_1 0.45"}},
		{"a child linked without its parent", children(parent(), model.LocationRelation, 0.01, 0.05).Link("c_1", "s_2", 0.05), []string{"c_1: [s_2] 0.05 over s_1 0.01"}},
		{"many items, together over their parent", children(parent(), model.LocationRelation, 0.09, 0.08).Group(model.GroupMultiple, "s_2", "s_3").Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.8).Link("c_1", "s_3", 0.8), nil},
		{"one item of many, leaks over the parent's", children(parent(), model.CharacterRelation, 0.09, 0.08).Group(model.GroupSingle, "s_2", "s_3"), []string{"leaks: [s_2 s_3] 0.17 over s_1 0.1"}},
		{"one item of many, shares over the parent's", children(parent(), model.CharacterRelation, 0.05, 0.05).Group(model.GroupSingle, "s_2", "s_3").Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.5).Link("c_1", "s_3", 0.5), []string{"c_1: [s_2 s_3] 1 over s_1 0.9"}},
		{"one item linked, the other at its leak", children(parent(), model.CharacterRelation, 0.05, 0.05).Group(model.GroupSingle, "s_2", "s_3").Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.88), []string{"c_1: [s_2 s_3] 0.93 over s_1 0.9"}},
		{"levels within their parent", children(parent(), model.SeverityRelation, 0.05, 0.04).OrderedGroup("s_2", "s_3").Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.1).Link("c_1", "s_3", 0.7), nil},
		{"one item of many without a parent", modeltest.New().Symptom("s_1", 0.9).Symptom("s_2", 0.9).Group(model.GroupSingle, "s_1", "s_2"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := test.build.Draft().Build()
			var got []string
			for e := range r.FrequencyViolations() {
				owner := "leaks"
				if e.Condition != model.None {
					owner = r.ConditionID(e.Condition)
				}
				var part []string
				for _, o := range e.Children {
					part = append(part, r.ObservationID(o))
				}
				got = append(got, fmt.Sprintf("%s: %v %.4g over %s %.4g", owner, part, e.Probability, r.ObservationID(e.Parent), e.Limit))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFrequencyViolationsStopsEarly checks that a caller can stop at the first violation.
func TestFrequencyViolationsStopsEarly(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Symptom("s_1", 0.1).
		Child("s_2", "s_1", model.CharacterRelation, 0.2).Child("s_3", "s_1", model.CharacterRelation, 0.2).
		Group(model.GroupSingle, "s_2", "s_3").Draft().Build()
	for stop := 1; stop <= 3; stop++ {
		seen := 0
		for range r.FrequencyViolations() {
			if seen++; seen == stop {
				break
			}
		}
		if seen != stop {
			t.Errorf("after %d of three excesses %d were seen", stop, seen)
		}
	}
}
