// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// family is a release with something in every section.
func family() *modeltest.Builder {
	return modeltest.New().
		Condition("c_2", 0.02, func(c *model.DraftCondition) {
			c.ICD10, c.Hint, c.Synonyms = "G43.9", "Rest.", []string{"megrim", "sick headache"}
		}).
		Condition("c_1", 0.1).
		Symptom("s_1", 0.05, func(o *model.DraftObservation) { o.Synonyms = []string{"head pain"} }).
		Child("s_2", "s_1", model.SeverityRelation, 0.03).
		Child("s_3", "s_1", model.SeverityRelation, 0.004).
		Symptom("s_4", 0.02).
		RiskFactor("p_7", 0.2).
		LabResult("lt_1", 0.01).
		OrderedGroup("s_2", "s_3").
		Group(model.GroupMultiple, "s_4").
		Tuple(model.Emergency, "s_4", "s_1").
		Link("c_2", "s_1", 0.99).Link("c_2", "s_3", 0.6).Link("c_2", "s_2", 0.2).
		Link("c_1", "s_1", 0.3).Link("c_1", "lt_1", 0.9).
		Factor("c_2", "p_7", 2, 0.8).Factor("c_1", "p_7", 1.5, 0.9).Factor("c_1", "s_4", 0.3, 1.2)
}

func TestLayoutSortsAndPointsBothWays(t *testing.T) {
	t.Parallel()
	r := family().Build(t)

	if got := []string{r.ConditionID(0), r.ConditionID(1)}; !slices.Equal(got, []string{"c_1", "c_2"}) {
		t.Errorf("conditions are in order %v", got)
	}
	headache, _ := r.ObservationByID("s_1")
	mild, _ := r.ObservationByID("s_2")
	severe, _ := r.ObservationByID("s_3")
	o := r.Observations[headache]
	if got := model.Part(r.ChildRefs, o.Children); !slices.Equal(got, []model.ObservationIndex{mild, severe}) {
		t.Errorf("children of s_1 are %v", got)
	}
	if r.Observations[severe].Parent != headache || r.Observations[severe].Relation != model.SeverityRelation {
		t.Errorf("s_3 has parent %d by %v", r.Observations[severe].Parent, r.Observations[severe].Relation)
	}
	var conditions []int32
	for _, link := range model.Part(r.LinksByObservation, o.Links) {
		conditions = append(conditions, link.Other)
	}
	if !slices.Equal(conditions, []int32{0, 1}) {
		t.Errorf("s_1 is linked to conditions %v", conditions)
	}
	overweight, _ := r.ObservationByID("p_7")
	factors := model.Part(r.Factors, r.Observations[overweight].Factors)
	want := []model.Factor{{Condition: 0, Present: 1.5, Absent: 0.9}, {Condition: 1, Present: 2, Absent: 0.8}}
	if !slices.Equal(factors, want) {
		t.Errorf("factors of p_7 are %v, want %v", factors, want)
	}
	group := r.Groups[r.Observations[severe].Group]
	if got := model.Part(r.GroupItems, group.Items); !group.Ordered || group.Parent != headache || !slices.Equal(got, []model.ObservationIndex{mild, severe}) {
		t.Errorf("the group of s_3 is %+v with items %v", group, got)
	}
	nausea, _ := r.ObservationByID("s_4")
	if got := model.Part(r.TupleItems, r.Tuples[0].Observations); !slices.Equal(got, []model.ObservationIndex{headache, nausea}) {
		t.Errorf("the tuple is of %v", got)
	}
}

func TestLayoutDerivesTheNumbersOfALink(t *testing.T) {
	t.Parallel()
	r := family().Build(t)
	migraine, _ := r.ConditionByID("c_2")
	link := model.Part(r.LinksByCondition, r.Conditions[migraine].Links)[0]
	if want := (0.99 - 0.05) / 0.95; math.Abs(link.Lambda-want) > 1e-15 {
		t.Errorf("lambda %v, want %v", link.Lambda, want)
	}
	if want := -0.99*math.Log(0.99) - 0.01*math.Log(0.01); math.Abs(link.Entropy-want) > 1e-15 {
		t.Errorf("entropy %v, want %v", link.Entropy, want)
	}
}

func TestLayoutKeepsTheWords(t *testing.T) {
	t.Parallel()
	r := family().Build(t)
	migraine, _ := r.ConditionByID("c_2")
	headache, _ := r.ObservationByID("s_1")
	c, o := r.Conditions[migraine], r.Observations[headache]
	got := []string{r.Text(c.Name), r.Text(c.ICD10), r.Text(c.Hint), r.Text(o.Question), r.Text(r.Specialists[0].Name)}
	want := []string{"c_2", "G43.9", "Rest.", "s_1?", "General practitioner"}
	if !slices.Equal(got, want) {
		t.Errorf("the words are %q, want %q", got, want)
	}
	var wordings []string
	for _, s := range r.Synonyms {
		wordings = append(wordings, r.Text(s.Wording))
	}
	if !slices.Equal(wordings, []string{"head pain", "megrim", "sick headache"}) {
		t.Errorf("the synonyms are %q", wordings)
	}
	if s := r.Synonyms[0]; s.Condition || s.Concept != int32(headache) {
		t.Errorf("head pain leads to %+v", s)
	}
	if got := r.Text(model.StringRef{}); got != "" {
		t.Errorf("the empty reference says %q", got)
	}
}

func TestSameDraftInAnyOrderGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	turned := family()
	slices.Reverse(turned.Draft().Conditions)
	slices.Reverse(turned.Draft().Observations)
	for _, c := range turned.Draft().Conditions {
		slices.Reverse(c.Findings)
		slices.Reverse(c.Factors)
	}
	if !bytes.Equal(family().Bytes(t), turned.Bytes(t)) {
		t.Error("the order of the draft shows in the bytes")
	}
}

func TestLayoutPanicsOnAConceptOutsideTheDraft(t *testing.T) {
	t.Parallel()
	b := modeltest.New().Condition("c_1", 0.1)
	b.Draft().Conditions[0].Findings = []model.DraftFinding{{Observation: &model.DraftObservation{}, Share: 0.5}}
	defer func() {
		if recover() == nil {
			t.Error("the draft was laid out")
		}
	}()
	b.Draft().Layout()
}
