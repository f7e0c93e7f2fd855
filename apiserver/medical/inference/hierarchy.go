// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// applyHierarchy makes findings consistent with the hierarchy of observations, so that
// every fact is represented once:
//
//   - a present child implies its parents, even if they were denied;
//   - a present symptom has one of its levels: if all are denied, no level was chosen, and
//     all levels are unknown;
//   - findings below an absent parent carry no information;
//   - a chosen item of an exclusive group settles the other items; if several items are
//     chosen, the last one of the group takes precedence, which in an ordered group is the
//     worst.
func (p *Patient) applyHierarchy(r *model.Release) {
	for _, f := range slices.Clone(p.findings) {
		if f.choice == Present {
			p.markAncestorsPresent(r, f)
		}
	}
	for _, f := range p.findings {
		if p.deniesAllLevels(r, f.observation) {
			p.clearGroup(r, r.Observations[f.observation].Group)
		}
	}
	for i := range p.findings {
		f := &p.findings[i]
		switch {
		case f.choice == Present:
			p.present = append(p.present, f.observation)
		case p.hasAbsentAncestor(r, f.observation):
			f.choice = Unknown
		}
	}
	for _, o := range p.present {
		if group := exclusiveGroup(r, o); group != model.None && p.chosenItem(r, group) == o {
			p.settleGroup(r, group, o)
		}
	}
}

// markAncestorsPresent marks the ancestors of a present finding as present.
func (p *Patient) markAncestorsPresent(r *model.Release, f finding) {
	for parent := r.Observations[f.observation].Parent; parent != model.None; parent = r.Observations[parent].Parent {
		above := p.findOrInsert(parent)
		above.choice, above.refined = Present, true
	}
}

// deniesAllLevels reports whether an observation is a level of a present symptom and
// the patient denies every level of it.
func (p *Patient) deniesAllLevels(r *model.Release, o model.ObservationIndex) bool {
	group := r.Observations[o].Group
	if group == model.None || !r.Groups[group].Ordered {
		return false
	}
	if parent := p.find(r.Groups[group].Parent); parent == nil || parent.choice != Present {
		return false
	}
	return !slices.ContainsFunc(model.Slice(r.GroupItems, r.Groups[group].Items), func(item model.ObservationIndex) bool {
		f := p.find(item)
		return p.isApplicable(&r.Observations[item]) && (f == nil || f.choice != Absent)
	})
}

// clearGroup sets the findings about the items of a group to unknown.
func (p *Patient) clearGroup(r *model.Release, group model.GroupIndex) {
	for _, item := range model.Slice(r.GroupItems, r.Groups[group].Items) {
		if f := p.find(item); f != nil {
			f.choice = Unknown
		}
	}
}

// findOrInsert returns the finding about an observation. It inserts an unknown finding
// if none exists yet.
func (p *Patient) findOrInsert(o model.ObservationIndex) *finding {
	i, known := slices.BinarySearchFunc(p.findings, o, compareObservation)
	if !known {
		p.findings = slices.Insert(p.findings, i, finding{observation: o})
	}
	return &p.findings[i]
}

// hasAbsentAncestor reports whether an ancestor of the observation is absent.
func (p *Patient) hasAbsentAncestor(r *model.Release, o model.ObservationIndex) bool {
	for parent := r.Observations[o].Parent; parent != model.None; parent = r.Observations[parent].Parent {
		if f := p.find(parent); f != nil && f.choice == Absent {
			return true
		}
	}
	return false
}

// exclusiveGroup returns the exclusive group with several items that contains the
// observation, or model.None.
func exclusiveGroup(r *model.Release, o model.ObservationIndex) model.GroupIndex {
	group := r.Observations[o].Group
	if group == model.None || r.Groups[group].Type != model.GroupSingle {
		return model.None
	}
	return group
}

// chosenItem returns the present item of an exclusive group, or model.None.
func (p *Patient) chosenItem(r *model.Release, group model.GroupIndex) model.ObservationIndex {
	chosen := model.ObservationIndex(model.None)
	for _, item := range model.Slice(r.GroupItems, r.Groups[group].Items) {
		if f := p.find(item); f != nil && f.choice == Present {
			chosen = item
		}
	}
	return chosen
}

// settleGroup sets the other items of the group, and all observations below them, to
// unknown. If one of them was initial, the chosen item becomes initial.
func (p *Patient) settleGroup(r *model.Release, group model.GroupIndex, chosen model.ObservationIndex) {
	for _, item := range model.Slice(r.GroupItems, r.Groups[group].Items) {
		if item == chosen {
			continue
		}
		if p.hasInitialAtOrBelow(r, item) {
			p.find(chosen).initial = true
		}
		p.findOrInsert(item).choice = Unknown
		p.clearBelow(r, item)
	}
}

// hasInitialAtOrBelow reports whether an observation, or one below it, was reported as
// initial. hasInitialBelow considers only observations below it.
func (p *Patient) hasInitialAtOrBelow(r *model.Release, o model.ObservationIndex) bool {
	f := p.find(o)
	return f != nil && f.initial || p.hasInitialBelow(r, o)
}

func (p *Patient) hasInitialBelow(r *model.Release, o model.ObservationIndex) bool {
	return slices.ContainsFunc(p.findings, func(f finding) bool { return f.initial && isDescendant(r, f.observation, o) })
}

// clearBelow sets all findings below an item to unknown.
func (p *Patient) clearBelow(r *model.Release, item model.ObservationIndex) {
	for i := range p.findings {
		f := &p.findings[i]
		for parent := r.Observations[f.observation].Parent; parent != model.None; parent = r.Observations[parent].Parent {
			if parent == item {
				f.choice = Unknown
			}
		}
	}
}
