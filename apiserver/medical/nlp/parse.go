// SPDX-License-Identifier: Apache-2.0

// Package nlp extracts from a patient's free text the observations of a release that
// the text mentions or negates. It is pure: it takes a release and a query, and
// returns mentions.
//
// The tokenizer splits the text into tokens (tokenizer.go), unknown words are corrected
// to words of wordings (spelling.go, analyzer.go), time spans are parsed (time.go), and
// the matcher finds the wordings of the release with the gaps that they allow
// (prefilter.go, matcher.go, pattern_search.go). The selector chooses among overlapping
// wordings (selector.go), then adds further list items and the vague wordings whose
// referent is now known (mentions.go). Package scope resolves the effect of the words
// around each mention (scopes.go). A naive Bayes classifier handles clauses without a
// wording, or with a wording that does not fit (clauses.go, classifier.go). Durations
// refine observations to their children (duration.go). Finally, the most specific
// observations become the result (redundancy.go, result.go).
//
// The meaning of words is content and belongs in the release: the package is
// independent of languages. Supporting a language without a stemmer requires a
// directory of words, but no change to this package.
package nlp

import (
	"sync"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A Query is a text and the patient that it describes.
type Query struct {
	Text string // any bytes; invalid UTF-8 becomes U+FFFD
	// Sex of the patient. If nil, observations of either sex are found.
	Sex       *model.Sex
	AgeMonths int
	// Context holds observations known to be present. They resolve vague wordings such as
	// "it hurts".
	Context []model.ObservationIndex
	// KeepSpelling disables spelling correction.
	KeepSpelling bool
	// Symptoms and RiskFactors select the kinds of observations to return.
	Symptoms, RiskFactors bool
	// AllMentions requests all mentions of each observation instead of one.
	AllMentions bool
}

// A Mention reports that the text mentions or negates an observation.
type Mention struct {
	Observation model.ObservationIndex
	Absent      bool
	// Orth holds the tokens of the mention in order, separated by spaces.
	Orth string
	// Positions are the indexes of these tokens in Result.Tokens, ascending. They need not
	// be contiguous.
	Positions []int
	// Head is the position of the token that carries the meaning, which is the rarest word
	// of the wording.
	Head int
}

// A Result is the outcome of parsing a text. It does not refer to the memory of the
// release.
type Result struct {
	// Tokens are the words, numbers, symbols and punctuation of the text, with misspelled
	// words corrected.
	Tokens   []string
	Mentions []Mention // in order of appearance
	// Obvious is true if the result is unambiguous: there are mentions, each word belongs
	// to a mention or modifies one, no word was misspelled, and there was no competing
	// interpretation.
	Obvious bool
}

// Parse finds the observations that a text mentions. It is deterministic.
//
// An observation that does not apply to the patient's sex or age is never mentioned.
// If an observation and its parent are both present, only the child is mentioned; if
// both are absent, only the parent. An absent parent of a present child is dropped as
// a contradiction. An observation that is both present and absent is present, unless
// q.AllMentions is set.
//
// The work is limited to a constant per token. Patterns beyond the limit are not
// searched.
func Parse(r *model.Release, q Query) Result {
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	return p.parse(r, q)
}

// parsers is a pool that reuses the memory of parsers across texts.
var parsers = sync.Pool{New: func() any { return &parser{} }}

// A parser holds the working memory for one text.
type parser struct {
	r          *model.Release
	query      Query
	analyzer   analyzer
	matcher    matcher
	selector   selector
	scopes     scopeBuilder
	classifier classifier
	clauses    []clause
	cueByToken []model.Meaning // by token: its cue
	findings   []finding
	taken      []bool // by token: in use by a selected item
	vague      []int  // match indexes
	// topics are the observations that vague wordings may refer to, in order of
	// appearance.
	topics []topic
	// durations are the matches that state a duration, in order of appearance.
	durations []int
}

// A finding is an observation that the text refers to.
type finding struct {
	observation   model.ObservationIndex
	match         int  // none if the finding is a classification
	statesAbsence bool // the classification is an absence
	// from and to are the range of its tokens in matcher.positions.
	from, to    int32
	head        int32
	absent      bool
	unasserted  bool
	dropped     bool
	ofRelative  bool // other words name the relative with the finding
	hasDuration bool // chosen by a stated duration, or has a child chosen by one
}

func (p *parser) parse(r *model.Release, q Query) Result {
	p.r, p.query = r, q
	defer p.release()
	p.analyzer.analyze(r, sanitizeText(q.Text), q.KeepSpelling)
	m := &p.matcher
	m.reset(r, p.analyzer.words)
	m.markClauses()
	if p.isForeign() {
		return Result{Tokens: p.tokenTexts()}
	}
	m.findTimes()
	m.accepts = p.accepts
	m.matchAll(anySentence)
	p.selector.reset(m)
	p.selectMentions()
	p.resolveFindings()
	if p.resolveVague() {
		p.resolveFindings()
		p.dropUnrelatedVague()
	}
	if p.classifyClauses() {
		p.resolveFindings()
	}
	p.dropFamilyHistories()
	p.addDurations()
	p.dropRedundant()
	return p.buildResult()
}

// release drops the references to the release, whose memory may be unmapped.
func (p *parser) release() {
	p.matcher.release()
	p.analyzer.release()
	p.classifier.release()
	p.r, p.query = nil, Query{}
}

// accepts reports whether to search the text for a pattern. It accepts cues, durations,
// and the observations that the patient can have. Vague wordings are accepted as well,
// and resolved later.
func (p *parser) accepts(pattern *model.Pattern) bool {
	if pattern.Observation == model.None {
		return pattern.Meaning != model.MeaningTime
	}
	return p.isApplicable(pattern.Observation)
}

// isApplicable reports whether an observation can appear in free text and is possible at
// the patient's age and sex.
func (p *parser) isApplicable(o model.ObservationIndex) bool {
	observation := &p.r.Observations[o]
	return observation.Kind != model.LabResult &&
		(p.query.Sex == nil || observation.Sex.Includes(*p.query.Sex)) &&
		int(observation.AgeFrom) <= p.query.AgeMonths && p.query.AgeMonths <= int(observation.AgeTo)
}

// resize returns a slice of n zero values, reusing the memory of old if possible.
func resize[T any](old []T, n int) []T {
	if cap(old) < n {
		old = make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}
