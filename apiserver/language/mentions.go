// SPDX-License-Identifier: Apache-2.0

package language

import (
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// chooseMentions chooses among the matches, and then finds what else a list
// says of the mentions in it.
func (p *parser) chooseMentions() {
	p.chooser.choose(0)
	p.findListed()
	p.gatherFindings()
}

// listPasses is how often a text is searched for further items of lists: each
// time those are found that stand behind the ones found before.
const listPasses = 2

// looserInLists is what a match across the items of a list comes behind others.
const looserInLists = 4

// findListed finds the further items of lists, as the jaw in "pain in my chest,
// left arm and jaw": the items with the same word count for nothing between
// elements, and no others may stand there.
func (p *parser) findListed() {
	m := &p.matcher
	m.passable, m.admits = p.passable, p.admitsListed
	for range listPasses {
		before, chosen := len(m.matches), len(p.chooser.chosen)
		if chosen == 0 || p.chooser.separators[len(m.words)] == 0 {
			break
		}
		m.matchAll(p.hasList)
		p.keepAdjacent(before)
		p.chooser.choose(before)
		if len(p.chooser.chosen) == chosen {
			break
		}
	}
	m.passable, m.admits = nil, p.admits
}

// hasList reports whether a sentence has what separates the items of a list.
func (p *parser) hasList(from, to int) bool {
	return p.chooser.separators[to] > p.chooser.separators[from]
}

// keepAdjacent leaves of the matches from one on those that pass over nothing
// but other items of their list.
func (p *parser) keepAdjacent(from int) {
	m := &p.matcher
	kept := from
	for _, found := range m.matches[from:] {
		if p.chooser.adjacent(m.tokens(&found)) {
			found.loose += looserInLists
			m.matches[kept] = found
			kept++
		}
	}
	m.matches = m.matches[:kept]
}

func (p *parser) admitsListed(pattern *model.Pattern) bool {
	return pattern.Observation != model.None && pattern.Meaning != model.MentionsAfter && p.applies(pattern.Observation)
}

// passable reports whether a token counts for nothing while lists are searched.
func (p *parser) passable(token int) bool {
	return p.matcher.words[token].joins || p.matcher.words[token].comma || p.chooser.held[token] > 0
}

// gatherFindings makes findings of the chosen matches, in order of appearance.
func (p *parser) gatherFindings() {
	p.findings = p.findings[:0]
	for _, i := range p.chooser.chosen {
		found := &p.matcher.matches[i]
		p.findings = append(p.findings, finding{
			observation: p.matcher.patternOf(i).Observation, match: i, from: found.from, to: found.to, head: found.head,
		})
	}
	p.findKins()
	slices.SortStableFunc(p.findings, p.compareFindings)
}

func (p *parser) compareFindings(a, b finding) int {
	return slices.Compare(p.tokensOf(&a), p.tokensOf(&b))
}

// tokensOf are the positions of a finding.
func (p *parser) tokensOf(f *finding) []int32 { return p.matcher.positions[f.from:f.to] }

// resolveVague chooses anew, with the vague wordings of which it is now known
// what they are about: an observation of the family is in the context of the
// request, or present earlier in the text. It is false when there are none.
func (p *parser) resolveVague() bool {
	m := &p.matcher
	p.vague = p.vague[:0]
	for i := range m.matches {
		if m.patternOf(i).Meaning == model.MentionsAfter {
			p.vague = append(p.vague, i)
		}
	}
	if len(p.vague) == 0 || !p.noteKnown() {
		return false
	}
	p.chooser.begin(m)
	p.chooser.choose(0)
	p.gatherFindings()
	return true
}

// dropDistant leaves out what vague wordings say that is not close enough to be
// there.
func (p *parser) dropDistant() {
	p.findings = slices.DeleteFunc(p.findings, func(f finding) bool {
		if f.match == none || f.absent || p.matcher.patternOf(f.match).Meaning != model.MentionsAfter {
			return false
		}
		return p.matcher.matches[f.match].known%(closest+1) < closeEnough
	})
}

// noteKnown sets by what it is known what vague wordings are about: the later
// in the text and the closer, the better. It walks them and the findings side
// by side. It is false when nothing is known.
func (p *parser) noteKnown() bool {
	m := &p.matcher
	slices.SortFunc(p.vague, m.compareTokens)
	p.topics = p.topics[:0]
	next, resolves := 0, false
	for _, i := range p.vague {
		first := m.tokens(&m.matches[i])[0]
		for ; next < len(p.findings) && p.tokensOf(&p.findings[next])[0] < first; next++ {
			if f := &p.findings[next]; !f.absent && !f.unsaid {
				p.topics = append(p.topics, topic{observation: f.observation, token: p.tokensOf(f)[0] + 1})
			}
		}
		m.matches[i].known = p.aboutTopics(m.patternOf(i).Observation)
		resolves = resolves || m.matches[i].known > 0
	}
	return resolves
}

// A topic is an observation of the text that what follows may be about.
type topic struct {
	observation model.ObservationIndex
	token       int32 // 1 + its first one
}

const (
	// mostTopics is how many topics of the text a vague wording may be about, from
	// the last one that was named.
	mostTopics = 4
	// closest is how close an observation is to one of its own family, closeEnough
	// how close another one must be to be meant, and closeEnoughDenied the same
	// where it is denied.
	closest           = 1000
	closeEnough       = 300
	closeEnoughDenied = 150
)

// aboutTopics says by what it is known that an observation is meant: 0 by
// nothing, more by what is later in the text, and by what is closer. What the
// request knows comes before all of the text.
func (p *parser) aboutTopics(o model.ObservationIndex) int32 {
	best := int32(0)
	consider := func(about topic) {
		if near := p.closeness(o, about.observation); near >= closeEnoughDenied {
			best = max(best, about.token*(closest+1)+near)
		}
	}
	for _, known := range p.query.Context {
		consider(topic{observation: known})
	}
	for _, named := range p.topics[max(0, len(p.topics)-mostTopics):] {
		consider(named)
	}
	return best
}

// closeness is how much two observations are of the same conditions, in
// thousandths: the cosine of their shares. What refines an observation is close
// to its family alone, and nothing is close when the work is used up.
func (p *parser) closeness(o, other model.ObservationIndex) int32 {
	if p.matcher.work < 0 {
		return 0
	}
	switch p.matcher.work--; {
	case p.matcher.root(o) == p.matcher.root(other):
		return closest
	case p.r.Observations[o].Parent != model.None:
		return 0
	}
	a, b := p.linksOf(o), p.linksOf(other)
	p.matcher.work -= len(a) + len(b)
	return int32((closest - 1) * cosine(a, b))
}

// linksOf are the links of an observation or, of a risk factor, which has none, its
// factors as if they were: "my knee hurts, no injury" is about one of the knee.
func (p *parser) linksOf(o model.ObservationIndex) []model.Link {
	observed := &p.r.Observations[o]
	if observed.Links.Len() > 0 {
		return model.Part(p.r.LinksByObservation, observed.Links)
	}
	var links []model.Link
	for _, f := range model.Part(p.r.Factors, observed.Factors) {
		links = append(links, model.Link{Other: int32(f.Condition), Share: model.CarrierShare(observed.Leak, f.Present, f.Absent)})
	}
	return links
}

func cosine(a, b []model.Link) float64 {
	var product, squareA, squareB float64
	for _, link := range a {
		squareA += link.Share * link.Share
	}
	for _, link := range b {
		squareB += link.Share * link.Share
	}
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Other < b[0].Other:
			a = a[1:]
		case a[0].Other > b[0].Other:
			b = b[1:]
		default:
			product += a[0].Share * b[0].Share
			a, b = a[1:], b[1:]
		}
	}
	if product == 0 {
		return 0
	}
	return product / math.Sqrt(squareA*squareB)
}
