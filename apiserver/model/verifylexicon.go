// SPDX-License-Identifier: Apache-2.0

package model

import (
	"errors"
	"fmt"
	"math"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/stem"
)

// verifyLexicon holds the lexicon against what readers of free text rely on,
// and makes its trees ready. It runs before anything reads its bools.
func verifyLexicon(r *Release) error {
	for _, check := range []func(*Release) error{
		verifyStems,
		verifyPatterns,
		verifyTerms,
		verifyNumberPatterns,
		verifyDeletes,
		verifyMisspellings,
		(*Release).loadTrees,
	} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

func verifyStems(r *Release) error {
	if _, ok := stem.For(r.Meta.Stemmer); !ok && r.Meta.Stemmer != "" {
		return fmt.Errorf("the stemmer %q is none of %v", r.Meta.Stemmer, stem.Names())
	}
	terms := tiling{section: "term references", length: len(r.TermRefs)}
	indications := tiling{section: "indications", length: len(r.Indications)}
	for i := range r.Stems {
		s := &r.Stems[i]
		if err := errors.Join(terms.take(s.Terms), indications.take(s.Indications), indications.take(s.Denials)); err != nil {
			return fmt.Errorf("stem %d: %w", i, err)
		}
		if err := errors.Join(verifyIndications(r, s.Indications, None), verifyIndications(r, s.Denials, 0)); err != nil {
			return fmt.Errorf("stem %d: %w", i, err)
		}
		if !isBool(&s.Filler) || !isBool(&s.Plain) || math.IsInf(s.Number, 0) || s.Number < 0 {
			return fmt.Errorf("stem %d: the number %v, or neither a filler nor none, or neither plain nor not", i, s.Number)
		}
	}
	for _, t := range r.TermRefs {
		if int(t) >= len(r.TermPatterns) {
			return fmt.Errorf("term %d, where there are %d", t, len(r.TermPatterns))
		}
	}
	return errors.Join(terms.done(), indications.done())
}

// verifyIndications checks indications of observations from first on.
func verifyIndications(r *Release, span Span, first int) error {
	last := first - 1
	for _, indicated := range Part(r.Indications, span) {
		if int(indicated.Observation) <= last || int(indicated.Observation) >= len(r.Observations) {
			return fmt.Errorf("speaks for observation %d behind %d, where there are %d", indicated.Observation, last, len(r.Observations))
		}
		if weight := float64(indicated.Weight); !(weight > 0) || math.IsInf(weight, 0) {
			return fmt.Errorf("speaks for observation %d with %v: expected more than 0", indicated.Observation, weight)
		}
		last = int(indicated.Observation)
	}
	return nil
}

func verifyPatterns(r *Release) error {
	elements := tiling{section: "elements", length: len(r.Elements)}
	for i := range r.Patterns {
		p := &r.Patterns[i]
		if err := errors.Join(elements.take(p.Elements), verifyPattern(r, p)); err != nil {
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
			return fmt.Errorf("range %d is from %v to %v", i, of.From, of.To)
		}
	}
	return elements.done()
}

func verifyPattern(r *Release, p *Pattern) error {
	n := p.Elements.Len()
	if n < 1 || n > MostElements || int(p.Key) >= n {
		return fmt.Errorf("found by element %d of %d, where there may be 1 to %d", p.Key, n, MostElements)
	}
	if !inWords(p.Meaning, meaningWords) || !isBool(&p.AnyOrder) || !isBool(&p.Relative) {
		return errors.New("of no known meaning, or neither in order nor in any")
	}
	if about := p.Meaning <= MentionsAbsent; about != (p.Observation != None) || p.Observation < None || int(p.Observation) >= len(r.Observations) {
		return fmt.Errorf("of the meaning %v and observation %d, where there are %d", p.Meaning, p.Observation, len(r.Observations))
	}
	if p.Meaning != SaysTime && p.Minutes != 0 {
		return fmt.Errorf("%d minutes of the meaning %v", p.Minutes, p.Meaning)
	}
	if !inWords(p.Sex, sexFilterWords) || p.Meaning != CueRelatives && (p.Sex != BothSexes || p.AgeFrom != 0) {
		return fmt.Errorf("of sex %d from %d months of the meaning %v", p.Sex, p.AgeFrom, p.Meaning)
	}
	return nil
}

func verifyElement(r *Release, e Element) error {
	switch {
	case e.Kind > TimeElement:
		return fmt.Errorf("of the unknown kind %d", e.Kind)
	case e.Kind == TermElement && int(e.Term) >= len(r.TermPatterns):
		return fmt.Errorf("term %d, where there are %d", e.Term, len(r.TermPatterns))
	case e.Kind == NumberElement && int(e.Range) >= len(r.Ranges):
		return fmt.Errorf("range %d, where there are %d", e.Range, len(r.Ranges))
	}
	return nil
}

// verifyTerms checks that each pattern with a term is found by its key.
func verifyTerms(r *Release) error {
	patterns := tiling{section: "pattern references", length: len(r.PatternRefs)}
	for t, span := range r.TermPatterns {
		if err := patterns.take(span); err != nil {
			return fmt.Errorf("term %d: %w", t, err)
		}
		last := int64(-1)
		for _, ref := range Part(r.PatternRefs, span) {
			at := ref.Pattern
			if int64(at) <= last || int(at) >= len(r.Patterns) {
				return fmt.Errorf("term %d: pattern %d behind %d, where there are %d", t, at, last, len(r.Patterns))
			}
			last = int64(at)
			if key := r.key(at); key.Kind != TermElement || key.Term != Term(t) {
				return fmt.Errorf("term %d: pattern %d is found by another element", t, at)
			}
			if int(ref.Beside) >= len(r.TermPatterns) {
				return fmt.Errorf("term %d: term %d beside it, where there are %d", t, ref.Beside, len(r.TermPatterns))
			}
		}
	}
	if found := len(r.PatternRefs) + len(r.NumberPatterns); found != len(r.Patterns) {
		return fmt.Errorf("%d patterns, of which %d are found", len(r.Patterns), found)
	}
	return patterns.done()
}

func (r *Release) key(pattern uint32) Element {
	p := &r.Patterns[pattern]
	return r.Elements[p.Elements.Start+uint32(p.Key)]
}

func verifyNumberPatterns(r *Release) error {
	last := int64(-1)
	for _, at := range r.NumberPatterns {
		if int64(at) <= last || int(at) >= len(r.Patterns) || r.key(at).Kind == TermElement {
			return fmt.Errorf("pattern %d behind %d is found by a term, or there are only %d", at, last, len(r.Patterns))
		}
		last = int64(at)
	}
	return nil
}

func verifyDeletes(r *Release) error {
	for i, ref := range r.DeleteWords {
		if err := checkTexts(r, ref); err != nil {
			return fmt.Errorf("word %d of the deletes: %w", i, err)
		}
		if i > 0 && compareText(r, r.DeleteWords[i-1], ref) >= 0 {
			return fmt.Errorf("word %d of the deletes is out of order", i)
		}
	}
	for i, d := range r.Deletes {
		if int(d.Word) >= len(r.DeleteWords) || i > 0 && compareDeletes(r.Deletes[i-1], d) >= 0 {
			return fmt.Errorf("delete %d is of word %d of %d, or out of order", i, d.Word, len(r.DeleteWords))
		}
	}
	return nil
}
