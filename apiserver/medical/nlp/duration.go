// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// addDurations refines findings to the children that match their stated duration. A duration
// without a finding in its sentence applies to earlier findings, or to the context of
// the query.
func (p *parser) addDurations() {
	p.generalizeNegatedDurations()
	p.selectDurations()
	for _, i := range p.durations {
		minutes, ok := p.durationMinutes(i)
		if !ok {
			continue
		}
		targets := p.durationTargets(i)
		for _, target := range targets {
			p.addDurationChild(target, i, minutes)
		}
		if len(targets) == 0 {
			p.addContextDuration(i, minutes)
		}
	}
	slices.SortStableFunc(p.findings, p.compareFindings)
}

// generalizeNegatedDurations replaces a negated duration with the absence of the whole
// observation, unless the text also states its presence: "no fever for two days" means
// no fever.
func (p *parser) generalizeNegatedDurations() {
	for i := range p.findings {
		f := &p.findings[i]
		denied := &p.r.Observations[f.observation]
		if f.absent && denied.DurationTo > 0 && denied.Parent != model.None && !p.isPresent(denied.Parent) {
			f.observation = denied.Parent
		}
	}
}

// isPresent reports whether an observation of the same family is present.
func (p *parser) isPresent(o model.ObservationIndex) bool {
	return slices.ContainsFunc(p.findings, func(f finding) bool {
		return !f.absent && !f.unasserted && p.matcher.sameFamily(f.observation, o)
	})
}

// selectDurations lists the matches that state a duration. If matches overlap, it keeps
// the one with more elements.
func (p *parser) selectDurations() {
	m := &p.matcher
	p.durations = p.durations[:0]
	for i := range m.matches {
		if m.patternOf(i).Meaning == model.MeaningDuration {
			p.durations = append(p.durations, i)
		}
	}
	slices.SortFunc(p.durations, p.selector.compare)
	p.taken = resize(p.taken, len(m.words))
	p.durations = slices.DeleteFunc(p.durations, func(i int) bool { return !p.claim(m.tokens(&m.matches[i])) })
	slices.SortFunc(p.durations, m.compareByPosition)
}

// durationMinutes returns the duration that a match states, in minutes.
func (p *parser) durationMinutes(i int) (minutes float64, ok bool) {
	for _, token := range p.matcher.tokens(&p.matcher.matches[i]) {
		if time := p.matcher.words[token].time; time != none {
			return p.matcher.times[time].minutes, true
		}
	}
	return 0, false
}

// durationTargets returns the findings to which a duration applies: the nearest finding
// before it in the sentence and the findings listed with it; otherwise the nearest
// finding after it and the findings listed with it; and if the sentence has no finding,
// the last finding before it.
func (p *parser) durationTargets(i int) []int {
	tokens := p.matcher.tokens(&p.matcher.matches[i])
	first, last := int(tokens[0]), int(tokens[len(tokens)-1])
	before, after, earlier := none, none, none
	for index := range p.findings {
		f := &p.findings[index]
		if !p.canTakeDuration(f, i) {
			continue
		}
		positions := p.findingTokens(f)
		begins, ends := int(positions[0]), int(positions[len(positions)-1])
		switch {
		case begins < first && p.sameSentence(ends, first):
			before = index
		case begins < first:
			earlier = index
		case after == none && p.sameSentence(last, begins):
			after = index
		}
	}
	switch {
	case before != none:
		return p.listNeighbors(before, -1, i)
	case after != none:
		return p.listNeighbors(after, +1, i)
	case earlier != none:
		return []int{earlier}
	}
	return nil
}

// sameSentence reports whether two tokens are in the same sentence.
func (p *parser) sameSentence(a, b int) bool {
	return p.matcher.words[a].sentence == p.matcher.words[b].sentence
}

// canTakeDuration reports whether a duration may apply to a finding: the finding is
// present, has no duration yet, and its own words contain no other time span.
func (p *parser) canTakeDuration(f *finding, i int) bool {
	if f.absent || f.unasserted || f.hasDuration {
		return false
	}
	m := &p.matcher
	return !slices.ContainsFunc(p.findingTokens(f), func(token int32) bool {
		return m.words[token].time != none && !slices.Contains(m.tokens(&m.matches[i]), token)
	})
}

// listNeighbors returns a finding and its neighbors in one direction, as long as only
// separators stand between them and the duration may apply to them.
func (p *parser) listNeighbors(at, direction, i int) []int {
	list := []int{at}
	for next := at + direction; next >= 0 && next < len(p.findings); next += direction {
		f := &p.findings[next]
		if !p.canTakeDuration(f, i) || !p.areAdjacent(min(at, next), max(at, next)) {
			break
		}
		list = append(list, next)
		at = next
	}
	return list
}

// areAdjacent reports whether only separators and fillers stand between two findings.
func (p *parser) areAdjacent(first, second int) bool {
	a, b := p.findingTokens(&p.findings[first]), p.findingTokens(&p.findings[second])
	for i := int(a[len(a)-1]) + 1; i < int(b[0]); i++ {
		w := &p.matcher.words[i]
		if w.endsSentence || !w.filler && w.kind != markToken && !w.joinsItems {
			return false
		}
	}
	return true
}

// addDurationChild adds a finding for the child of a finding, or of one of its
// ancestors, that matches the duration, with the tokens of both.
func (p *parser) addDurationChild(at, i int, minutes float64) {
	f := p.findings[at]
	child, ok := p.durationChild(f.observation, minutes)
	if !ok {
		return
	}
	p.findings[at].hasDuration = true
	from, to := p.mergeTokens(&f, i)
	if p.r.Observations[f.observation].DurationTo > 0 { // the wording stated the duration less precisely
		p.findings[at].observation, p.findings[at].from, p.findings[at].to = child, from, to
		return
	}
	p.findings = append(p.findings, finding{observation: child, match: f.match, from: from, to: to, head: f.head, hasDuration: true})
}

// mergeTokens appends the tokens of a finding and of a match to matcher.positions, and
// returns their range.
func (p *parser) mergeTokens(f *finding, i int) (from, to int32) {
	m := &p.matcher
	start := len(m.positions)
	m.positions = append(m.positions, p.findingTokens(f)...)
	m.positions = append(m.positions, m.tokens(&m.matches[i])...)
	added := m.positions[start:]
	slices.Sort(added)
	end := start + len(slices.Compact(added))
	m.positions = m.positions[:end]
	return int32(start), int32(end)
}

// addContextDuration adds a finding for the duration of the query's context, if the
// context belongs to a single family.
func (p *parser) addContextDuration(i int, minutes float64) {
	child := model.ObservationIndex(model.None)
	for _, o := range p.query.Context {
		next, ok := p.durationChild(o, minutes)
		if ok && child != model.None && next != child {
			return
		}
		if ok {
			child = next
		}
	}
	if child != model.None {
		found := p.matcher.matches[i]
		p.findings = append(p.findings, finding{observation: child, match: i, from: found.from, to: found.to, head: found.head, hasDuration: true})
	}
}

// durationChild returns the child of an observation, or of its nearest ancestor, for a
// duration in minutes.
func (p *parser) durationChild(o model.ObservationIndex, minutes float64) (child model.ObservationIndex, ok bool) {
	for ; o != model.None; o = p.r.Observations[o].Parent {
		for _, child := range model.Slice(p.r.ChildRefs, p.r.Observations[o].Children) {
			o := &p.r.Observations[child]
			if o.DurationTo > 0 && float64(o.DurationFrom) <= minutes && (minutes < float64(o.DurationTo) || o.DurationTo == model.NoUpperBound) && p.isApplicable(child) {
				return child, true
			}
		}
	}
	return model.None, false
}
