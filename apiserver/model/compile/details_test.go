// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// divided is a headache by severity, and severe headache by place.
func divided() (draft *model.Draft, headache, mild, severe, left, right *model.DraftObservation) {
	symptom := func(leak float64) *model.DraftObservation {
		return &model.DraftObservation{Leak: leak, AgeTo: model.MaxAge}
	}
	headache, mild, severe, left, right = symptom(0.1), symptom(0.05), symptom(0.01), symptom(0.002), symptom(0.004)
	return &model.Draft{Groups: []*model.DraftGroup{
		// The inner group stands first: the order of groups must not matter.
		{Type: model.GroupMultiple, Parent: severe, Items: []*model.DraftObservation{left, right}},
		{Type: model.GroupSingle, Ordered: true, Parent: headache, Items: []*model.DraftObservation{mild, severe}},
	}}, headache, mild, severe, left, right
}

func TestUsualDetails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		listed func(headache, severe *model.DraftObservation) *model.DraftCondition
		mild   float64
		severe float64
		left   float64
	}{
		{
			"the symptom only: as anybody with it, down to the place",
			func(headache, _ *model.DraftObservation) *model.DraftCondition {
				return &model.DraftCondition{AgeTo: model.MaxAge, Findings: []model.DraftFinding{{Observation: headache, Share: 0.8}}}
			}, 0.4, 0.08, 0.016,
		},
		{
			"one item: the others are rare on purpose",
			func(headache, severe *model.DraftObservation) *model.DraftCondition {
				return &model.DraftCondition{AgeTo: model.MaxAge, Findings: []model.DraftFinding{{Observation: headache, Share: 0.8}, {Observation: severe, Share: 0.5}}}
			}, 0, 0.5, 0.1,
		},
		{
			"an item that speaks against it",
			func(headache, severe *model.DraftObservation) *model.DraftCondition {
				return &model.DraftCondition{AgeTo: model.MaxAge, Findings: []model.DraftFinding{{Observation: headache, Share: 0.8}}, Factors: []model.DraftFactor{{Observation: severe, Present: 0.2, Absent: 1.1}}}
			}, 0, 0, 0,
		},
		{
			"nothing",
			func(_, _ *model.DraftObservation) *model.DraftCondition {
				return &model.DraftCondition{AgeTo: model.MaxAge}
			},
			0, 0, 0,
		},
	} {
		draft, headache, mild, severe, left, _ := divided()
		d := test.listed(headache, severe)
		draft.Conditions = []*model.DraftCondition{d}
		addUsualDetails(draft)
		for _, o := range []struct {
			name      string
			got, want float64
		}{{"mild", shareOf(d, mild), test.mild}, {"severe", shareOf(d, severe), test.severe}, {"left", shareOf(d, left), test.left}} {
			if math.Abs(o.got-o.want) > 1e-8 {
				t.Errorf("%s: share %v of %s, want %v", test.name, o.got, o.name, o.want)
			}
		}
	}
}

func TestNoUsualDetailForWhomItDoesNotApply(t *testing.T) {
	t.Parallel()
	draft, headache, mild, severe, _, _ := divided()
	mild.AgeFrom, severe.Sex = 12, model.FemaleOnly
	d := &model.DraftCondition{AgeTo: 11, Sex: model.MaleOnly, Findings: []model.DraftFinding{{Observation: headache, Share: 0.8}}}
	draft.Conditions = []*model.DraftCondition{d}
	addUsualDetails(draft)
	if len(d.Findings) != 1 {
		t.Errorf("got %d findings, want the headache only: the items are for other ages and sexes", len(d.Findings))
	}
}

// Whatever the numbers, a usual share is not under the item's background, nor
// do the items of a group together exceed what their parent allows: with the
// leaks taken out as well.
func TestUsualSharesFit(t *testing.T) {
	t.Parallel()
	probability := rapid.Float64Range(1e-6, 1-1e-6)
	rapid.Check(t, func(t *rapid.T) {
		parentLeak := probability.Draw(t, "leak of the parent")
		parent := parentLeak + (1-parentLeak)*rapid.Float64Range(0, 1).Draw(t, "link of the parent")
		first := parentLeak * probability.Draw(t, "part of the first item")
		second := (parentLeak - first) * rapid.Float64Range(1e-6, 1).Draw(t, "part of the second item")
		shares := usualShare(parent, parentLeak, first) + usualShare(parent, parentLeak, second)
		if usualShare(parent, parentLeak, first) < first {
			t.Fatal("under its background")
		}
		const rounding = 1e-9
		if shares > parent+rounding || model.Lambda(shares, first+second) > model.Lambda(parent, parentLeak)+rounding {
			t.Fatalf("shares of %v together, where the parent has %v", shares, parent)
		}
	})
}
