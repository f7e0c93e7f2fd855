// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// Observations of one hierarchy are not independent, so they are weighed
// together, as a family. The model of a family, for each cause by itself (a
// condition that is there, or the leak):
//
//   - The cause brings the root with probability lambda.
//   - A cause that brought a parent brings each child on its own, with
//     probability lambda(child) / lambda(parent).
//   - Of the items of an exclusive group it brings one or none of these.
//
// An observation holds when some cause brings it. In an exclusive group the
// chosen item says that no cause brought an item that the choice rules out:
// any other item or, in an ordered group, a worse one. An absent item says
// that no cause brought that very item. For a parent with one child this is
// the noisy-MAX over absent, present, present with the child; for an ordered
// group the noisy-MAX over its items.
//
// Given what must not have been brought, every cause keeps a probability of
// staying silent about it, its negative factor, and each node a probability q
// of having been brought given its parent was. All terms are positive.

// A node is an observation of a family.
type node struct {
	observation model.ObservationIndex
	choice      Choice
	parent      int32 // the node above it, which stands before it, or none
	exclusive   int32 // the exclusive group that it is an item of, or none
	tip         int32 // its bit among the positive findings, or none
	tips        int32 // how many tips are at or below it
	root, depth int32
	level       int32 // its place among the items of the exclusive group
}

// An exclusive is an exclusive group of a plan: a run of sibling nodes.
type exclusive struct {
	start, end int32
	ordered    bool
}

const none = -1

// A plan lays out the findings that must be weighed together: families of
// nodes, parents before children, items of a group side by side.
type plan struct {
	nodes      []node
	exclusives []exclusive
	tips       int
}

// makePlan lays out the patient's findings. An absent observation without
// relatives needs no family: it is absorbed at once.
func (s *scratch) makePlan() {
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
	s.plan.connect(s.r)
	s.plan.choose()
	s.plan.findTips(s.brought)
}

// brought reports whether a condition that is possible for the patient brings
// an observation.
func (s *scratch) brought(o model.ObservationIndex) bool {
	links := model.Part(s.r.LinksByObservation, s.r.Observations[o].Links)
	for i := range links {
		if s.odds[links[i].Other] > 0 {
			return true
		}
	}
	return false
}

// absorbAbsent takes an absent observation into the odds: a condition that is
// there did not bring it.
func (s *scratch) absorbAbsent(o *model.Observation) {
	links := model.Part(s.r.LinksByObservation, o.Links)
	for i := range links {
		s.odds[links[i].Other] *= 1 - trueAnswers*links[i].Lambda
	}
}

// addWithRelatives adds an observation, its ancestors, and the items that
// exclude one of these. Until connect, nodes name their parent and group by
// their indexes in the release.
func (s *scratch) addWithRelatives(o model.ObservationIndex) {
	for ; o != model.None && !s.planned[o]; o = s.r.Observations[o].Parent {
		group := exclusiveGroup(s.r, o)
		if group == model.None {
			s.addNode(o, group, 0)
			continue
		}
		for level, item := range model.Part(s.r.GroupItems, s.r.Groups[group].Items) {
			s.addNode(item, group, level)
		}
	}
}

func (s *scratch) addNode(o model.ObservationIndex, group model.GroupIndex, level int) {
	if s.planned[o] || !s.p.admits(&s.r.Observations[o]) {
		return
	}
	s.planned[o] = true
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

// connect replaces the names of parents and groups by positions in the plan.
func (p *plan) connect(r *model.Release) {
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
		p.exclusives = append(p.exclusives, exclusive{start: int32(i), end: int32(i) + 1, ordered: ordered})
	}
}

// choose makes the items absent that the chosen item of their group rules out.
func (p *plan) choose() {
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
// observations without a present one below. A present observation that no
// possible condition brings says no more than its parent.
func (p *plan) findTips(brought func(model.ObservationIndex) bool) {
	p.tips = 0
	for i := range p.nodes {
		p.nodes[i].tips = 0
	}
	for i := len(p.nodes) - 1; i >= 0; i-- {
		n := &p.nodes[i]
		if n.choice == Present && n.tips == 0 && brought(n.observation) {
			n.tips, n.tip = 1, int32(p.tips)
			p.tips++
		}
		if n.parent != none {
			p.nodes[n.parent].tips += n.tips
		}
	}
}

// inOrderedGroup reports whether a node is a level of an ordered group.
func (p *plan) inOrderedGroup(node int) bool {
	x := p.nodes[node].exclusive
	return x != none && p.exclusives[x].ordered
}

// weigh turns the numbers of one cause for the nodes (lambda, or the share of
// each level in ordered groups once toLevels has run) into the probabilities
// q, in place, and returns the negative factor of the cause. keep is working
// memory of the same length.
func (p *plan) weigh(values, keep []float64) float64 {
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
			factor = p.weighNode(i, above, values, keep)
		case i == int(p.exclusives[n.exclusive].start):
			factor = p.weighExclusive(p.exclusives[n.exclusive], above, values, keep)
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

// weighNode weighs a node whose parent the cause brings with probability
// above: the node is not brought, or it is, where it may, and all below agree.
func (p *plan) weighNode(i int, above float64, values, keep []float64) float64 {
	brought := share(values[i], above)
	agree := 0.0
	if p.nodes[i].choice != Absent {
		agree = brought * keep[i]
	}
	factor := 1 - brought + agree
	values[i] = share(agree, factor)
	return factor
}

// weighExclusive weighs the items of an exclusive group: none of these, or one
// that may be brought and agrees with all below it.
func (p *plan) weighExclusive(x exclusive, above float64, values, keep []float64) float64 {
	total, agree := 0.0, 0.0
	for i := x.start; i < x.end; i++ {
		values[i] = share(values[i], above)
		total += values[i]
	}
	excess := max(total, 1)
	for i := x.start; i < x.end; i++ {
		if p.nodes[i].choice == Absent {
			values[i] = 0
		}
		values[i] *= keep[i] / excess
		agree += values[i]
	}
	factor := 1 - total/excess + agree
	for i := x.start; i < x.end; i++ {
		values[i] = share(values[i], factor)
	}
	return factor
}

// share is part / whole, a probability: 0 of nothing, at most 1.
func share(part, whole float64) float64 {
	if part <= 0 {
		return 0
	}
	return min(part/whole, 1)
}

// toLevels turns, in the numbers of a condition, the shares of the levels of
// ordered groups into the probability that the condition brings that level:
// the difference of the links for that level or worse and for a worse one.
func (p *plan) toLevels(values, leaks []float64) {
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
