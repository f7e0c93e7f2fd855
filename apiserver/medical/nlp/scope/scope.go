// SPDX-License-Identifier: Apache-2.0

// Package scope resolves the context of mentions: whether the text states that the
// patient has an observation, negates it, or asserts neither because it only asks,
// fears, supposes, remembers or refers to another person.
//
// It follows the ConText and NegEx family of algorithms (Chapman et al. 2001, Harkema
// et al. 2009): cues open scopes, and scopes end at other cues and at the ends of
// clauses. The words are content: a cue is a kind and a range of tokens, so the
// package is independent of languages, texts and releases. Finding cues and mentions
// belongs in package nlp.
package scope

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// A Cue is a run of tokens that modifies the mentions around it.
type Cue struct {
	Kind model.Meaning // one of the cue meanings
	From int           // its first token
	To   int           // the token after its last
	// IsConjunction reports whether a negation is also a conjunction, as "nor" is, and
	// closes a list after a mention.
	IsConjunction bool
	// NamesWriter reports whether the cue names the writer, as "and I have" does.
	NamesWriter bool
}

// A Sentence is one or more consecutive sentences that are resolved together. Pass a
// whole text where possible, because the patient may be named in another sentence.
//
// The slices are indexed by token and have Tokens entries. A nil slice marks no token.
type Sentence struct {
	Tokens int
	// Cues are ordered by From and do not overlap. The caller resolves competing cues in
	// favor of the longest and drops cues within mentions.
	Cues []Cue
	// ClauseEnds marks tokens that always end a clause: . ! ? ; a line break, a long dash,
	// a bracket.
	ClauseEnds []bool
	// QuestionMarks marks the clause ends that are question marks.
	QuestionMarks []bool
	// Commas marks commas and other separators of list items.
	Commas []bool
	// Links marks symbols that act as conjunctions: a slash, an ampersand.
	Links []bool
	// Fillers marks words without meaning. They do not count as distance or as words
	// between list items.
	Fillers []bool
}

// A Mention is a mention whose context is to be resolved.
type Mention struct {
	// Positions are the tokens of the mention in ascending order. There is at least one.
	Positions []int
	// RiskFactor reports whether the observation persists, so that a past occurrence
	// counts.
	RiskFactor bool
	// NamesRelative reports whether the wording itself names the relative, as in a family
	// history. Such a mention is not attributed to another person.
	NamesRelative bool
	// AppliesToOnlooker reports whether a person who writes about another person may have
	// it too, such as worry.
	AppliesToOnlooker bool
	// IsSerious reports whether the observation is serious in itself. A serious risk
	// factor is an event, such as an overdose, and never family history.
	IsSerious bool
	// OfRelative reports whether words outside the mention name the relative who has it.
	OfRelative bool
	// NamesWriter reports whether the wording names the writer, as "I can't sleep" does.
	NamesWriter bool
	// StatesAbsence reports whether the wording itself states an absence.
	StatesAbsence bool
	// HasNegation reports whether the wording contains a negation, as "no appetite" does,
	// so that the negation of another mention does not extend to it.
	HasNegation bool
	// StartsStatement reports whether the mention starts a new statement: its wording
	// begins with the person it concerns, directly after a separator, as in "no fever, and
	// I feel sick".
	StartsStatement bool
}

// An Assertion is what the text asserts about a mention.
type Assertion uint8

// The possible assertions.
const (
	Present Assertion = iota
	Absent
	// Unasserted mentions are asked about, feared, supposed, past, or another person's.
	Unasserted
)

// Resolve returns the assertion about each mention, in the order of subjects. It takes
// linear time in tokens and cues, and sorts the subjects.
//
// Another person's findings, questions and assumptions are Unasserted, negated or not.
// If the writer states no findings of their own, a relative whose findings the text
// states is the patient. Negated mentions are Absent, in the present and the past.
// Past mentions are Unasserted, even if the text later states that they are gone,
// except for risk factors, which persist. A mention that combines a negation with the
// statement after it is Unasserted: "no blood in the stool, the urine is dark" does
// not assert anything about blood in the urine.
func Resolve(s Sentence, subjects []Mention) []Assertion {
	l := newScanner(s, subjects)
	denials := l.resolveNegations()
	asked := l.resolveHypotheticals(denials)
	over := l.resolvePast()
	told := func(i int) bool {
		return !asked[i] && !over[i] && denials[i] == notNegated && !subjects[i].NamesRelative
	}
	others := l.resolveExperiencers(subjects, told)
	kin := l.resolveRelatives()
	verdicts := make([]Assertion, len(subjects))
	for i, subject := range subjects {
		switch {
		case l.hasNegatedPrefix(subject):
			verdicts[i] = Absent
		case (others[i] || kin[i] && subject.RiskFactor) && !subject.NamesRelative, asked[i]:
			verdicts[i] = Unasserted
		case denials[i] == negatedPartly && !subject.StatesAbsence && !subject.HasNegation,
			over[i] && !subject.RiskFactor && denials[i] == negatedBehind:
			verdicts[i] = Unasserted
		case denials[i].isAbsent(subject):
			verdicts[i] = Absent
		case over[i] && !subject.RiskFactor:
			verdicts[i] = Unasserted
		}
	}
	return verdicts
}
