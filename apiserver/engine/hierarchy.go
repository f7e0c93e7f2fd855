// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// collapse makes findings consistent with the hierarchy of observations, so
// that every fact stands once:
//
//   - a present child implies its parents, even when they were denied;
//   - a present symptom has one of its levels: when all are denied, none was
//     chosen, and nothing is known about them;
//   - what was said below an absent parent says nothing more;
//   - a chosen item of an exclusive group settles the other items, and of
//     several chosen items the last of the group, which in an ordered group is
//     the worst, is believed.
func (p *Patient) collapse(r *model.Release) {
	for _, f := range slices.Clone(p.findings) {
		if f.choice == Present {
			p.believe(r, f)
		}
	}
	for _, f := range p.findings {
		if p.noneChosen(r, f.observation) {
			p.forget(r, r.Observations[f.observation].Group)
		}
	}
	for i := range p.findings {
		f := &p.findings[i]
		switch {
		case f.choice == Present:
			p.present = append(p.present, f.observation)
		case p.underAbsent(r, f.observation):
			f.choice = Unknown
		}
	}
	for _, o := range p.present {
		if group := exclusiveGroup(r, o); group != model.None && p.chosen(r, group) == o {
			p.settle(r, group, o)
		}
	}
}

// believe makes the ancestors of a present finding present.
func (p *Patient) believe(r *model.Release, f finding) {
	for parent := r.Observations[f.observation].Parent; parent != model.None; parent = r.Observations[parent].Parent {
		above := p.know(parent)
		above.choice, above.refined = Present, true
	}
}

// noneChosen reports whether an observation is a level of a present symptom, of
// which the patient denies every level.
func (p *Patient) noneChosen(r *model.Release, o model.ObservationIndex) bool {
	group := r.Observations[o].Group
	if group == model.None || !r.Groups[group].Ordered {
		return false
	}
	if parent := p.find(r.Groups[group].Parent); parent == nil || parent.choice != Present {
		return false
	}
	return !slices.ContainsFunc(model.Part(r.GroupItems, r.Groups[group].Items), func(item model.ObservationIndex) bool {
		f := p.find(item)
		return p.admits(&r.Observations[item]) && (f == nil || f.choice != Absent)
	})
}

// forget makes what was said about the items of a group say nothing.
func (p *Patient) forget(r *model.Release, group model.GroupIndex) {
	for _, item := range model.Part(r.GroupItems, r.Groups[group].Items) {
		if f := p.find(item); f != nil {
			f.choice = Unknown
		}
	}
}

// know is the finding about an observation, which says nothing when it is new.
func (p *Patient) know(o model.ObservationIndex) *finding {
	i, known := slices.BinarySearchFunc(p.findings, o, byObservation)
	if !known {
		p.findings = slices.Insert(p.findings, i, finding{observation: o})
	}
	return &p.findings[i]
}

// underAbsent reports whether an ancestor of the observation is absent.
func (p *Patient) underAbsent(r *model.Release, o model.ObservationIndex) bool {
	for parent := r.Observations[o].Parent; parent != model.None; parent = r.Observations[parent].Parent {
		if f := p.find(parent); f != nil && f.choice == Absent {
			return true
		}
	}
	return false
}

// exclusiveGroup is the group of which the observation is one of several items
// that exclude each other, or None.
func exclusiveGroup(r *model.Release, o model.ObservationIndex) model.GroupIndex {
	group := r.Observations[o].Group
	if group == model.None || r.Groups[group].Type != model.GroupSingle {
		return model.None
	}
	return group
}

// chosen is the item of an exclusive group that holds, or None.
func (p *Patient) chosen(r *model.Release, group model.GroupIndex) model.ObservationIndex {
	chosen := model.ObservationIndex(model.None)
	for _, item := range model.Part(r.GroupItems, r.Groups[group].Items) {
		if f := p.find(item); f != nil && f.choice == Present {
			chosen = item
		}
	}
	return chosen
}

// settle makes the items beside the chosen one, and all below them, known to
// say nothing more. The chosen one stands for what was initial of these.
func (p *Patient) settle(r *model.Release, group model.GroupIndex, chosen model.ObservationIndex) {
	for _, item := range model.Part(r.GroupItems, r.Groups[group].Items) {
		if item == chosen {
			continue
		}
		if p.initialFrom(r, item) {
			p.find(chosen).initial = true
		}
		p.know(item).choice = Unknown
		p.silence(r, item)
	}
}

// initialFrom reports whether an observation, or one below it, was given as
// what brought the patient here; initialBelow whether one below it was.
func (p *Patient) initialFrom(r *model.Release, o model.ObservationIndex) bool {
	f := p.find(o)
	return f != nil && f.initial || p.initialBelow(r, o)
}

func (p *Patient) initialBelow(r *model.Release, o model.ObservationIndex) bool {
	return slices.ContainsFunc(p.findings, func(f finding) bool { return f.initial && descends(r, f.observation, o) })
}

// silence makes all that was said below an item say nothing.
func (p *Patient) silence(r *model.Release, item model.ObservationIndex) {
	for i := range p.findings {
		f := &p.findings[i]
		for parent := r.Observations[f.observation].Parent; parent != model.None; parent = r.Observations[parent].Parent {
			if parent == item {
				f.choice = Unknown
			}
		}
	}
}
