// SPDX-License-Identifier: Apache-2.0

package model

import "math"

// A Term is a building block of wordings: a word, represented by its stem, or a class
// of words. It is a position in Release.TermPatterns.
type Term uint32

// A Stem is the common base of the forms of a word, as returned by the stemmer of the
// language.
type Stem struct {
	// Terms are the stem itself and the classes that contain it, smallest class first. It is
	// empty if no pattern uses the stem.
	Terms Span // of TermRefs
	// PresentWeights are the observations that the word indicates, and AbsentWeights are
	// the observations whose absence it indicates.
	PresentWeights, AbsentWeights Span // of Release.WordWeights
	// Number is the value of a number word such as "three", or NaN for other words.
	Number float64
	// Minutes is the length of the unit of time that the word names, or 0 for other words.
	Minutes uint32
	// IsFiller marks words without meaning. They do not count in gaps, and no wording of an
	// observation contains them.
	IsFiller bool
	// Plain marks words that only affirm the words next to them, such as "have". They
	// count in gaps, and wordings may contain them.
	Plain bool
	_     [2]byte
}

// IsNumber reports whether the word represents a number.
func (s Stem) IsNumber() bool { return !math.IsNaN(s.Number) }

// A WordWeight measures how strongly a word indicates an observation, its absence, or
// neither: the logarithm of the ratio between the word's probability in sentences with
// that meaning, where a share WordMixtureWeight of the words is due to the meaning, and
// its probability of occurring by chance. It is positive.
type WordWeight struct {
	Observation ObservationIndex // None if the sentence mentions no observation
	Weight      float32
}

// WordMixtureWeight is the share of the words in a sentence that are due to its meaning;
// the rest are arbitrary words. A word that does not indicate an observation counts
// against it by log(1 - WordMixtureWeight).
const WordMixtureWeight = 0.4

// A Pattern is one form of a wording of an observation, a cue or a time: a sequence of
// elements within a sentence.
type Pattern struct {
	Elements Span // of Elements, 1 to MaxPatternElements
	// Observation is the observation to which the pattern refers, or None for cues and
	// times.
	Observation ObservationIndex
	// Minutes is the time since a MeaningTime, or 0 for other meanings.
	Minutes uint32
	Meaning Meaning
	// Key is the index of the pattern's rarest term, used for lookup. It is 0 for patterns
	// without terms.
	Key      uint8
	AnyOrder bool
	// NamesRelative marks patterns that themselves name a relative.
	NamesRelative bool
	// Sex and AgeFrom, in months, describe the relative named by a CueRelative. They are
	// zero for other meanings.
	Sex     SexFilter
	_       [1]byte
	AgeFrom uint16
}

// AppliesTo reports whether the relative named by a CueRelative can be a patient of the
// given sex, nil if unknown, and age.
func (p *Pattern) AppliesTo(sex *Sex, ageMonths int) bool {
	return ageMonths >= int(p.AgeFrom) && (sex == nil || p.Sex.Includes(*sex))
}

// A PatternRef refers from a term to a pattern that has the term as its key.
type PatternRef struct {
	Pattern uint32 // position in Patterns
	// PrefilterTerm is the least common term of the pattern other than its key, or the key
	// if the pattern has no other term. If no word of a text has this term, the pattern
	// cannot match.
	PrefilterTerm Term
}

// MaxPatternElements is the maximum number of elements of a pattern.
const MaxPatternElements = 8

// An Element is a condition on one token of a text.
type Element struct {
	Term  Term   // set for a TermElement
	Range uint32 // set for a NumberElement: position in Ranges
	Kind  ElementKind
	// Gap is the maximum number of words, not counting fillers, between this element and
	// the previous one. It is ignored for the first element. In a pattern in any order,
	// all elements have the same gap.
	Gap uint8
	_   [2]byte
}

// A Range is a range of numbers, with both ends inclusive.
type Range struct{ From, To float64 }

// ElementKind is the kind of token that an element matches.
type ElementKind uint8

// The kinds of elements: a word with a term, a number in a range, and a time, which is
// either a number and a unit or a match of a MeaningTime pattern.
const (
	TermElement ElementKind = iota
	NumberElement
	TimeElement
)

// Meaning is the meaning of a pattern match.
type Meaning uint8

// The meanings of patterns. Package scope defines the effect of each cue on the
// surrounding words.
const (
	MeaningMention         Meaning = iota // the observation
	MeaningFollowUpMention                // the observation, if its family is known
	MeaningAbsentMention                  // the absence of the observation
	CueNegation
	CuePostNegation
	CueNeutral
	CueAffirmation
	CueTermination
	CueConjunction
	CueAddition
	CueQuestion
	CueHypothetical
	CueHistorical
	CueOtherExperiencer
	CuePatient
	CueListNegation
	CueWordNegation    // negates the next word
	CueForwardNegation // negates only the words after it
	CueWriter          // the writer is the patient
	CueRelative        // another person, who may be the patient
	MeaningDuration    // a duration: elements around a TimeElement
	MeaningTime        // a time without a number, such as "last night"
)

// IsCue reports whether the meaning is a cue.
func (v Meaning) IsCue() bool { return v >= CueNegation && v <= CueRelative }

// IsNegation reports whether the meaning is a negation cue.
func (v Meaning) IsNegation() bool {
	switch v {
	case CueNegation, CuePostNegation, CueListNegation, CueWordNegation:
		return true
	}
	return false
}

// A Deletion maps a hash of a word with some letters deleted to the word. It is used to
// find the intended word for a misspelling.
type Deletion struct {
	Hash uint32 // hash yielded by DeletionHashes
	Word uint32 // position of the full word in DeletionWords
}
