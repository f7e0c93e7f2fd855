// SPDX-License-Identifier: Apache-2.0

package language

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// noteDurations adds the children that say how long a finding has lasted. What
// is said without a finding in its sentence is said of the findings before, or
// of what the request knows to be present.
func (p *parser) noteDurations() {
	p.denyWhole()
	p.chooseDurations()
	for _, i := range p.durations {
		minutes, ok := p.minutesOf(i)
		if !ok {
			continue
		}
		said := p.saidOf(i)
		for _, at := range said {
			p.addChild(at, i, minutes)
		}
		if len(said) == 0 {
			p.addOfContext(i, minutes)
		}
	}
	slices.SortStableFunc(p.findings, p.compareFindings)
}

// denyWhole makes what is denied for some time denied altogether, unless it is
// said to be there as well: no fever for two days is no fever.
func (p *parser) denyWhole() {
	for at := range p.findings {
		f := &p.findings[at]
		denied := &p.r.Observations[f.observation]
		if f.absent && denied.LastsTo > 0 && denied.Parent != model.None && !p.isThere(denied.Parent) {
			f.observation = denied.Parent
		}
	}
}

// isThere reports whether a finding or one of its family is present.
func (p *parser) isThere(o model.ObservationIndex) bool {
	return slices.ContainsFunc(p.findings, func(f finding) bool {
		return !f.absent && !f.unsaid && p.matcher.related(f.observation, o)
	})
}

// chooseDurations lists the matches that say how long, those that overlap once:
// the one of more elements.
func (p *parser) chooseDurations() {
	m := &p.matcher
	p.durations = p.durations[:0]
	for i := range m.matches {
		if m.patternOf(i).Meaning == model.SaysDuration {
			p.durations = append(p.durations, i)
		}
	}
	slices.SortFunc(p.durations, p.chooser.compare)
	p.taken = resized(p.taken, len(m.words))
	p.durations = slices.DeleteFunc(p.durations, func(i int) bool { return !p.claim(m.tokens(&m.matches[i])) })
	slices.SortFunc(p.durations, m.compareTokens)
}

// minutesOf is the time that a match names.
func (p *parser) minutesOf(i int) (minutes float64, ok bool) {
	for _, token := range p.matcher.tokens(&p.matcher.matches[i]) {
		if time := p.matcher.words[token].time; time != none {
			return p.matcher.times[time].minutes, true
		}
	}
	return 0, false
}

// saidOf are the findings of which a match says how long: the nearest one
// before it in the sentence and those that a list puts together with it, or
// else the nearest ones behind it; and without any in the sentence the last one
// before.
func (p *parser) saidOf(i int) []int {
	tokens := p.matcher.tokens(&p.matcher.matches[i])
	first, last := int(tokens[0]), int(tokens[len(tokens)-1])
	before, behind, earlier := none, none, none
	for at := range p.findings {
		f := &p.findings[at]
		if !p.canLast(f, i) {
			continue
		}
		positions := p.tokensOf(f)
		begins, ends := int(positions[0]), int(positions[len(positions)-1])
		switch {
		case begins < first && p.sameSentence(ends, first):
			before = at
		case begins < first:
			earlier = at
		case behind == none && p.sameSentence(last, begins):
			behind = at
		}
	}
	switch {
	case before != none:
		return p.listedWith(before, -1, i)
	case behind != none:
		return p.listedWith(behind, +1, i)
	case earlier != none:
		return []int{earlier}
	}
	return nil
}

// sameSentence reports whether two tokens are of one sentence.
func (p *parser) sameSentence(a, b int) bool {
	return p.matcher.words[a].sentence == p.matcher.words[b].sentence
}

// canLast reports whether a match may say how long a finding has lasted: it is
// present, no other one said so, and no other time is of its own words.
func (p *parser) canLast(f *finding, i int) bool {
	if f.absent || f.unsaid || f.lasts {
		return false
	}
	m := &p.matcher
	return !slices.ContainsFunc(p.tokensOf(f), func(token int32) bool {
		return m.words[token].time != none && !slices.Contains(m.tokens(&m.matches[i]), token)
	})
}

// listedWith is a finding and those next to it in a direction with only
// separators between them, as far as a match may say how long they have lasted.
func (p *parser) listedWith(at, direction, i int) []int {
	list := []int{at}
	for next := at + direction; next >= 0 && next < len(p.findings); next += direction {
		f := &p.findings[next]
		if !p.canLast(f, i) || !p.adjoin(min(at, next), max(at, next)) {
			break
		}
		list = append(list, next)
		at = next
	}
	return list
}

// adjoin reports whether there are only separators and fillers between two
// findings.
func (p *parser) adjoin(first, second int) bool {
	a, b := p.tokensOf(&p.findings[first]), p.tokensOf(&p.findings[second])
	for i := int(a[len(a)-1]) + 1; i < int(b[0]); i++ {
		w := &p.matcher.words[i]
		if w.stops || !w.filler && w.kind != markToken && !w.joins {
			return false
		}
	}
	return true
}

// addChild adds the child of a finding, or of one of its ancestors, for the
// time that a match names, with the tokens of both.
func (p *parser) addChild(at, i int, minutes float64) {
	f := p.findings[at]
	child, ok := p.lasting(f.observation, minutes)
	if !ok {
		return
	}
	p.findings[at].lasts = true
	from, to := p.withTokens(&f, i)
	if p.r.Observations[f.observation].LastsTo > 0 { // a wording said it, less exactly
		p.findings[at].observation, p.findings[at].from, p.findings[at].to = child, from, to
		return
	}
	p.findings = append(p.findings, finding{observation: child, match: f.match, from: from, to: to, head: f.head, lasts: true})
}

// withTokens are the tokens of a finding and of a match, in matcher.positions.
func (p *parser) withTokens(f *finding, i int) (from, to int32) {
	m := &p.matcher
	start := len(m.positions)
	m.positions = append(m.positions, p.tokensOf(f)...)
	m.positions = append(m.positions, m.tokens(&m.matches[i])...)
	added := m.positions[start:]
	slices.Sort(added)
	end := start + len(slices.Compact(added))
	m.positions = m.positions[:end]
	return int32(start), int32(end)
}

// addOfContext adds the child of what the request knows to be present, when
// that is of one family only.
func (p *parser) addOfContext(i int, minutes float64) {
	child := model.ObservationIndex(model.None)
	for _, o := range p.query.Context {
		of, ok := p.lasting(o, minutes)
		if ok && child != model.None && of != child {
			return
		}
		if ok {
			child = of
		}
	}
	if child != model.None {
		found := p.matcher.matches[i]
		p.findings = append(p.findings, finding{observation: child, match: i, from: found.from, to: found.to, head: found.head, lasts: true})
	}
}

// lasting is the child of an observation, or of the nearest of its ancestors,
// that says that there has been something for so many minutes.
func (p *parser) lasting(o model.ObservationIndex, minutes float64) (child model.ObservationIndex, ok bool) {
	for ; o != model.None; o = p.r.Observations[o].Parent {
		for _, child := range model.Part(p.r.ChildRefs, p.r.Observations[o].Children) {
			lasts := &p.r.Observations[child]
			if lasts.LastsTo > 0 && float64(lasts.LastsFrom) <= minutes && (minutes < float64(lasts.LastsTo) || lasts.LastsTo == model.NoEnd) && p.applies(child) {
				return child, true
			}
		}
	}
	return model.None, false
}
