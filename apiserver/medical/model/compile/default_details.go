// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// addDefaultDetails adds default findings for groups. If a condition lists a symptom
// but none of the items of a group that describes its details (severity, duration,
// location), the condition is neutral about the detail: its patients have each item as
// often as anyone with the symptom. Without the default, package inference would assume
// that the items never occur, and any detail would count against the condition.
func addDefaultDetails(draft *model.Draft) {
	for added := true; added; { // repeat, because another group may describe details of an item
		added = false
		for _, g := range draft.Groups {
			if g.Parent == nil || g.Parent.Leak == 0 {
				continue // not a detail, or already rejected
			}
			for _, d := range draft.Conditions {
				added = addDefaultFindings(d, g) || added
			}
		}
	}
}

// addDefaultFindings adds the items of a group to a condition that lists only their
// parent. The shares add up to at most the parent's share, because the leaks do.
func addDefaultFindings(d *model.DraftCondition, g *model.DraftGroup) (added bool) {
	parent := findingProbability(d, g.Parent)
	if parent == 0 || slices.ContainsFunc(g.Items, func(o *model.DraftObservation) bool { return refersTo(d, o) }) {
		return false
	}
	for _, o := range g.Items {
		if o.Leak == 0 || disjointSexes(o.Sex, d.Sex) || o.AgeTo < d.AgeFrom || o.AgeFrom > d.AgeTo {
			continue // no patient can have both, or already rejected
		}
		d.Findings = append(d.Findings, model.DraftFinding{Observation: o, Probability: defaultProbability(parent, g.Parent.Leak, o.Leak)})
		added = true
	}
	return added
}

// findingProbability returns the share of a finding, or zero if the condition does not
// list it.
func findingProbability(d *model.DraftCondition, o *model.DraftObservation) float64 {
	i := slices.IndexFunc(d.Findings, func(f model.DraftFinding) bool { return f.Observation == o })
	if i < 0 {
		return 0
	}
	return d.Findings[i].Probability
}

// refersTo reports whether a condition specifies anything about an observation.
func refersTo(d *model.DraftCondition, o *model.DraftObservation) bool {
	return findingProbability(d, o) > 0 || slices.ContainsFunc(d.Factors, func(f model.DraftFactor) bool { return f.Observation == o })
}

// roundingMargin prevents rounding errors from raising the shares of the items above
// the limit of the parent.
const roundingMargin = 1 - 1e-9

// defaultProbability returns the share of an item for a given share of its parent, if
// the item is as frequent as in anyone with the parent: share(parent)
// leak(item)/leak(parent). The expression is written so that the result cannot fall
// below the leak of the item.
func defaultProbability(parent, parentLeak, leak float64) float64 {
	return leak + (parent-parentLeak)*(leak/parentLeak)*roundingMargin
}
