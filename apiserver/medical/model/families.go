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
				return fmt.Errorf("observation %s: observation %d is not a child or is out of order", r.ObservationID(ObservationIndex(i)), child)
			}
			last = child
		}
	}
	if children != len(r.ChildRefs) {
		return fmt.Errorf("expected %d observations in lists of children, one for each observation with a parent, got %d", children, len(r.ChildRefs))
	}
	if o := r.findParentCycle(); o != None {
		return fmt.Errorf("observation %s is its own ancestor", r.ObservationID(o))
	}
	return nil
}

func verifyParent(r *Release, o *Observation) error {
	if o.Parent == None {
		if o.Relation != NoRelation {
			return fmt.Errorf("relation %v requires a parent", o.Relation)
		}
		return nil
	}
	if o.Parent < 0 || int(o.Parent) >= len(r.Observations) {
		return fmt.Errorf("parent %d out of range [0,%d)", o.Parent, len(r.Observations))
	}
	if o.Relation == NoRelation || o.Kind != Symptom || r.Observations[o.Parent].Kind != Symptom {
		return errors.New("a parent requires a relation, and both parent and child must be symptoms")
	}
	return nil
}

// findParentCycle returns an observation on a cycle of parents, or None. Each walk
// toward the root stops at a previously visited observation.
func (r *Release) findParentCycle() ObservationIndex {
	visitedBy := make([]int32, len(r.Observations))
	for start := range r.Observations {
		walk := int32(start) + 1
		at := ObservationIndex(start)
		for at != None && visitedBy[at] == 0 {
			visitedBy[at] = walk
			at = r.Observations[at].Parent
		}
		if at != None && visitedBy[at] == walk {
			return at
		}
	}
	return None
}

// A FrequencyViolation is a part that is more frequent than its whole: a child that is
// more frequent than its parent, or the items of a single-choice group that together
// are more frequent than their parent. Package inference decomposes these numbers into
// noisy-OR terms, and a violation would make some of them negative.
type FrequencyViolation struct {
	// Condition is the condition with the conflicting probabilities, or None if the leaks
	// conflict.
	Condition ConditionIndex
	Parent    ObservationIndex
	Children  []ObservationIndex
	// Probability is the probability of the part, and Limit is the highest value that the
	// whole allows. For an observation that is not linked to the condition, the leak
	// counts.
	Probability, Limit float64
}

// FrequencyViolations yields every FrequencyViolation in the release, in order of child
// and group, leaks first.
//
// A part with share s and leak l fits into a whole with share S and leak L if s <= S, l
// <= L, and the links satisfy (s-l)/(1-l) <= (S-L)/(1-L). Ordered groups need no
// further check: because no share is below its leak, the items from one level up always
// fit into the items from the level below.
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
// condition linked to the part. It returns false if yield returned false.
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

func (r *Release) sumLeaks(observations []ObservationIndex) float64 {
	sum := 0.0
	for _, o := range observations {
		sum += r.Observations[o].Leak
	}
	return sum
}

// A linkIterator iterates, in index order, over the conditions linked to at least one of
// several observations.
type linkIterator struct {
	links [][]Link // remaining links of each observation
	leaks []float64
}

func (r *Release) iterateLinks(observations []ObservationIndex) *linkIterator {
	it := &linkIterator{}
	for _, o := range observations {
		it.links = append(it.links, Slice(r.LinksByObservation, r.Observations[o].Links))
		it.leaks = append(it.leaks, r.Observations[o].Leak)
	}
	return it
}

// next returns the first remaining condition without advancing.
func (it *linkIterator) next() (condition ConditionIndex, ok bool) {
	for _, links := range it.links {
		if len(links) > 0 && (!ok || ConditionIndex(links[0].Other) < condition) {
			condition, ok = ConditionIndex(links[0].Other), true
		}
	}
	return condition, ok
}

// advance returns the sum of the condition's shares and moves past the condition, which
// must not precede the current position.
func (it *linkIterator) advance(condition ConditionIndex) float64 {
	sum := 0.0
	for i := range it.links {
		for len(it.links[i]) > 0 && it.links[i][0].Other < int32(condition) {
			it.links[i] = it.links[i][1:]
		}
		if len(it.links[i]) > 0 && it.links[i][0].Other == int32(condition) {
			sum += it.links[i][0].Probability
			it.links[i] = it.links[i][1:]
		} else {
			sum += it.leaks[i]
		}
	}
	return sum
}

// verifyFrequencies returns an error for the first FrequencyViolation.
func verifyFrequencies(r *Release) error {
	for violation := range r.FrequencyViolations() {
		owner := "background"
		if violation.Condition != None {
			owner = r.ConditionID(violation.Condition)
		}
		return fmt.Errorf("observation %s: probability %v in %s exceeds the limit of %v set by %s", r.ObservationID(violation.Children[0]), violation.Probability, owner, violation.Limit, r.ObservationID(violation.Parent))
	}
	return nil
}
