// SPDX-License-Identifier: Apache-2.0

package model

import "math"

// A Term is what a wording is made of: a word, by its stem, or a class of
// words. It is a position in Release.TermPatterns.
type Term uint32

// A Stem is what the forms of a word have in common, as the stemmer of the
// language finds it.
type Stem struct {
	// Terms are the stem itself and the classes that it belongs to, those of
	// the fewest words first. A stem that no pattern asks for has none.
	Terms Span // of TermRefs
	// Indications are the observations that the word speaks for, and Denials those
	// for whose absence it does.
	Indications, Denials Span // of Release.Indications
	// Number is what a word says that stands for a number, as "three" does,
	// and not a number for any other.
	Number float64
	// Minutes is how long the unit of time is that the word names, and 0 for
	// any other word.
	Minutes uint32
	// Filler says that the word means nothing: it counts in no gap, and no
	// wording of an observation has it.
	Filler bool
	// Plain says that the word says of what stands beside it that it is there, as
	// "have" does, and no more. It counts in gaps, and wordings may have it.
	Plain bool
	_     [2]byte
}

// IsNumber reports whether the word stands for a number.
func (s Stem) IsNumber() bool { return !math.IsNaN(s.Number) }

// An Indication says how much a word speaks for an observation, for its absence or
// for none: the logarithm of how much likelier it is in what is said of that than
// that a sentence of as many words holds it by chance, when a share of SaidOf of
// the words is due to what is said. It is above 0.
type Indication struct {
	Observation ObservationIndex // None: what says of no observation
	Weight      float32
}

// SaidOf is the share of the words in a sentence that are due to what it says; the
// rest is anything that people say. A word that says nothing of an observation
// speaks against it by log(1 - SaidOf).
const SaidOf = 0.4

// A Pattern is one form of a wording of an observation, of a cue or of a time:
// elements that follow each other within a sentence.
type Pattern struct {
	Elements Span // of Elements, 1 to MostElements
	// Observation is the one that the pattern says something of, None for cues
	// and times.
	Observation ObservationIndex
	// Minutes is how long ago a SaysTime says, and 0 for any other meaning.
	Minutes uint32
	Meaning Meaning
	// Key is the element by which the pattern is found, from its first: the
	// rarest term; of a pattern without terms it is 0.
	Key      uint8
	AnyOrder bool
	// Relative says that the pattern names a relative itself.
	Relative bool
	// Sex and AgeFrom, in months, are those of whom a CueRelatives names; of any
	// other meaning they are zero.
	Sex     SexFilter
	_       [1]byte
	AgeFrom uint16
}

// Fits reports whether whom a CueRelatives names may be a patient of a sex, nil
// when it is not known, and an age.
func (p *Pattern) Fits(sex *Sex, ageMonths int) bool {
	return ageMonths >= int(p.AgeFrom) && (sex == nil || p.Sex.Admits(*sex))
}

// A PatternRef leads to a pattern from the term that is its key.
type PatternRef struct {
	Pattern uint32 // position in Patterns
	// Beside is the other term of the pattern that the fewest words have, or its
	// key when it has no other: where no word has it, the pattern is not found.
	Beside Term
}

// MostElements is how many elements a pattern has at most.
const MostElements = 8

// An Element is what one token of a text must be.
type Element struct {
	Term  Term   // of a TermElement
	Range uint32 // of a NumberElement: position in Ranges
	Kind  ElementKind
	// Gap is how many words, fillers not counted, may stand between the
	// element and the one before it. It says nothing of the first one, nor of
	// a pattern in any order, whose elements have the same one.
	Gap uint8
	_   [2]byte
}

// A Range is of numbers, both ends included.
type Range struct{ From, To float64 }

// ElementKind is what an element is met by.
type ElementKind uint8

// The kinds of elements: a word of a term, a number between two, and a time,
// which is a number and a unit or what a pattern of SaysTime says.
const (
	TermElement ElementKind = iota
	NumberElement
	TimeElement
)

// Meaning is what a pattern says where it is found.
type Meaning uint8

// The meanings of patterns. What each cue does to what stands around it is
// decided by package context.
const (
	Mentions       Meaning = iota // the observation
	MentionsAfter                 // the observation, where its family is known
	MentionsAbsent                // that the observation is absent
	CueNegates
	CueNegatesBefore
	CueNeutral
	CueAffirms
	CueEnds
	CueJoins
	CueAdds
	CueQuestions
	CueHypotheticals
	CuePast
	CueOthers
	CuePatients
	CueNegatesList
	CueNegatesWord  // the word right behind it
	CueNegatesAhead // what follows, and never what stands before
	CueWriters      // patients who write themselves
	CueRelatives    // others who may be the patient
	SaysDuration    // how long: elements around a TimeElement
	SaysTime        // a time without a number, as "last night"
)

// IsCue reports whether the meaning is that of a cue.
func (v Meaning) IsCue() bool { return v >= CueNegates && v <= CueRelatives }

// Denies reports whether the meaning is that of a cue that denies.
func (v Meaning) Denies() bool {
	switch v {
	case CueNegates, CueNegatesBefore, CueNegatesList, CueNegatesWord:
		return true
	}
	return false
}

// A Delete says that a word is left when some letters of another one are
// deleted, by which the misspellings of the other one are found.
type Delete struct {
	Hash uint32 // of what is left, as DeleteHashes yields it
	Word uint32 // position in DeleteWords of what was whole
}
