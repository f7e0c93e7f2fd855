// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// selectMentions selects matches, and then finds further mentions in lists.
func (p *parser) selectMentions() {
	p.selector.selectFrom(0)
	p.findListItems()
	p.collectFindings()
}

// maxListPasses is the maximum number of searches for further list items. Each pass
// finds the items after the items from previous passes.
const maxListPasses = 2

// listPenalty is added to the skipped words of a match that spans list items, so that
// it ranks after others.
const listPenalty = 4

// findListItems finds the further items of lists, such as the jaw in "pain in my chest,
// left arm and jaw". The list items that share the word do not count as words between
// elements, and no other words may occur between elements.
func (p *parser) findListItems() {
	m := &p.matcher
	m.isSkippable, m.accepts = p.isSkippable, p.acceptsListItem
	for range maxListPasses {
		before, chosen := len(m.matches), len(p.selector.selected)
		if chosen == 0 || p.selector.separators[len(m.words)] == 0 {
			break
		}
		m.matchAll(p.hasListSeparator)
		p.keepAdjacent(before)
		p.selector.selectFrom(before)
		if len(p.selector.selected) == chosen {
			break
		}
	}
	m.isSkippable, m.accepts = nil, p.accepts
}

// hasListSeparator reports whether a sentence contains a separator of list items.
func (p *parser) hasListSeparator(from, to int) bool {
	return p.selector.separators[to] > p.selector.separators[from]
}

// keepAdjacent removes the matches, starting at index from, that skip words other than
// items of their list.
func (p *parser) keepAdjacent(from int) {
	m := &p.matcher
	kept := from
	for _, found := range m.matches[from:] {
		if p.selector.skipsOnlyListItems(m.tokens(&found)) {
			found.skipped += listPenalty
			m.matches[kept] = found
			kept++
		}
	}
	m.matches = m.matches[:kept]
}

func (p *parser) acceptsListItem(pattern *model.Pattern) bool {
	return pattern.Observation != model.None && pattern.Meaning != model.MeaningFollowUpMention && p.isApplicable(pattern.Observation)
}

// isSkippable reports whether a token does not count as a word between elements while
// searching lists.
func (p *parser) isSkippable(token int) bool {
	return p.matcher.words[token].joinsItems || p.matcher.words[token].comma || p.selector.holderCounts[token] > 0
}

// collectFindings creates findings from the selected matches, in order of appearance.
func (p *parser) collectFindings() {
	p.findings = p.findings[:0]
	for _, i := range p.selector.selected {
		found := &p.matcher.matches[i]
		p.findings = append(p.findings, finding{
			observation: p.matcher.patternOf(i).Observation, match: i, from: found.from, to: found.to, head: found.head,
		})
	}
	p.addRelativeFindings()
	slices.SortStableFunc(p.findings, p.compareFindings)
}

func (p *parser) compareFindings(a, b finding) int {
	return slices.Compare(p.findingTokens(&a), p.findingTokens(&b))
}

// findingTokens returns the tokens of a finding.
func (p *parser) findingTokens(f *finding) []int32 { return p.matcher.positions[f.from:f.to] }

// resolveVague repeats the selection with the vague wordings whose referent is now
// known: an observation of the same family, or a closely related one, is in the context
// of the query or present earlier in the text. It returns false if there are no such
// wordings.
func (p *parser) resolveVague() bool {
	m := &p.matcher
	p.vague = p.vague[:0]
	for i := range m.matches {
		if m.patternOf(i).Meaning == model.MeaningFollowUpMention {
			p.vague = append(p.vague, i)
		}
	}
	if len(p.vague) == 0 || !p.scoreVague() {
		return false
	}
	p.selector.reset(m)
	p.selector.selectFrom(0)
	p.collectFindings()
	return true
}

// dropUnrelatedVague removes present findings from vague wordings that are not closely
// enough related to their referents.
func (p *parser) dropUnrelatedVague() {
	p.findings = slices.DeleteFunc(p.findings, func(f finding) bool {
		if f.match == none || f.absent || p.matcher.patternOf(f.match).Meaning != model.MeaningFollowUpMention {
			return false
		}
		return p.matcher.matches[f.match].contextScore%(maxCloseness+1) < minCloseness
	})
}

// scoreVague sets the context scores of the vague wordings: later and closer topics
// score higher. It walks the wordings and the findings in parallel, and returns false
// if no wording scores.
func (p *parser) scoreVague() bool {
	m := &p.matcher
	slices.SortFunc(p.vague, m.compareByPosition)
	p.topics = p.topics[:0]
	next, resolves := 0, false
	for _, i := range p.vague {
		first := m.tokens(&m.matches[i])[0]
		for ; next < len(p.findings) && p.findingTokens(&p.findings[next])[0] < first; next++ {
			if f := &p.findings[next]; !f.absent && !f.unasserted {
				p.topics = append(p.topics, topic{observation: f.observation, token: p.findingTokens(f)[0] + 1})
			}
		}
		m.matches[i].contextScore = p.contextScore(m.patternOf(i).Observation)
		resolves = resolves || m.matches[i].contextScore > 0
	}
	return resolves
}

// A topic is an observation in the text that later wordings may refer to.
type topic struct {
	observation model.ObservationIndex
	token       int32 // its first token, plus 1
}

const (
	// maxTopics is the maximum number of topics, counted from the most recent, to which a
	// vague wording may refer.
	maxTopics = 4
	// maxCloseness is the closeness of observations of the same family. Other observations
	// need at least minCloseness, or minClosenessNegated if the mention is negated.
	maxCloseness        = 1000
	minCloseness        = 300
	minClosenessNegated = 150
)

// contextScore returns the score of the best topic for an observation: 0 if no topic
// fits, and higher for later and closer topics. The context of the query counts as
// preceding the text.
func (p *parser) contextScore(o model.ObservationIndex) int32 {
	best := int32(0)
	consider := func(t topic) {
		if score := p.closeness(o, t.observation); score >= minClosenessNegated {
			best = max(best, t.token*(maxCloseness+1)+score)
		}
	}
	for _, o2 := range p.query.Context {
		consider(topic{observation: o2})
	}
	for _, named := range p.topics[max(0, len(p.topics)-maxTopics):] {
		consider(named)
	}
	return best
}

// closeness returns how strongly two observations relate to the same conditions, in
// thousandths: the cosine similarity of their shares. A refinement is close to its own
// family only. After the budget is exhausted, closeness returns 0.
func (p *parser) closeness(a, b model.ObservationIndex) int32 {
	if p.matcher.budget < 0 {
		return 0
	}
	switch p.matcher.budget--; {
	case p.matcher.root(a) == p.matcher.root(b):
		return maxCloseness
	case p.r.Observations[a].Parent != model.None:
		return 0
	}
	linksA, linksB := p.observationLinks(a), p.observationLinks(b)
	p.matcher.budget -= len(linksA) + len(linksB)
	return int32((maxCloseness - 1) * cosineSimilarity(linksA, linksB))
}

// observationLinks returns the links of an observation. Risk factors have no links, so
// their factors take the place of links: "my knee hurts, no injury" refers to a knee
// injury.
func (p *parser) observationLinks(o model.ObservationIndex) []model.Link {
	observation := &p.r.Observations[o]
	if observation.Links.Len() > 0 {
		return model.Slice(p.r.LinksByObservation, observation.Links)
	}
	var links []model.Link
	for _, f := range model.Slice(p.r.Factors, observation.Factors) {
		links = append(links, model.Link{Other: int32(f.Condition), Probability: model.FactorProbability(observation.Leak, f.Present, f.Absent)})
	}
	return links
}

func cosineSimilarity(a, b []model.Link) float64 {
	var product, squareA, squareB float64
	for _, link := range a {
		squareA += link.Probability * link.Probability
	}
	for _, link := range b {
		squareB += link.Probability * link.Probability
	}
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Other < b[0].Other:
			a = a[1:]
		case a[0].Other > b[0].Other:
			b = b[1:]
		default:
			product += a[0].Probability * b[0].Probability
			a, b = a[1:], b[1:]
		}
	}
	if product == 0 {
		return 0
	}
	return product / math.Sqrt(squareA*squareB)
}
