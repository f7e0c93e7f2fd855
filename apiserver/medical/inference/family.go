// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// Observations in one hierarchy are not independent, so they are evaluated together, as
// a family. For each single cause (a present condition, or the leak), the model of a
// family is:
//
//  - The cause produces the root with probability lambda.
//  - A cause that produced a parent produces each child independently, with
//    probability lambda(child) / lambda(parent).
//  - A cause produces at most one item of an exclusive group.
//
// An observation is present if at least one cause produced it. If an item of an
// exclusive group is chosen, no cause produced an item that the choice rules out: any
// other item or, in an ordered group, a worse one. An absent item means that no cause
// produced that particular item. For a parent with one child, this is the noisy-MAX
// over absent, present, and present with the child; for an ordered group, the noisy-MAX
// over its items.
//
// Given the negative findings, each cause has a negative factor, the probability that
// it produced none of them, and each node has a probability q that the cause produced
// it if it produced the parent. All terms are positive.

// A node is an observation of a family.
type node struct {
	observation model.ObservationIndex
	choice      Choice
	parent      int32 // parent node, which precedes this one, or none
	exclusive   int32 // exclusive group that contains it, or none
	tip         int32 // bit among the positive findings, or none
	tips        int32 // number of tips at or below it
	root, depth int32
	level       int32 // position among the items of the exclusive group
}

// An exclusiveRun is an exclusive group of a plan: a run of sibling nodes.
type exclusiveRun struct {
	start, end int32
	ordered    bool
}

const none = -1

// A plan lays out the findings that must be evaluated together: families of nodes, with
// parents before children and the items of a group next to each other.
type plan struct {
	nodes      []node
	exclusives []exclusiveRun
	tips       int
}

// buildPlan lays out the patient's findings. An absent observation without relatives
// needs no family and is applied to the odds immediately.
func (s *scratch) buildPlan() {
	s.plan.nodes = s.plan.nodes[:0]
	s.plan.exclusives = s.plan.exclusives[:0]
	for i := range s.p.findings {
		f := &s.p.findings[i]
		o := &s.r.Observations[f.observation]
		switch {
		case f.choice == Unknown:
		case f.choice == Absent && o.Parent == model.None && exclusiveGroup(s.r, f.observation) == model.None:
			s.absorbAbsent(o)
		default:
			s.addWithRelatives(f.observation)
		}
	}
	slices.SortFunc(s.plan.nodes, func(a, b node) int {
		return cmp.Or(cmp.Compare(a.root, b.root), cmp.Compare(a.depth, b.depth),
			cmp.Compare(a.parent, b.parent), cmp.Compare(a.exclusive, b.exclusive),
			cmp.Compare(a.level, b.level), cmp.Compare(a.observation, b.observation))
	})
	s.plan.resolveIndexes(s.r)
	s.plan.applyChoices()
	s.plan.findTips(s.hasPossibleCause)
}

// hasPossibleCause reports whether a condition that is possible for the patient causes
// an observation.
func (s *scratch) hasPossibleCause(o model.ObservationIndex) bool {
	links := model.Slice(s.r.LinksByObservation, s.r.Observations[o].Links)
	for i := range links {
		if s.odds[links[i].Other] > 0 {
			return true
		}
	}
	return false
}

// absorbAbsent reduces the odds of each condition by the probability that the condition
// would have caused an absent observation.
func (s *scratch) absorbAbsent(o *model.Observation) {
	links := model.Slice(s.r.LinksByObservation, o.Links)
	for i := range links {
		s.odds[links[i].Other] *= 1 - answerSensitivity*links[i].Lambda
	}
}

// addWithRelatives adds an observation, its ancestors, and the items that exclude it or
// an ancestor. Until resolveIndexes runs, nodes refer to their parent and group by
// release index.
func (s *scratch) addWithRelatives(o model.ObservationIndex) {
	for ; o != model.None && !s.inPlan[o]; o = s.r.Observations[o].Parent {
		group := exclusiveGroup(s.r, o)
		if group == model.None {
			s.addNode(o, group, 0)
			continue
		}
		for level, item := range model.Slice(s.r.GroupItems, s.r.Groups[group].Items) {
			s.addNode(item, group, level)
		}
	}
}

func (s *scratch) addNode(o model.ObservationIndex, group model.GroupIndex, level int) {
	if s.inPlan[o] || !s.p.isApplicable(&s.r.Observations[o]) {
		return
	}
	s.inPlan[o] = true
	n := node{observation: o, exclusive: int32(group), level: int32(level), parent: int32(s.r.Observations[o].Parent), tip: none}
	if f := s.p.find(o); f != nil {
		n.choice = f.choice
	}
	n.root = int32(o)
	for parent := s.r.Observations[o].Parent; parent != model.None; parent = s.r.Observations[parent].Parent {
		n.root = int32(parent)
		n.depth++
	}
	if top := exclusiveGroup(s.r, model.ObservationIndex(n.root)); top != model.None {
		n.root = int32(s.r.GroupItems[s.r.Groups[top].Items.Start])
	}
	s.plan.nodes = append(s.plan.nodes, n)
}

// resolveIndexes replaces release indexes of parents and groups with positions in the
// plan.
func (p *plan) resolveIndexes(r *model.Release) {
	for i := range p.nodes {
		n := &p.nodes[i]
		if n.parent != model.None {
			n.parent = int32(slices.IndexFunc(p.nodes[:i], func(above node) bool { return int32(above.observation) == n.parent }))
		}
		if n.exclusive == model.None {
			continue
		}
		group := n.exclusive
		ordered := r.Groups[group].Ordered
		n.exclusive = int32(len(p.exclusives)) - 1
		if i > 0 && r.Observations[p.nodes[i-1].observation].Group == model.GroupIndex(group) && p.nodes[i-1].exclusive != none {
			p.exclusives[n.exclusive].end++
			continue
		}
		n.exclusive++
		p.exclusives = append(p.exclusives, exclusiveRun{start: int32(i), end: int32(i) + 1, ordered: ordered})
	}
}

// applyChoices marks each item as absent that the chosen item of its group rules out.
func (p *plan) applyChoices() {
	for _, x := range p.exclusives {
		items := p.nodes[x.start:x.end]
		chosen := slices.IndexFunc(items, func(n node) bool { return n.choice == Present })
		if chosen == none {
			continue
		}
		for i := range items {
			switch {
			case i > chosen || i < chosen && !x.ordered:
				items[i].choice = Absent
			case i < chosen:
				items[i].choice = Unknown
			}
		}
	}
}

// findTips numbers the positive findings that must be explained: the present
// observations without a present descendant. If no possible condition causes a present
// observation, it adds no information to its parent.
func (p *plan) findTips(hasCause func(model.ObservationIndex) bool) {
	p.tips = 0
	for i := range p.nodes {
		p.nodes[i].tips = 0
	}
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n := &p.nodes[i]
		if n.choice == Present && n.tips == 0 && hasCause(n.observation) {
			n.tips, n.tip = 1, int32(p.tips)
			p.tips++
		}
		if n.parent != none {
			p.nodes[n.parent].tips += n.tips
		}
	}
}

// isOrderedLevel reports whether a node is a level of an ordered group.
func (p *plan) isOrderedLevel(node int) bool {
	x := p.nodes[node].exclusive
	return x != none && p.exclusives[x].ordered
}

// conditionOnNegatives converts the values of one cause for the nodes (lambda, or the
// probability of each level in ordered groups after toLevelProbabilities) in place to
// the probabilities q, and returns the negative factor of the cause. keep is scratch
// space of the same length.
func (p *plan) conditionOnNegatives(values, keep []float64) float64 {
	negative := 1.0
	for i := range keep {
		keep[i] = 1
	}
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n := &p.nodes[i]
		above := 1.0
		if n.parent != none {
			above = values[n.parent]
		}
		var factor float64
		switch {
		case n.exclusive == none:
			factor = p.conditionNode(i, above, values, keep)
		case i == int(p.exclusives[n.exclusive].start):
			factor = p.conditionExclusive(p.exclusives[n.exclusive], above, values, keep)
		default:
			continue
		}
		if n.parent == none {
			negative *= factor
		} else {
			keep[n.parent] *= factor
		}
	}
	return negative
}

// conditionNode conditions a node whose parent is caused with probability above: either
// the node is not caused or, if allowed, it is caused and all nodes below are
// consistent with the findings.
func (p *plan) conditionNode(i int, above float64, values, keep []float64) float64 {
	caused := clampedRatio(values[i], above)
	consistent := 0.0
	if p.nodes[i].choice != Absent {
		consistent = caused * keep[i]
	}
	factor := 1 - caused + consistent
	values[i] = clampedRatio(consistent, factor)
	return factor
}

// conditionExclusive conditions the items of an exclusive group: either no item is
// caused, or one item that is allowed and consistent with all nodes below it.
func (p *plan) conditionExclusive(x exclusiveRun, above float64, values, keep []float64) float64 {
	total, consistent := 0.0, 0.0
	for i := x.start; i < x.end; i++ {
		values[i] = clampedRatio(values[i], above)
		total += values[i]
	}
	excess := max(total, 1)
	for i := x.start; i < x.end; i++ {
		if p.nodes[i].choice == Absent {
			values[i] = 0
		}
		values[i] *= keep[i] / excess
		consistent += values[i]
	}
	factor := 1 - total/excess + consistent
	for i := x.start; i < x.end; i++ {
		values[i] = clampedRatio(values[i], factor)
	}
	return factor
}

// clampedRatio returns the probability part / whole: 0 if whole is 0, and at most 1.
func clampedRatio(part, whole float64) float64 {
	if part <= 0 {
		return 0
	}
	return min(part/whole, 1)
}

// toLevelProbabilities converts a condition's values for the levels of ordered groups
// in place: from the share of each level to the probability that the condition causes
// exactly that level: the link for that level or worse, minus the link for a worse
// level.
func (p *plan) toLevelProbabilities(values, leaks []float64) {
	for _, x := range p.exclusives {
		if !x.ordered {
			continue
		}
		share, leak, worse := 0.0, 0.0, 0.0
		for i := x.end - 1; i >= x.start; i-- {
			share += values[i]
			leak += leaks[i]
			link := max(model.Lambda(share, leak), worse)
			values[i] = link - worse
			worse = link
		}
	}
}
