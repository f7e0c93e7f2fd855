// SPDX-License-Identifier: Apache-2.0

// Package scope resolves the context of mentions: whether the text states that the
// patient has an observation, negates it, or asserts neither because it expresses a
// question, a fear, an assumption or a memory, or refers to another person.
//
// It follows the ConText and NegEx family of algorithms (Chapman et al. 2001, Harkema
// et al. 2009): cues open scopes, and scopes end at other cues and at the ends of
// clauses. A cue is only a kind and a range of tokens, so the package is independent of
// languages, texts and releases. Package nlp finds the cues and mentions.
package scope

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// A Cue is a run of tokens that modifies the mentions around it.
type Cue struct {
	Kind model.Meaning // one of the cue meanings
	From int           // its first token
	To   int           // the token after its last
	// IsConjunction is true if a negation is also a conjunction, such as "nor", and closes
	// a list after a mention.
	IsConjunction bool
	// NamesWriter is true if the cue names the writer, such as "and I have".
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

// A Mention is a mention of an observation in the text.
type Mention struct {
	// Positions are the tokens of the mention in ascending order. There is at least one.
	Positions []int
	// RiskFactor is true if the observation persists, so that a past occurrence counts.
	RiskFactor bool
	// NamesRelative is true if the wording itself names the relative, as in a family
	// history. Such a mention is not attributed to another person.
	NamesRelative bool
	// AppliesToOnlooker is true if a person who writes about another person may also have
	// the observation, such as worry.
	AppliesToOnlooker bool
	// IsSerious is true if the observation is serious in itself. A serious risk factor is
	// an event, such as an overdose, and never family history.
	IsSerious bool
	// OfRelative is true if words outside the mention attribute it to a relative.
	OfRelative bool
	// NamesWriter is true if the wording names the writer, such as "I can't sleep".
	NamesWriter bool
	// StatesAbsence is true if the wording itself states an absence.
	StatesAbsence bool
	// HasNegation is true if the wording contains a negation, such as "no appetite", so
	// that the negation of another mention does not extend to it.
	HasNegation bool
	// StartsStatement is true if the mention starts a new statement: its wording begins
	// with a person, directly after a separator, as in "no fever, and I feel sick".
	StartsStatement bool
}

// An Assertion is the statement that the text makes about a mention.
type Assertion uint8

// The possible assertions.
const (
	Present Assertion = iota
	Absent
	// Unasserted mentions are questions, fears, assumptions, in the past, or about another
	// person.
	Unasserted
)

// Resolve returns the assertion about each mention, in the order of mentions. Its time
// is linear in the number of tokens and cues, plus the time to sort the mentions.
//
// Findings of other people, questions and assumptions are Unasserted, whether negated
// or not. If the writer states no findings of their own and the text states findings of
// a relative, the relative is the patient. Negated mentions are Absent, in the present
// and the past. Past mentions are Unasserted, even if the text later states that they
// have resolved, except for risk factors, which persist. A mention that combines a
// negation with the statement after it is Unasserted: "no blood in the stool, the urine
// is dark" does not assert anything about blood in the urine.
func Resolve(s Sentence, mentions []Mention) []Assertion {
	scanner := newScanner(s, mentions)
	negations := scanner.resolveNegations()
	hypothetical := scanner.resolveHypotheticals(negations)
	isPast := scanner.resolvePast()
	isStated := func(i int) bool {
		return !hypothetical[i] && !isPast[i] && negations[i] == notNegated && !mentions[i].NamesRelative
	}
	isOther := scanner.resolveExperiencers(mentions, isStated)
	ofRelative := scanner.resolveRelatives()
	assertions := make([]Assertion, len(mentions))
	for i, mention := range mentions {
		switch {
		case scanner.hasNegatedPrefix(mention):
			assertions[i] = Absent
		case (isOther[i] || ofRelative[i] && mention.RiskFactor) && !mention.NamesRelative, hypothetical[i]:
			assertions[i] = Unasserted
		case negations[i] == negatedPartly && !mention.StatesAbsence && !mention.HasNegation,
			isPast[i] && !mention.RiskFactor && negations[i] == negatedBehind:
			assertions[i] = Unasserted
		case negations[i].isAbsent(mention):
			assertions[i] = Absent
		case isPast[i] && !mention.RiskFactor:
			assertions[i] = Unasserted
		}
	}
	return assertions
}
