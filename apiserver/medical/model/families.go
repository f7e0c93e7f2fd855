// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"iter"
)

// verifyFamilies checks that parents and children refer to each other, and that no
// observation is its own ancestor.
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
		for _, child := range Slice(r.ChildRefs, o.Children) {
			if child <= last || int(child) >= len(r.Observations) || r.Observations[child].Parent != ObservationIndex(i) {
				return fmt.Errorf("observation %s: %d is not one of its children, or out of order", r.ObservationID(ObservationIndex(i)), child)
			}
			last = child
		}
	}
	if children != len(r.ChildRefs) {
		return fmt.Errorf("%d observations have a parent, but %d are listed as children", children, len(r.ChildRefs))
	}
	if o := r.findParentCycle(); o != None {
		return fmt.Errorf("observation %s is its own ancestor", r.ObservationID(o))
	}
	return nil
}

func verifyParent(r *Release, o *Observation) error {
	if o.Parent == None {
		if o.Relation != NoRelation {
			return fmt.Errorf("relation %v without a parent", o.Relation)
		}
		return nil
	}
	if o.Parent < 0 || int(o.Parent) >= len(r.Observations) {
		return fmt.Errorf("parent %d out of range [0,%d)", o.Parent, len(r.Observations))
	}
	if o.Relation == NoRelation || o.Kind != Symptom || r.Observations[o.Parent].Kind != Symptom {
		return errors.New("parent without a relation, or one of the two is not a symptom")
	}
	return nil
}

// findParentCycle returns an observation on a cycle of parents, or None. Each walk toward
// the root stops at an observation visited before.
func (r *Release) findParentCycle() ObservationIndex {
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

// A FrequencyViolation is a part that is more frequent than its whole: a child more
// frequent than its parent, or the items of a single-choice group together more frequent
// than their parent. Package inference decomposes these numbers into noisy-OR terms, some
// of which would be negative.
type FrequencyViolation struct {
	// Condition is the condition whose probabilities conflict, or None if the leaks do.
	Condition ConditionIndex
	Parent    ObservationIndex
	Children  []ObservationIndex
	// Probability is the probability of the part, Limit the highest value that the whole
	// allows. An observation not linked to the condition counts with its leak.
	Probability, Limit float64
}

// FrequencyViolations yields every FrequencyViolation in the release, in order of child
// and group, leaks first.
//
// A part with share s and leak l fits into a whole with share S and leak L if s <= S, l
// <= L, and the links satisfy (s-l)/(1-l) <= (S-L)/(1-L). Ordered groups need no further
// check: since no share is below its leak, the items from one level up always fit into
// the items from the level below.
func (r *Release) FrequencyViolations() iter.Seq[FrequencyViolation] {
	return func(yield func(FrequencyViolation) bool) {
		for i, o := range r.Observations {
			if o.Parent != None && !r.yieldViolations(o.Parent, []ObservationIndex{ObservationIndex(i)}, yield) {
				return
			}
		}
		for _, g := range r.Groups {
			items := Slice(r.GroupItems, g.Items)
			if g.Type == GroupSingle && g.Parent != None && !r.yieldViolations(g.Parent, items, yield) {
				return
			}
		}
	}
}

// yieldViolations compares a part with its whole, first in the leaks and then for every
// condition linked to the part. It returns false if yield asked to stop.
func (r *Release) yieldViolations(whole ObservationIndex, part []ObservationIndex, yield func(FrequencyViolation) bool) bool {
	wholeLeak, partLeak := r.Observations[whole].Leak, r.sumLeaks(part)
	if partLeak > wholeLeak {
		return yield(FrequencyViolation{Condition: None, Parent: whole, Children: part, Probability: partLeak, Limit: wholeLeak})
	}
	wholeLinks, partLinks := r.iterateLinks([]ObservationIndex{whole}), r.iterateLinks(part)
	for {
		condition, ok := partLinks.next()
		if !ok {
			return true
		}
		share, wholeShare := partLinks.advance(condition), wholeLinks.advance(condition)
		if share <= wholeShare && Lambda(share, partLeak) <= Lambda(wholeShare, wholeLeak) {
			continue
		}
		limit := min(wholeShare, 1-(1-partLeak)*(1-Lambda(wholeShare, wholeLeak)))
		if !yield(FrequencyViolation{Condition: condition, Parent: whole, Children: part, Probability: share, Limit: limit}) {
			return false
		}
	}
}

func (r *Release) sumLeaks(of []ObservationIndex) float64 {
	sum := 0.0
	for _, o := range of {
		sum += r.Observations[o].Leak
	}
	return sum
}

// A linkIterator iterates over the conditions linked to any of several observations, in
// order of index.
type linkIterator struct {
	links [][]Link // remaining links of each observation
	leaks []float64
}

func (r *Release) iterateLinks(observations []ObservationIndex) *linkIterator {
	w := &linkIterator{}
	for _, o := range observations {
		w.links = append(w.links, Slice(r.LinksByObservation, r.Observations[o].Links))
		w.leaks = append(w.leaks, r.Observations[o].Leak)
	}
	return w
}

// next returns the first remaining condition without advancing.
func (w *linkIterator) next() (condition ConditionIndex, ok bool) {
	for _, links := range w.links {
		if len(links) > 0 && (!ok || ConditionIndex(links[0].Other) < condition) {
			condition, ok = ConditionIndex(links[0].Other), true
		}
	}
	return condition, ok
}

// advance returns the sum of the condition's shares and moves past the condition, which
// must not precede the current position.
func (w *linkIterator) advance(condition ConditionIndex) float64 {
	sum := 0.0
	for i := range w.links {
		for len(w.links[i]) > 0 && w.links[i][0].Other < int32(condition) {
			w.links[i] = w.links[i][1:]
		}
		if len(w.links[i]) > 0 && w.links[i][0].Other == int32(condition) {
			sum += w.links[i][0].Probability
			w.links[i] = w.links[i][1:]
		} else {
			sum += w.leaks[i]
		}
	}
	return sum
}

// verifyFrequencies returns an error for the first FrequencyViolation.
func verifyFrequencies(r *Release) error {
	for e := range r.FrequencyViolations() {
		whose := "background"
		if e.Condition != None {
			whose = r.ConditionID(e.Condition)
		}
		return fmt.Errorf("observation %s: %v in %s exceeds %v, the limit set by %s", r.ObservationID(e.Children[0]), e.Probability, whose, e.Limit, r.ObservationID(e.Parent))
	}
	return nil
}
