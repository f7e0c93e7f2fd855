// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// headacheDraft returns a draft of headache by severity, and severe headache by location.
func headacheDraft() (draft *model.Draft, headache, mild, severe, left, right *model.DraftObservation) {
	symptom := func(leak float64) *model.DraftObservation {
		return &model.DraftObservation{Leak: leak, AgeTo: model.MaxAgeMonths}
	}
	headache, mild, severe, left, right = symptom(0.1), symptom(0.05), symptom(0.01), symptom(0.002), symptom(0.004)
	return &model.Draft{Groups: []*model.DraftGroup{
		// The inner group comes first: the order of groups must not matter.
		{Type: model.GroupMultiple, Parent: severe, Items: []*model.DraftObservation{left, right}},
		{Type: model.GroupSingle, Ordered: true, Parent: headache, Items: []*model.DraftObservation{mild, severe}},
	}}, headache, mild, severe, left, right
}

func TestDefaultDetails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		listed func(headache, severe *model.DraftObservation) *model.DraftCondition
		mild   float64
		severe float64
		left   float64
	}{
		{
			"the symptom only: like every patient with it, including the location",
			func(headache, _ *model.DraftObservation) *model.DraftCondition {
				return &model.DraftCondition{AgeTo: model.MaxAgeMonths, Findings: []model.DraftFinding{{Observation: headache, Probability: 0.8}}}
			}, 0.4, 0.08, 0.016,
		},
		{
			"one item: the others are rare on purpose",
			func(headache, severe *model.DraftObservation) *model.DraftCondition {
				return &model.DraftCondition{AgeTo: model.MaxAgeMonths, Findings: []model.DraftFinding{{Observation: headache, Probability: 0.8}, {Observation: severe, Probability: 0.5}}}
			}, 0, 0.5, 0.1,
		},
		{
			"an item that speaks against it",
			func(headache, severe *model.DraftObservation) *model.DraftCondition {
				return &model.DraftCondition{AgeTo: model.MaxAgeMonths, Findings: []model.DraftFinding{{Observation: headache, Probability: 0.8}}, Factors: []model.DraftFactor{{Observation: severe, Present: 0.2, Absent: 1.1}}}
			}, 0, 0, 0,
		},
		{
			"nothing",
			func(_, _ *model.DraftObservation) *model.DraftCondition {
				return &model.DraftCondition{AgeTo: model.MaxAgeMonths}
			},
			0, 0, 0,
		},
	} {
		draft, headache, mild, severe, left, _ := headacheDraft()
		d := test.listed(headache, severe)
		draft.Conditions = []*model.DraftCondition{d}
		addDefaultDetails(draft)
		for _, o := range []struct {
			name      string
			got, want float64
		}{{"mild", findingProbability(d, mild), test.mild}, {"severe", findingProbability(d, severe), test.severe}, {"left", findingProbability(d, left), test.left}} {
			if math.Abs(o.got-o.want) > 1e-8 {
				t.Errorf("%s: share %v of %s, want %v", test.name, o.got, o.name, o.want)
			}
		}
	}
}

func TestDefaultDetailsSkipInapplicableItems(t *testing.T) {
	t.Parallel()
	draft, headache, mild, severe, _, _ := headacheDraft()
	mild.AgeFrom, severe.Sex = 12, model.FemaleOnly
	d := &model.DraftCondition{AgeTo: 11, Sex: model.MaleOnly, Findings: []model.DraftFinding{{Observation: headache, Probability: 0.8}}}
	draft.Conditions = []*model.DraftCondition{d}
	addDefaultDetails(draft)
	if len(d.Findings) != 1 {
		t.Errorf("got %d findings, want the headache only: the items are for other ages and sexes", len(d.Findings))
	}
}

// TestDefaultProbabilitiesFitParent checks that a default share is never below the item's
// leak, and that the items of a group together never exceed the limit of their parent,
// with or without the leaks.
func TestDefaultProbabilitiesFitParent(t *testing.T) {
	t.Parallel()
	probability := rapid.Float64Range(1e-6, 1-1e-6)
	rapid.Check(t, func(t *rapid.T) {
		parentLeak := probability.Draw(t, "leak of the parent")
		parent := parentLeak + (1-parentLeak)*rapid.Float64Range(0, 1).Draw(t, "link of the parent")
		first := parentLeak * probability.Draw(t, "part of the first item")
		second := (parentLeak - first) * rapid.Float64Range(1e-6, 1).Draw(t, "part of the second item")
		shares := defaultProbability(parent, parentLeak, first) + defaultProbability(parent, parentLeak, second)
		if defaultProbability(parent, parentLeak, first) < first {
			t.Fatal("under its background")
		}
		const rounding = 1e-9
		if shares > parent+rounding || model.Lambda(shares, first+second) > model.Lambda(parent, parentLeak)+rounding {
			t.Fatalf("shares of %v together, where the parent has %v", shares, parent)
		}
	})
}
