// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"iter"
)

// verifyFamilies checks that parents and children name each other, and that
// no observation is its own ancestor.
func verifyFamilies(r *Release) error {
	children := 0
	for i := range r.Observations {
		o := &r.Observations[i]
		if err := verifyParent(r, o); err != nil {
			return fmt.Errorf("observation %s: %w", r.ObservationID(ObservationIndex(i)), err)
		}
		if o.Parent != None {
			children++
		}
	}
	for i := range r.Observations {
		o := &r.Observations[i]
		last := ObservationIndex(-1)
		for _, child := range Part(r.ChildRefs, o.Children) {
			if child <= last || int(child) >= len(r.Observations) || r.Observations[child].Parent != ObservationIndex(i) {
				return fmt.Errorf("observation %s: %d is no child of it, or out of order", r.ObservationID(ObservationIndex(i)), child)
			}
			last = child
		}
	}
	if children != len(r.ChildRefs) {
		return fmt.Errorf("%d observations have a parent, %d are children of one", children, len(r.ChildRefs))
	}
	if o := r.ownAncestor(); o != None {
		return fmt.Errorf("observation %s is its own ancestor", r.ObservationID(o))
	}
	return nil
}

func verifyParent(r *Release, o *Observation) error {
	if o.Parent == None {
		if o.Relation != NoRelation {
			return fmt.Errorf("relation %v to no parent", o.Relation)
		}
		return nil
	}
	if o.Parent < 0 || int(o.Parent) >= len(r.Observations) {
		return fmt.Errorf("parent %d, where there are %d observations", o.Parent, len(r.Observations))
	}
	if o.Relation == NoRelation || o.Kind != Symptom || r.Observations[o.Parent].Kind != Symptom {
		return errors.New("a parent without a relation to it, or one of the two is no symptom")
	}
	return nil
}

// ownAncestor finds an observation on a cycle of parents, or None. Each walk
// towards the root stops where an earlier one has been.
func (r *Release) ownAncestor() ObservationIndex {
	walkedBy := make([]int32, len(r.Observations))
	for start := range r.Observations {
		walk := int32(start) + 1
		at := ObservationIndex(start)
		for at != None && walkedBy[at] == 0 {
			walkedBy[at] = walk
			at = r.Observations[at].Parent
		}
		if at != None && walkedBy[at] == walk {
			return at
		}
	}
	return None
}

// An Excess is a place where a part is more frequent than its whole: a child
// than its parent, or the items of a group of which one holds, together, than
// theirs. The engine takes such numbers apart into noisy-OR terms, of which
// some would be negative.
type Excess struct {
	// Condition is the one whose shares are at odds, None when it is the
	// leaks.
	Condition ConditionIndex
	Whole     ObservationIndex
	Part      []ObservationIndex
	// Share is that of the part, Limit the highest that the whole allows.
	// An observation that the condition is not linked to counts with its
	// leak.
	Share, Limit float64
}

// Excesses yields every Excess in the release, in order of child and group,
// the leaks first.
//
// A part of share s and leak l fits into a whole of share S and leak L when
// s <= S, l <= L, and the links do the same: (s-l)/(1-l) <= (S-L)/(1-L).
// Within an ordered group nothing more is needed: as no share is under its
// leak, the items from one level up always fit into those from the level below.
func (r *Release) Excesses() iter.Seq[Excess] {
	return func(yield func(Excess) bool) {
		for i, o := range r.Observations {
			if o.Parent != None && !r.excessesOf(o.Parent, []ObservationIndex{ObservationIndex(i)}, yield) {
				return
			}
		}
		for _, g := range r.Groups {
			items := Part(r.GroupItems, g.Items)
			if g.Type == GroupSingle && g.Parent != None && !r.excessesOf(g.Parent, items, yield) {
				return
			}
		}
	}
}

// excessesOf compares a part with its whole, in the leaks and then for every
// condition linked to the part. It is false when yield wants no more.
func (r *Release) excessesOf(whole ObservationIndex, part []ObservationIndex, yield func(Excess) bool) bool {
	wholeLeak, partLeak := r.Observations[whole].Leak, r.leaks(part)
	if partLeak > wholeLeak {
		return yield(Excess{Condition: None, Whole: whole, Part: part, Share: partLeak, Limit: wholeLeak})
	}
	wholeLinks, partLinks := r.walk([]ObservationIndex{whole}), r.walk(part)
	for {
		condition, ok := partLinks.next()
		if !ok {
			return true
		}
		share, wholeShare := partLinks.share(condition), wholeLinks.share(condition)
		if share <= wholeShare && Lambda(share, partLeak) <= Lambda(wholeShare, wholeLeak) {
			continue
		}
		limit := min(wholeShare, 1-(1-partLeak)*(1-Lambda(wholeShare, wholeLeak)))
		if !yield(Excess{Condition: condition, Whole: whole, Part: part, Share: share, Limit: limit}) {
			return false
		}
	}
}

func (r *Release) leaks(of []ObservationIndex) float64 {
	sum := 0.0
	for _, o := range of {
		sum += r.Observations[o].Leak
	}
	return sum
}

// A linkWalk visits the conditions linked to any of some observations, in
// order of index.
type linkWalk struct {
	links [][]Link // what is still ahead, for each observation
	leaks []float64
}

func (r *Release) walk(observations []ObservationIndex) *linkWalk {
	w := &linkWalk{}
	for _, o := range observations {
		w.links = append(w.links, Part(r.LinksByObservation, r.Observations[o].Links))
		w.leaks = append(w.leaks, r.Observations[o].Leak)
	}
	return w
}

// next is the first condition ahead.
func (w *linkWalk) next() (condition ConditionIndex, ok bool) {
	for _, links := range w.links {
		if len(links) > 0 && (!ok || ConditionIndex(links[0].Other) < condition) {
			condition, ok = ConditionIndex(links[0].Other), true
		}
	}
	return condition, ok
}

// share adds up the shares of a condition, which must not be behind, and
// moves on to the conditions after it.
func (w *linkWalk) share(condition ConditionIndex) float64 {
	sum := 0.0
	for i := range w.links {
		for len(w.links[i]) > 0 && w.links[i][0].Other < int32(condition) {
			w.links[i] = w.links[i][1:]
		}
		if len(w.links[i]) > 0 && w.links[i][0].Other == int32(condition) {
			sum += w.links[i][0].Share
			w.links[i] = w.links[i][1:]
		} else {
			sum += w.leaks[i]
		}
	}
	return sum
}

// verifyFrequencies refuses the first Excess.
func verifyFrequencies(r *Release) error {
	for e := range r.Excesses() {
		whose := "background"
		if e.Condition != None {
			whose = r.ConditionID(e.Condition)
		}
		return fmt.Errorf("observation %s: %v in %s, over the %v that %s allows", r.ObservationID(e.Part[0]), e.Share, whose, e.Limit, r.ObservationID(e.Whole))
	}
	return nil
}
