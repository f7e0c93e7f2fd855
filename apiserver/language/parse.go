// SPDX-License-Identifier: Apache-2.0

// Package language finds what a patient's free text says: the observations of
// a release that it mentions or denies. It is pure: a release and a query in,
// mentions out.
//
// A text is cut into tokens (tokens.go), unknown words are taken for the words
// of wordings that they may be misspellings of (spelling.go, reading.go), times
// are read (time.go), and the wordings of the release are found with the gaps
// that they allow (survey.go, match.go, trial.go). Among wordings that overlap the
// better ones are chosen (overlap.go), with the further items of lists and what is now
// known to be meant by vague ones (mentions.go); package context judges what the
// words around them make of them (judge.go). Clauses without a wording, or with one
// that says else, are read by how often people use their words who mean this or that
// (clauses.go, weigh.go). How long something has lasted chooses the child that says
// so (duration.go); and of what is left the most specific observations are the
// answer (specific.go, answer.go).
//
// Which words say what is content: nothing here knows any language. A text in
// a language without a stemmer needs a folder of words and no change here.
package language

import (
	"sync"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A Query is a text and for whom it speaks.
type Query struct {
	Text string // any bytes; those that are not UTF-8 become U+FFFD
	// Sex of the patient; nil finds what is said of either.
	Sex       *model.Sex
	AgeMonths int
	// Context are observations that are known to be present, which tell what
	// vague wordings such as "it hurts" are about.
	Context []model.ObservationIndex
	// KeepSpelling leaves misspelt words as they are.
	KeepSpelling bool
	// Symptoms and RiskFactors are the kinds of observations asked for.
	Symptoms, RiskFactors bool
	// EveryMention asks for all mentions of an observation, and not for one.
	EveryMention bool
}

// A Mention says that the text mentions an observation, or denies it.
type Mention struct {
	Observation model.ObservationIndex
	Absent      bool
	// Orth is the tokens of the mention in their order, with blanks between.
	Orth string
	// Positions are these tokens in Result.Tokens, ascending; others may stand
	// between them.
	Positions []int
	// Head is the one of the positions that carries the meaning: the rarest
	// word of the wording.
	Head int
}

// A Result is what a text says. Nothing in it points into the release.
type Result struct {
	// Tokens are the words, numbers, symbols and punctuation of the text,
	// misspelt words as they were understood.
	Tokens   []string
	Mentions []Mention // in order of appearance
	// Obvious says that there are mentions, that every word belongs to one or
	// says something about one, that none was misspelt, and that nothing else
	// could have been meant.
	Obvious bool
}

// Parse finds what a text says of a patient. The same query always has the
// same result.
//
// An observation that does not apply to the patient's sex or age is not
// mentioned. Of an observation and its parent only the child is mentioned when
// both are present, and only the parent when both are absent; an absent parent
// of a present child is left out as a contradiction. An observation that is
// both present and absent is present, unless every mention is asked for.
//
// The work is bounded by a constant for each token; patterns beyond that are
// not looked for.
func Parse(r *model.Release, q Query) Result {
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	return p.parse(r, q)
}

// parsers keep their memory from text to text.
var parsers = sync.Pool{New: func() any { return &parser{} }}

// A parser is the working memory of one text.
type parser struct {
	r        *model.Release
	query    Query
	reader   reader
	matcher  matcher
	chooser  chooser
	judge    judge
	weigher  weigher
	clauses  []clause
	cueOf    []model.Meaning // by token: that of the cue it is of, or none of theirs
	findings []finding
	taken    []bool // by token: whether something was chosen that has it
	vague    []int  // matches
	// topics are the observations that vague wordings may be about, as they are
	// named.
	topics []topic
	// durations are the matches that say how long, in their order.
	durations []int
}

// A finding is an observation that the text speaks of.
type finding struct {
	observation model.ObservationIndex
	match       int  // none: its words were weighed
	saysAbsent  bool // and they say that it is absent
	// from and to are its tokens in matcher.positions.
	from, to int32
	head     int32
	absent   bool
	unsaid   bool
	dropped  bool
	kin      bool // of a relative, whom other words of a finding name
	lasts    bool // chosen by how long, which is said, or with such a child
}

func (p *parser) parse(r *model.Release, q Query) Result {
	p.r, p.query = r, q
	defer p.end()
	p.reader.read(r, readableText(q.Text), q.KeepSpelling)
	m := &p.matcher
	m.begin(r, p.reader.words)
	m.findClauses()
	if p.isForeign() {
		return Result{Tokens: p.tokens()}
	}
	m.findTimes()
	m.admits = p.admits
	m.matchAll(all)
	p.chooser.begin(m)
	p.chooseMentions()
	p.judgeFindings()
	if p.resolveVague() {
		p.judgeFindings()
		p.dropDistant()
	}
	if p.weighClauses() {
		p.judgeFindings()
	}
	p.dropHistories()
	p.noteDurations()
	p.mostSpecific()
	return p.answer()
}

// end lets go of the release, whose memory may be unmapped.
func (p *parser) end() {
	p.matcher.end()
	p.reader.end()
	p.weigher.end()
	p.r, p.query = nil, Query{}
}

// admits reports whether a pattern may be found in the text: that of a cue or
// of how long, or of an observation that the patient can have. Vague wordings
// are looked for and wait until it is known what they are about.
func (p *parser) admits(pattern *model.Pattern) bool {
	if pattern.Observation == model.None {
		return pattern.Meaning != model.SaysTime
	}
	return p.applies(pattern.Observation)
}

// applies reports whether an observation is one that free text can mention,
// and of the patient's sex and age.
func (p *parser) applies(o model.ObservationIndex) bool {
	observed := &p.r.Observations[o]
	return observed.Kind != model.LabResult &&
		(p.query.Sex == nil || observed.Sex.Admits(*p.query.Sex)) &&
		int(observed.AgeFrom) <= p.query.AgeMonths && p.query.AgeMonths <= int(observed.AgeTo)
}

// resized is a slice of so many zero values, in the memory of another one.
func resized[T any](old []T, n int) []T {
	if cap(old) < n {
		old = make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}
