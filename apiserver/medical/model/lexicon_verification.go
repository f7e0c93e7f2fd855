// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"math"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/stem"
)

// verifyLexicon checks the properties of the lexicon that free-text parsing relies on,
// and loads the transducers. It must run before anything reads the lexicon's bools.
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
		return fmt.Errorf("unknown stemmer %q, expected one of %v", r.Meta.Stemmer, stem.Names())
	}
	terms := spanChecker{section: "term references", length: len(r.TermRefs)}
	indications := spanChecker{section: "indications", length: len(r.WordWeights)}
	for i := range r.Stems {
		s := &r.Stems[i]
		if err := errors.Join(terms.check(s.Terms), indications.check(s.PresentWeights), indications.check(s.AbsentWeights)); err != nil {
			return fmt.Errorf("stem %d: %w", i, err)
		}
		if err := errors.Join(verifyWordWeights(r, s.PresentWeights, None), verifyWordWeights(r, s.AbsentWeights, 0)); err != nil {
			return fmt.Errorf("stem %d: %w", i, err)
		}
		if !isValidBool(&s.IsFiller) || !isValidBool(&s.Plain) || math.IsInf(s.Number, 0) || s.Number < 0 {
			return fmt.Errorf("stem %d: invalid number %v, or a flag other than 0 or 1", i, s.Number)
		}
	}
	for _, t := range r.TermRefs {
		if int(t) >= len(r.TermPatterns) {
			return fmt.Errorf("term %d out of range [0,%d)", t, len(r.TermPatterns))
		}
	}
	return errors.Join(terms.checkComplete(), indications.checkComplete())
}

// verifyWordWeights checks that the weights in a span are positive and finite, and sorted
// by observation, none of them less than first.
func verifyWordWeights(r *Release, span Span, first int) error {
	last := first - 1
	for _, indicated := range Slice(r.WordWeights, span) {
		if int(indicated.Observation) <= last || int(indicated.Observation) >= len(r.Observations) {
			return fmt.Errorf("indicates observation %d after %d: out of order or out of range [0,%d)", indicated.Observation, last, len(r.Observations))
		}
		if weight := float64(indicated.Weight); !(weight > 0) || math.IsInf(weight, 0) {
			return fmt.Errorf("indicates observation %d with weight %v: expected a weight above 0", indicated.Observation, weight)
		}
		last = int(indicated.Observation)
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
	for i, of := range r.Ranges {
		if !(of.From <= of.To) {
			return fmt.Errorf("range %d: invalid bounds %v to %v", i, of.From, of.To)
		}
	}
	return elements.checkComplete()
}

func verifyPattern(r *Release, p *Pattern) error {
	n := p.Elements.Len()
	if n < 1 || n > MaxPatternElements || int(p.Key) >= n {
		return fmt.Errorf("key element %d of %d elements: expected an existing element, out of 1 to %d", p.Key, n, MaxPatternElements)
	}
	if !isKnownValue(p.Meaning, meaningValues) || !isValidBool(&p.AnyOrder) || !isValidBool(&p.NamesRelative) {
		return errors.New("unknown meaning, or invalid word order")
	}
	if about := p.Meaning <= MeaningAbsentMention; about != (p.Observation != None) || p.Observation < None || int(p.Observation) >= len(r.Observations) {
		return fmt.Errorf("meaning %v does not match observation %d of %d", p.Meaning, p.Observation, len(r.Observations))
	}
	if p.Meaning != MeaningTime && p.Minutes != 0 {
		return fmt.Errorf("%d minutes do not match the meaning %v", p.Minutes, p.Meaning)
	}
	if !isKnownValue(p.Sex, sexFilterValues) || p.Meaning != CueRelative && (p.Sex != BothSexes || p.AgeFrom != 0) {
		return fmt.Errorf("sex %d and an age from %d months do not match the meaning %v", p.Sex, p.AgeFrom, p.Meaning)
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
			at := ref.Pattern
			if int64(at) <= last || int(at) >= len(r.Patterns) {
				return fmt.Errorf("term %d: pattern %d after %d: out of order or out of range [0,%d)", t, at, last, len(r.Patterns))
			}
			last = int64(at)
			if key := r.patternKey(at); key.Kind != TermElement || key.Term != Term(t) {
				return fmt.Errorf("term %d: pattern %d is keyed by another element", t, at)
			}
			if int(ref.PrefilterTerm) >= len(r.TermPatterns) {
				return fmt.Errorf("term %d: prefilter term %d out of range [0,%d)", t, ref.PrefilterTerm, len(r.TermPatterns))
			}
		}
	}
	if found := len(r.PatternRefs) + len(r.TermlessPatterns); found != len(r.Patterns) {
		return fmt.Errorf("found %d patterns, but %d are indexed", len(r.Patterns), found)
	}
	return patterns.checkComplete()
}

func (r *Release) patternKey(pattern uint32) Element {
	p := &r.Patterns[pattern]
	return r.Elements[p.Elements.Start+uint32(p.Key)]
}

func verifyTermlessPatterns(r *Release) error {
	last := int64(-1)
	for _, at := range r.TermlessPatterns {
		if int64(at) <= last || int(at) >= len(r.Patterns) || r.patternKey(at).Kind == TermElement {
			return fmt.Errorf("pattern %d after %d: out of order, indexed by a term, or out of range [0,%d)", at, last, len(r.Patterns))
		}
		last = int64(at)
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
			return fmt.Errorf("deletion %d: word %d out of range [0,%d), or out of order", i, d.Word, len(r.DeletionWords))
		}
	}
	return nil
}
