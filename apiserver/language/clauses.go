// SPDX-License-Identifier: Apache-2.0

package language

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

const (
	// enough is the chance from which the words of a clause without a wording are
	// taken for what they seem to mean, enoughFirst the same where a text says of
	// no symptom yet, and enoughBeside where there is a wording that says else.
	enough       = 0.6
	enoughFirst  = 0.2
	enoughBeside = 0.8
	// mostClauses is how many clauses may say one thing together.
	mostClauses = 3
	// cueSupport is the weight from which a word that says something of what
	// stands around it is one of those that say what is meant, as the "can't" in
	// "can't bend my knee".
	cueSupport = 1.0
)

// A clause is a run of tokens between two separators of any kind, or words such as
// "but".
type clause struct {
	from, to int
	findings []int // those with a token in it
	begins   bool  // a sentence
}

// weighClauses adds to the findings what clauses say in words of which nobody made
// a wording. It is false when nothing changes.
func (p *parser) weighClauses() bool {
	p.weigher.use(&p.matcher, p.applies)
	p.markCues()
	p.layClauses()
	alone, before, replaced := p.enoughAlone(), len(p.findings), false
	for from, to := 0, 0; from < len(p.clauses); from = to {
		to = from + 1
		if len(p.clauses[from].findings) > 0 {
			replaced = p.weighBeside(&p.clauses[from]) || replaced
			continue
		}
		for to < len(p.clauses) && !p.clauses[to].begins && len(p.clauses[to].findings) == 0 {
			to++
		}
		p.divide(p.clauses[from:to], alone)
	}
	changed := replaced || len(p.findings) > before
	p.findings = slices.DeleteFunc(p.findings, func(f finding) bool { return f.dropped })
	slices.SortStableFunc(p.findings, p.compareFindings)
	return changed
}

// markCues notes of which cue the tokens are.
func (p *parser) markCues() {
	p.cueOf = resized(p.cueOf, len(p.matcher.words))
	for _, i := range p.judge.cues {
		for _, token := range p.matcher.tokens(&p.matcher.matches[i]) {
			p.cueOf[token] = p.matcher.patternOf(i).Meaning
		}
	}
}

// isCue reports whether a token is of a cue.
func (p *parser) isCue(token int) bool { return p.cueOf[token].IsCue() }

// enoughAlone is the chance that is enough in a clause without findings. Without
// any symptom there is no interview, and a doubtful one can be taken back: who
// says what brings them here hardly says nothing.
func (p *parser) enoughAlone() float64 {
	heard := len(p.query.Context) > 0 || slices.ContainsFunc(p.findings, func(f finding) bool {
		return !f.unsaid && !f.absent && p.r.Observations[f.observation].Kind == model.Symptom
	})
	if heard {
		return enough
	}
	return enoughFirst
}

// layClauses divides the text into clauses. Those that one finding has words in
// are one.
func (p *parser) layClauses() {
	words := p.matcher.words
	p.taken = resized(p.taken, len(words)) // together with the token before
	for i := range p.findings {
		tokens := p.tokensOf(&p.findings[i])
		for token := tokens[0] + 1; token <= tokens[len(tokens)-1]; token++ {
			p.taken[token] = true
		}
	}
	p.clauses = p.clauses[:0]
	for i := range words {
		if i > 0 && (p.taken[i] || !words[i-1].separates() && p.cueOf[i-1] != model.CueEnds) {
			p.clauses[len(p.clauses)-1].to = i + 1
			continue
		}
		p.clauses = append(p.clauses, clause{from: i, to: i + 1, begins: i == 0 || words[i-1].stops})
	}
	at := 0
	for i := range p.findings {
		for first := int(p.tokensOf(&p.findings[i])[0]); p.clauses[at].to <= first; {
			at++
		}
		p.clauses[at].findings = append(p.clauses[at].findings, i)
	}
}

// separates reports whether a clause may end behind a token.
func (w *word) separates() bool {
	return w.stops || w.ends || w.comma || w.bracket || w.joins || w.divides
}

// says reports whether a token is a word that may say something by itself.
func (w *word) says() bool {
	return w.kind == wordToken && !w.filler && !w.joins && w.time == none
}

// weigh reads the words from..to-1. Cues belong to what is said or, when nothing
// is said with them, they do not.
func (p *parser) weigh(from, to int, enough float64) reading {
	r := p.weighWords(from, to, true, enough)
	if r.observation != model.None || !slices.ContainsFunc(p.cueOf[from:to], model.Meaning.IsCue) {
		return r
	}
	return p.weighWords(from, to, false, enough)
}

// weighWords reads words, with or without cues. What has no room left to be
// weighed as a whole says nothing: a part might say something else. Nothing is
// denied where no word denies, however well the patient sounds.
func (p *parser) weighWords(from, to int, cues bool, enough float64) reading {
	p.weigher.begin()
	denies := false
	for token := from; token < to; token++ {
		denies = denies || p.deniesAhead(token, to)
		if p.weigher.left < 0 {
			return reading{observation: model.None, likeliest: model.None}
		}
		if w := &p.matcher.words[token]; w.says() && (!p.isCue(token) || cues && p.cueOf[token] != model.CueNeutral) {
			p.weigher.add(&w.stem)
		}
	}
	if r := p.weigher.read(enough); !r.absent || denies {
		return r
	}
	return reading{observation: model.None, likeliest: model.None}
}

// deniesAhead reports whether a token before another one denies: one of a word that
// denies what follows it only where something follows.
func (p *parser) deniesAhead(token, to int) bool {
	if p.cueOf[token] == model.CueNegatesAhead {
		return token+1 < to && p.cueOf[token+1] != model.CueEnds
	}
	return p.cueOf[token].Denies()
}

// divide finds what clauses without findings say, each or a few together: what
// makes all that was said likeliest.
func (p *parser) divide(clauses []clause, enough float64) {
	type step struct {
		reading
		from int     // the first clause of those read together
		gain float64 // of all up to here
	}
	steps := make([]step, len(clauses)+1)
	for to := 1; to <= len(clauses); to++ {
		steps[to] = step{reading: reading{observation: model.None}, from: to - 1, gain: steps[to-1].gain}
		for from := max(0, to-mostClauses); from < to; from++ {
			r := p.weigh(clauses[from].from, clauses[to-1].to, enough)
			if gain := steps[from].gain + r.gain; r.observation != model.None && gain > steps[to].gain {
				steps[to] = step{reading: r, from: from, gain: gain}
			}
		}
	}
	for to := len(clauses); to > 0; to = steps[to].from {
		if steps[to].observation != model.None {
			p.addReading(steps[to].reading, clauses[steps[to].from].from, clauses[to-1].to)
		}
	}
}

// weighBeside reads a clause with findings. What refines one of them is added;
// what else a clause with a single one says is added as well, and takes the place
// of the finding when it is said in most of its words, and in others. It is false
// unless it does.
func (p *parser) weighBeside(c *clause) (replaced bool) {
	r := p.weigh(c.from, c.to, enoughBeside)
	refines := p.refines(c, r.observation)
	if r.observation == model.None || r.absent || p.isFound(c, r.observation) || !refines && len(c.findings) > 1 {
		return false
	}
	added := len(p.findings)
	p.addReading(r, c.from, c.to)
	if refines || len(p.findings) == added {
		return false
	}
	reading, found := &p.findings[added], &p.findings[c.findings[0]]
	if covers(p.tokensOf(found), p.tokensOf(reading)) { // the wording knows these words, and more
		p.findings = p.findings[:added]
		return false
	}
	found.dropped = p.takesFrom(reading, found)
	return found.dropped
}

// isFound reports whether a clause has an observation, or one below it, already.
func (p *parser) isFound(c *clause, o model.ObservationIndex) bool {
	return slices.ContainsFunc(c.findings, func(i int) bool {
		found := p.findings[i].observation
		return found == o || p.matcher.isAncestor(o, found)
	})
}

// refines reports whether an observation is below one that a clause has.
func (p *parser) refines(c *clause, o model.ObservationIndex) bool {
	return o != model.None && slices.ContainsFunc(c.findings, func(i int) bool {
		return p.matcher.isAncestor(p.findings[i].observation, o)
	})
}

// takesFrom reports whether a reading takes half of the words of a finding of
// another family.
func (p *parser) takesFrom(reading, found *finding) bool {
	if p.matcher.related(reading.observation, found.observation) {
		return false
	}
	taken, tokens := 0, p.tokensOf(found)
	for _, token := range tokens {
		if slices.Contains(p.tokensOf(reading), token) {
			taken++
		}
	}
	return 2*taken >= len(tokens)
}

// addReading adds what the words from..to-1 mean to the findings, with those of
// them that speak for it. The heaviest one is the head. A cue that does is part of
// it, so that "no bother making water" is not denied once more, as "never sleeps
// through" is; but not what keeps a word from denying, as "no matter how" does.
func (p *parser) addReading(r reading, from, to int) {
	m := &p.matcher
	start, head, heaviest := int32(len(m.positions)), from, 0.0
	for token := from; token < to; token++ {
		w := &m.words[token]
		weight := p.weigher.weightOf(&w.stem, r)
		if !w.says() || weight == 0 || p.isCue(token) && (weight < cueSupport || p.cueOf[token] == model.CueNeutral) {
			continue
		}
		m.positions, m.ranks = append(m.positions, int32(token)), append(m.ranks, 0)
		if weight > heaviest {
			head, heaviest = token, weight
		}
	}
	if end := int32(len(m.positions)); end > start {
		p.findings = append(p.findings, finding{observation: r.observation, match: none, saysAbsent: r.absent, from: start, to: end, head: int32(head)})
	}
}
