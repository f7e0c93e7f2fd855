// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

const (
	// minChance is the minimum probability for classifying a clause without a wording,
	// minChanceFirstSymptom applies while the text has no symptom yet, and
	// minChanceWithWording applies to clauses with a wording.
	minChance             = 0.6
	minChanceFirstSymptom = 0.2
	minChanceWithWording  = 0.8
	// maxMergedClauses is the maximum number of adjacent clauses that are classified
	// together.
	maxMergedClauses = 3
	// minCueWeight is the minimum weight for a cue to count as a content word in the
	// classification, such as "can't" in "can't bend my knee".
	minCueWeight = 1.0
)

// A clause is a run of tokens between two separators, including words such as "but".
type clause struct {
	from, to       int
	findings       []int // findings with a token in the clause
	startsSentence bool  // the clause starts a sentence
}

// classifyClauses adds findings for clauses that no wording covers. It reports whether
// the findings changed.
func (p *parser) classifyClauses() bool {
	p.classifier.prepare(&p.matcher, p.isApplicable)
	p.markCues()
	p.splitClauses()
	minChance, before, replaced := p.standaloneMinChance(), len(p.findings), false
	for from, to := 0, 0; from < len(p.clauses); from = to {
		to = from + 1
		if len(p.clauses[from].findings) > 0 {
			replaced = p.classifyClauseWithFindings(&p.clauses[from]) || replaced
			continue
		}
		for to < len(p.clauses) && !p.clauses[to].startsSentence && len(p.clauses[to].findings) == 0 {
			to++
		}
		p.segmentClauses(p.clauses[from:to], minChance)
	}
	changed := replaced || len(p.findings) > before
	p.findings = slices.DeleteFunc(p.findings, func(f finding) bool { return f.dropped })
	slices.SortStableFunc(p.findings, p.compareFindings)
	return changed
}

// markCues records the cue of each token.
func (p *parser) markCues() {
	p.cueByToken = resize(p.cueByToken, len(p.matcher.words))
	for _, i := range p.scopes.cues {
		for _, token := range p.matcher.tokens(&p.matcher.matches[i]) {
			p.cueByToken[token] = p.matcher.patternOf(i).Meaning
		}
	}
}

// isCue reports whether a token belongs to a cue.
func (p *parser) isCue(token int) bool { return p.cueByToken[token].IsCue() }

// standaloneMinChance returns the minimum probability in a clause without findings. It
// is low until there is a symptom, because an interview needs a symptom, patients can
// remove a wrong one, and texts about the reason for a visit almost always state one.
func (p *parser) standaloneMinChance() float64 {
	hasSymptom := len(p.query.Context) > 0 || slices.ContainsFunc(p.findings, func(f finding) bool {
		return !f.unasserted && !f.absent && p.r.Observations[f.observation].Kind == model.Symptom
	})
	if hasSymptom {
		return minChance
	}
	return minChanceFirstSymptom
}

// splitClauses splits the text into clauses. It does not split within a finding.
func (p *parser) splitClauses() {
	words := p.matcher.words
	p.taken = resize(p.taken, len(words)) // with the token before
	for i := range p.findings {
		tokens := p.findingTokens(&p.findings[i])
		for token := tokens[0] + 1; token <= tokens[len(tokens)-1]; token++ {
			p.taken[token] = true
		}
	}
	p.clauses = p.clauses[:0]
	for i := range words {
		if i > 0 && (p.taken[i] || !words[i-1].separates() && p.cueByToken[i-1] != model.CueTermination) {
			p.clauses[len(p.clauses)-1].to = i + 1
			continue
		}
		p.clauses = append(p.clauses, clause{from: i, to: i + 1, startsSentence: i == 0 || words[i-1].endsSentence})
	}
	clause := 0
	for i := range p.findings {
		for first := int(p.findingTokens(&p.findings[i])[0]); p.clauses[clause].to <= first; {
			clause++
		}
		p.clauses[clause].findings = append(p.clauses[clause].findings, i)
	}
}

// separates reports whether a clause may end after the token.
func (w *word) separates() bool {
	return w.endsSentence || w.endsClause || w.comma || w.bracket || w.joinsItems || w.dividesClauses
}

// isContentWord reports whether the token is a word that can carry meaning on its own.
func (w *word) isContentWord() bool {
	return w.kind == wordToken && !w.filler && !w.joinsItems && w.time == none
}

// classify classifies the words from..to-1, first with their cues and, if that has no
// result, without them.
func (p *parser) classify(from, to int, minProbability float64) classification {
	r := p.classifyWords(from, to, true, minProbability)
	if r.observation != model.None || !slices.ContainsFunc(p.cueByToken[from:to], model.Meaning.IsCue) {
		return r
	}
	return p.classifyWords(from, to, false, minProbability)
}

// classifyWords classifies words, with or without cues. If the budget does not suffice
// for all words, the result is empty, because a subset of the words could have a
// different meaning. An absence requires a negating word: positive words alone do not
// negate anything.
func (p *parser) classifyWords(from, to int, cues bool, minProbability float64) classification {
	p.classifier.reset()
	isNegated := false
	for token := from; token < to; token++ {
		isNegated = isNegated || p.negatesAhead(token, to)
		if p.classifier.remaining < 0 {
			return classification{observation: model.None, likeliest: model.None}
		}
		if w := &p.matcher.words[token]; w.isContentWord() && (!p.isCue(token) || cues && p.cueByToken[token] != model.CueNeutral) {
			p.classifier.addWord(&w.stem)
		}
	}
	if r := p.classifier.classify(minProbability); !r.absent || isNegated {
		return r
	}
	return classification{observation: model.None, likeliest: model.None}
}

// negatesAhead reports whether a token negates a later token before index to. Some words
// negate only if another word follows.
func (p *parser) negatesAhead(token, to int) bool {
	if p.cueByToken[token] == model.CueForwardNegation {
		return token+1 < to && p.cueByToken[token+1] != model.CueTermination
	}
	return p.cueByToken[token].IsNegation()
}

// segmentClauses classifies the clauses without findings, individually or merged, in
// the segmentation with the highest total gain.
func (p *parser) segmentClauses(clauses []clause, minProbability float64) {
	type step struct {
		classification
		from int     // first of the merged clauses
		gain float64 // total up to here
	}
	steps := make([]step, len(clauses)+1)
	for to := 1; to <= len(clauses); to++ {
		steps[to] = step{classification: classification{observation: model.None}, from: to - 1, gain: steps[to-1].gain}
		for from := max(0, to-maxMergedClauses); from < to; from++ {
			r := p.classify(clauses[from].from, clauses[to-1].to, minProbability)
			if gain := steps[from].gain + r.gain; r.observation != model.None && gain > steps[to].gain {
				steps[to] = step{classification: r, from: from, gain: gain}
			}
		}
	}
	for to := len(clauses); to > 0; to = steps[to].from {
		if steps[to].observation != model.None {
			p.addClassification(steps[to].classification, clauses[steps[to].from].from, clauses[to-1].to)
		}
	}
}

// classifyClauseWithFindings classifies a clause with findings. It adds a
// classification that refines one of the findings. If the clause has a single finding,
// it also adds an unrelated classification, which replaces the finding if it uses other
// words and at least half of the finding's words. It reports whether it replaced the
// finding.
func (p *parser) classifyClauseWithFindings(c *clause) (replaced bool) {
	r := p.classify(c.from, c.to, minChanceWithWording)
	refines := p.refines(c, r.observation)
	if r.observation == model.None || r.absent || p.hasFinding(c, r.observation) || !refines && len(c.findings) > 1 {
		return false
	}
	added := len(p.findings)
	p.addClassification(r, c.from, c.to)
	if refines || len(p.findings) == added {
		return false
	}
	reading, existing := &p.findings[added], &p.findings[c.findings[0]]
	if containsAll(p.findingTokens(existing), p.findingTokens(reading)) { // the wording covers all of its words
		p.findings = p.findings[:added]
		return false
	}
	existing.dropped = p.coversHalf(reading, existing)
	return existing.dropped
}

// hasFinding reports whether the clause already has the observation or a descendant.
func (p *parser) hasFinding(c *clause, o model.ObservationIndex) bool {
	return slices.ContainsFunc(c.findings, func(i int) bool {
		found := p.findings[i].observation
		return found == o || p.matcher.isAncestor(o, found)
	})
}

// refines reports whether an observation is a descendant of an observation in the clause.
func (p *parser) refines(c *clause, o model.ObservationIndex) bool {
	return o != model.None && slices.ContainsFunc(c.findings, func(i int) bool {
		return p.matcher.isAncestor(p.findings[i].observation, o)
	})
}

// coversHalf reports whether a reading covers at least half the words of a finding from
// another family.
func (p *parser) coversHalf(reading, found *finding) bool {
	if p.matcher.sameFamily(reading.observation, found.observation) {
		return false
	}
	shared, tokens := 0, p.findingTokens(found)
	for _, token := range tokens {
		if slices.Contains(p.findingTokens(reading), token) {
			shared++
		}
	}
	return 2*shared >= len(tokens)
}

// addClassification adds a finding for the classification of the words from..to-1, with
// the words that support it. The word with the highest weight is the head. A supporting
// cue becomes part of the finding, so that the cue does not negate the finding again:
// "no bother making water", "never sleeps through". Neutral cues such as "no matter
// how" do not become part of it.
func (p *parser) addClassification(r classification, from, to int) {
	m := &p.matcher
	start, head, heaviest := int32(len(m.positions)), from, 0.0
	for token := from; token < to; token++ {
		w := &m.words[token]
		weight := p.classifier.wordWeight(&w.stem, r)
		if !w.isContentWord() || weight == 0 || p.isCue(token) && (weight < minCueWeight || p.cueByToken[token] == model.CueNeutral) {
			continue
		}
		m.positions, m.ranks = append(m.positions, int32(token)), append(m.ranks, 0)
		if weight > heaviest {
			head, heaviest = token, weight
		}
	}
	if end := int32(len(m.positions)); end > start {
		p.findings = append(p.findings, finding{observation: r.observation, match: none, statesAbsence: r.absent, from: start, to: end, head: int32(head)})
	}
}
