// SPDX-License-Identifier: Apache-2.0

package language

import (
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
const looserInLists = 8

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
		m.matchAll()
		p.keepAdjacent(before)
		p.chooser.choose(before)
		if len(p.chooser.chosen) == chosen {
			break
		}
	}
	m.passable, m.admits = nil, p.admits
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

// noteKnown sets by what it is known what vague wordings are about. It walks
// them and the findings side by side. It is false when nothing is known.
func (p *parser) noteKnown() bool {
	m := &p.matcher
	p.known = resized(p.known, len(p.r.Observations))
	for _, o := range p.query.Context {
		p.known[m.root(o)] = 1
	}
	slices.SortFunc(p.vague, m.compareTokens)
	next, resolves := 0, false
	for _, i := range p.vague {
		first := m.tokens(&m.matches[i])[0]
		for ; next < len(p.findings) && p.tokensOf(&p.findings[next])[0] < first; next++ {
			if f := &p.findings[next]; !f.absent && !f.unsaid {
				p.known[m.root(f.observation)] = p.tokensOf(f)[0] + 2
			}
		}
		m.matches[i].known = p.known[m.root(m.patternOf(i).Observation)]
		resolves = resolves || m.matches[i].known > 0
	}
	return resolves
}
