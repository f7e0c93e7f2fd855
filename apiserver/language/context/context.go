// SPDX-License-Identifier: Apache-2.0

// Package context judges what the words around a mention make of it: whether
// the text says that the patient has it, denies it, or says neither, because it
// only asks, fears, supposes, remembers or speaks of somebody else.
//
// It follows the ConText and NegEx family (Chapman et al. 2001, Harkema et al.
// 2009): cues open scopes, and scopes end at other cues and at the ends of
// clauses. All words are content: a cue comes here as a kind and the tokens
// that it takes, so that nothing here knows any language, text or release.
// Finding cues and mentions is the work of package language.
package context

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// A Cue is a run of tokens that says something about the mentions around it.
type Cue struct {
	Kind model.Meaning // one of the cues
	From int           // its first token
	To   int           // the token after its last
	// Joins says that a word that denies joins as well, as "nor" does, so that
	// it closes a list behind a mention.
	Joins bool
	// Writer says that it names the one who writes, as "and I have" does.
	Writer bool
}

// A Sentence is one sentence or several in a row, as much as its judge may see
// of them. A whole text is best given at once: who it speaks for may stand in
// another sentence.
//
// The slices are indexed by token and have Tokens entries; a nil slice has
// none of what it marks.
type Sentence struct {
	Tokens int
	// Cues are in order of From and do not overlap. The caller has chosen the
	// longest of those that compete and left out those inside of mentions.
	Cues []Cue
	// Ends marks what ends a clause whatever follows: . ! ? ; a line break, a
	// long dash, a bracket.
	Ends []bool
	// Asks marks, among the ends, question marks.
	Asks []bool
	// Commas marks commas and what else separates the items of a list.
	Commas []bool
	// Links marks what joins as a joining word does: a slash, an ampersand.
	Links []bool
	// Fillers marks words that mean nothing. They count as no distance and as
	// no words between two items of a list.
	Fillers []bool
}

// A Subject is a mention to be judged.
type Subject struct {
	// Positions are the tokens of the mention, ascending and at least one.
	Positions []int
	// RiskFactor says that the mention is of something that stays with the
	// patient, so that having had it counts.
	RiskFactor bool
	// Relative says that its wording holds the relative whom it is about, as
	// a family history does, so that it is not taken as somebody else's.
	Relative bool
	// Onlooker says that whoever writes for somebody else may have it too, as worry.
	Onlooker bool
	// Alarm says that it is serious by itself, so that a risk factor is what
	// happened, as an overdose, and nothing that families have.
	Alarm bool
	// Kin says that other words than its own name the relative whom it is of.
	Kin bool
	// Writer says that its wording names the one who writes, as "I can't sleep".
	Writer bool
	// SaidAbsent says that its wording is that of a denial.
	SaidAbsent bool
	// Denies says that its wording holds a word that denies, as "no appetite"
	// does, so that the denial of something else does not go on to it.
	Denies bool
	// Begins says that it begins a statement of its own: its wording names
	// first whom the text speaks for, right behind a separator, as in "no
	// fever, and I feel sick".
	Begins bool
}

// A Verdict is what the text says about a mention.
type Verdict uint8

// The verdicts.
const (
	Present Verdict = iota
	Absent
	// Unsaid is what is asked, feared, supposed, over, or somebody else's.
	Unsaid
)

// Judge says of every subject what the text makes of it, in their order. The
// work is linear in tokens and cues, and in subjects but for sorting them.
//
// What is somebody else's, asked or supposed is unsaid, denied or not. A relative
// of whom something is told is the patient, where the writer tells nothing of
// themselves. What is
// denied is absent, then and now. What is over is unsaid, also where the text
// goes on to say that it is gone, unless it is a risk factor, which stays. What
// is put together of a denial and the statement after it is said by neither:
// "no blood in the stool, the urine is dark" says nothing of blood in the urine.
func Judge(s Sentence, subjects []Subject) []Verdict {
	l := lay(s, subjects)
	denials := l.denials()
	asked := l.asked(denials)
	over := l.over()
	told := func(i int) bool { return !asked[i] && !over[i] && denials[i] == undenied && !subjects[i].Relative }
	others := l.ofOthers(subjects, told)
	kin := l.ofKin()
	verdicts := make([]Verdict, len(subjects))
	for i, subject := range subjects {
		switch {
		case l.deniesWord(subject):
			verdicts[i] = Absent
		case (others[i] || kin[i] && subject.RiskFactor) && !subject.Relative, asked[i]:
			verdicts[i] = Unsaid
		case denials[i] == torn && !subject.SaidAbsent && !subject.Denies,
			over[i] && !subject.RiskFactor && denials[i] == gone:
			verdicts[i] = Unsaid
		case denials[i].denies(subject):
			verdicts[i] = Absent
		case over[i] && !subject.RiskFactor:
			verdicts[i] = Unsaid
		}
	}
	return verdicts
}
