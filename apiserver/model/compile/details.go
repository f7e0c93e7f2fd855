// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// addUsualDetails completes what conditions say about groups. A condition that
// lists a symptom and none of the items by which a group divides it (how bad,
// how long, where) has no view on the detail: its patients then have each item
// as often as anybody with the symptom. Without that the engine would read it
// as "never", and any detail at all would speak against the condition.
func addUsualDetails(draft *model.Draft) {
	for added := true; added; { // an item may be divided by a group of its own
		added = false
		for _, g := range draft.Groups {
			if g.Parent == nil || g.Parent.Leak == 0 {
				continue // nothing is divided, or refused already
			}
			for _, d := range draft.Conditions {
				added = addUsual(d, g) || added
			}
		}
	}
}

// addUsual adds the items of one group to a condition that lists their parent
// only. The shares add up to no more than the parent's, as the backgrounds do.
func addUsual(d *model.DraftCondition, g *model.DraftGroup) (added bool) {
	parent := shareOf(d, g.Parent)
	if parent == 0 || slices.ContainsFunc(g.Items, func(o *model.DraftObservation) bool { return concerns(d, o) }) {
		return false
	}
	for _, o := range g.Items {
		if o.Leak == 0 || disjoint(o.Sex, d.Sex) || o.AgeTo < d.AgeFrom || o.AgeFrom > d.AgeTo {
			continue // nobody has both, or refused already
		}
		d.Findings = append(d.Findings, model.DraftFinding{Observation: o, Share: usualShare(parent, g.Parent.Leak, o.Leak)})
		added = true
	}
	return added
}

// shareOf is the share of a finding, zero when the condition does not list it.
func shareOf(d *model.DraftCondition, o *model.DraftObservation) float64 {
	i := slices.IndexFunc(d.Findings, func(f model.DraftFinding) bool { return f.Observation == o })
	if i < 0 {
		return 0
	}
	return d.Findings[i].Share
}

// concerns reports whether a condition says anything about an observation.
func concerns(d *model.DraftCondition, o *model.DraftObservation) bool {
	return shareOf(d, o) > 0 || slices.ContainsFunc(d.Factors, func(f model.DraftFactor) bool { return f.Observation == o })
}

// justUnder keeps rounding from lifting the shares of the items over what the
// parent allows.
const justUnder = 1 - 1e-9

// usualShare is the share of an item among the patients who have its parent
// with the given share, when they have it as often as anybody with the parent:
// share(parent) leak(item)/leak(parent), written so that it cannot fall under
// the item's leak.
func usualShare(parent, parentLeak, leak float64) float64 {
	return leak + (parent-parentLeak)*(leak/parentLeak)*justUnder
}
