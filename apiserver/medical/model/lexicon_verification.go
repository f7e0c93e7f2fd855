// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"math"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/stem"
)

// verifyLexicon checks the invariants of the lexicon on which free-text parsing relies,
// and loads the transducers. It must run before any code reads the bools of the
// lexicon.
func verifyLexicon(r *Release) error {
	for _, check := range []func(*Release) error{
		verifyStems,
		verifyPatterns,
		verifyTerms,
		verifyTermlessPatterns,
		verifyDeletions,
		verifyMisspellings,
		(*Release).loadFSTs,
	} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

func verifyStems(r *Release) error {
	if _, ok := stem.ByName(r.Meta.Stemmer); !ok && r.Meta.Stemmer != "" {
		return fmt.Errorf("unknown stemmer %q: expected one of %v", r.Meta.Stemmer, stem.Names())
	}
	terms := spanChecker{section: "term references", length: len(r.TermRefs)}
	weights := spanChecker{section: "word weights", length: len(r.WordWeights)}
	for i := range r.Stems {
		s := &r.Stems[i]
		if err := errors.Join(terms.check(s.Terms), weights.check(s.PresentWeights), weights.check(s.AbsentWeights)); err != nil {
			return fmt.Errorf("stem %d: %w", i, err)
		}
		if err := errors.Join(verifyWordWeights(r, s.PresentWeights, None), verifyWordWeights(r, s.AbsentWeights, 0)); err != nil {
			return fmt.Errorf("stem %d: %w", i, err)
		}
		if !isValidBool(&s.IsFiller) || !isValidBool(&s.Plain) || math.IsInf(s.Number, 0) || s.Number < 0 {
			return fmt.Errorf("stem %d has an invalid number %v or a flag other than 0 and 1", i, s.Number)
		}
	}
	for _, t := range r.TermRefs {
		if int(t) >= len(r.TermPatterns) {
			return fmt.Errorf("term %d out of range [0,%d)", t, len(r.TermPatterns))
		}
	}
	return errors.Join(terms.checkComplete(), weights.checkComplete())
}

// verifyWordWeights checks that the weights in a span are positive and finite, and sorted
// by observation, none of them less than first.
func verifyWordWeights(r *Release, span Span, first int) error {
	last := first - 1
	for _, weight := range Slice(r.WordWeights, span) {
		if int(weight.Observation) <= last || int(weight.Observation) >= len(r.Observations) {
			return fmt.Errorf("weight for observation %d after %d is out of order or out of range [0,%d)", weight.Observation, last, len(r.Observations))
		}
		if value := float64(weight.Weight); !(value > 0) || math.IsInf(value, 0) {
			return fmt.Errorf("invalid weight %v for observation %d: expected a finite weight above 0", value, weight.Observation)
		}
		last = int(weight.Observation)
	}
	return nil
}

func verifyPatterns(r *Release) error {
	elements := spanChecker{section: "elements", length: len(r.Elements)}
	for i := range r.Patterns {
		p := &r.Patterns[i]
		if err := errors.Join(elements.check(p.Elements), verifyPattern(r, p)); err != nil {
			return fmt.Errorf("pattern %d: %w", i, err)
		}
		if i > 0 && (r.Patterns[i-1].Meaning > p.Meaning || r.Patterns[i-1].Meaning == p.Meaning && r.Patterns[i-1].Observation > p.Observation) {
			return fmt.Errorf("pattern %d is out of order", i)
		}
	}
	for i, e := range r.Elements {
		if err := verifyElement(r, e); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	for i, numberRange := range r.Ranges {
		if !(numberRange.From <= numberRange.To) {
			return fmt.Errorf("range %d: invalid bounds %v to %v", i, numberRange.From, numberRange.To)
		}
	}
	return elements.checkComplete()
}

func verifyPattern(r *Release, p *Pattern) error {
	n := p.Elements.Len()
	if n < 1 || n > MaxPatternElements || int(p.Key) >= n {
		return fmt.Errorf("key element %d of %d elements is out of range, or the number of elements is not between 1 and %d", p.Key, n, MaxPatternElements)
	}
	if !isKnownValue(p.Meaning, meaningValues) || !isValidBool(&p.AnyOrder) || !isValidBool(&p.NamesRelative) {
		return errors.New("unknown meaning or invalid flag")
	}
	if isMention := p.Meaning <= MeaningAbsentMention; isMention != (p.Observation != None) || p.Observation < None || int(p.Observation) >= len(r.Observations) {
		return fmt.Errorf("meaning %v does not match observation %d of %d", p.Meaning, p.Observation, len(r.Observations))
	}
	if p.Meaning != MeaningTime && p.Minutes != 0 {
		return fmt.Errorf("unexpected %d minutes for meaning %v", p.Minutes, p.Meaning)
	}
	if !isKnownValue(p.Sex, sexFilterValues) || p.Meaning != CueRelative && (p.Sex != BothSexes || p.AgeFrom != 0) {
		return fmt.Errorf("unexpected sex %d or minimum age of %d months for meaning %v", p.Sex, p.AgeFrom, p.Meaning)
	}
	return nil
}

func verifyElement(r *Release, e Element) error {
	switch {
	case e.Kind > TimeElement:
		return fmt.Errorf("unknown kind %d", e.Kind)
	case e.Kind == TermElement && int(e.Term) >= len(r.TermPatterns):
		return fmt.Errorf("term %d out of range [0,%d)", e.Term, len(r.TermPatterns))
	case e.Kind == NumberElement && int(e.Range) >= len(r.Ranges):
		return fmt.Errorf("range %d out of range [0,%d)", e.Range, len(r.Ranges))
	}
	return nil
}

// verifyTerms checks that each pattern with a term is listed under its key.
func verifyTerms(r *Release) error {
	patterns := spanChecker{section: "pattern references", length: len(r.PatternRefs)}
	for t, span := range r.TermPatterns {
		if err := patterns.check(span); err != nil {
			return fmt.Errorf("term %d: %w", t, err)
		}
		last := int64(-1)
		for _, ref := range Slice(r.PatternRefs, span) {
			pattern := ref.Pattern
			if int64(pattern) <= last || int(pattern) >= len(r.Patterns) {
				return fmt.Errorf("term %d: pattern %d after %d is out of order or out of range [0,%d)", t, pattern, last, len(r.Patterns))
			}
			last = int64(pattern)
			if key := r.patternKey(pattern); key.Kind != TermElement || key.Term != Term(t) {
				return fmt.Errorf("term %d: pattern %d has a different key", t, pattern)
			}
			if int(ref.PrefilterTerm) >= len(r.TermPatterns) {
				return fmt.Errorf("term %d: prefilter term %d out of range [0,%d)", t, ref.PrefilterTerm, len(r.TermPatterns))
			}
		}
	}
	if indexed := len(r.PatternRefs) + len(r.TermlessPatterns); indexed != len(r.Patterns) {
		return fmt.Errorf("expected %d indexed patterns, one for each pattern, got %d", len(r.Patterns), indexed)
	}
	return patterns.checkComplete()
}

func (r *Release) patternKey(pattern uint32) Element {
	p := &r.Patterns[pattern]
	return r.Elements[p.Elements.Start+uint32(p.Key)]
}

func verifyTermlessPatterns(r *Release) error {
	last := int64(-1)
	for _, pattern := range r.TermlessPatterns {
		if int64(pattern) <= last || int(pattern) >= len(r.Patterns) || r.patternKey(pattern).Kind == TermElement {
			return fmt.Errorf("termless pattern %d after %d is out of order, has a term as its key, or is out of range [0,%d)", pattern, last, len(r.Patterns))
		}
		last = int64(pattern)
	}
	return nil
}

func verifyDeletions(r *Release) error {
	for i, ref := range r.DeletionWords {
		if err := verifyTexts(r, ref); err != nil {
			return fmt.Errorf("deletion word %d: %w", i, err)
		}
		if i > 0 && compareText(r, r.DeletionWords[i-1], ref) >= 0 {
			return fmt.Errorf("deletion word %d is out of order", i)
		}
	}
	for i, d := range r.Deletions {
		if int(d.Word) >= len(r.DeletionWords) || i > 0 && compareDeletions(r.Deletions[i-1], d) >= 0 {
			return fmt.Errorf("deletion %d: word %d is out of range [0,%d) or out of order", i, d.Word, len(r.DeletionWords))
		}
	}
	return nil
}
