// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"iter"
	"sort"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A prefilter determines once per text which patterns are worth a search: those with
// all their terms in the sentence of their key. About one in a hundred qualifies, and
// a text is searched up to five times.
type prefilter struct {
	r            *model.Release
	presentTerms []uint64 // bit set of the terms in the sentence
	// candidates are these patterns, in order of the tokens with their keys. keys holds
	// the range of each token.
	candidates []candidate
	keys       []tokenCandidates
	cues       []cueCandidate // in token order
	firstCue   uint32         // the first pattern of a cue or a time
	remaining  int            // remaining budget of patterns to check
}

// A candidate is a pattern with its key at a token and all its terms in the sentence.
type candidate struct {
	pattern uint32
	// ruledOut is the number of patterns with a key at the same token that were ruled out
	// since the previous candidate.
	ruledOut int32
}

// tokenCandidates is the range of candidates for a token.
type tokenCandidates struct {
	from, to int32 // range in prefilter.candidates
	ruledOut int32 // patterns ruled out after the last candidate
}

// A cueCandidate is a pattern of a cue or a time with its key at a token. Impossible
// ones are charged to the budget when cues are searched.
type cueCandidate struct {
	pattern  uint32
	token    int32
	possible bool // the sentence has all its terms
}

// scan prefilters the patterns for the words of a text. After checking most patterns
// it only checks those of cues and times.
func (s *prefilter) scan(r *model.Release, words []word, most int) {
	s.r, s.remaining = r, most
	s.candidates, s.keys, s.cues = s.candidates[:0], s.keys[:0], s.cues[:0]
	s.firstCue = uint32(sort.Search(len(r.Patterns), func(i int) bool { return r.Patterns[i].Meaning >= model.CueNegation }))
	if need := (len(r.TermPatterns) + 63) / 64; len(s.presentTerms) < need {
		s.presentTerms = make([]uint64, need)
	}
	for from, to := range sentences(words) {
		s.markTerms(words[from:to], true)
		for i := from; i < to; i++ {
			s.scanToken(int32(i), &words[i])
		}
		s.markTerms(words[from:to], false)
	}
}

// sentences yields the range from..to-1 of the tokens of each sentence.
func sentences(words []word) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from, to := 0, 0; from < len(words); from = to {
			for to = from + 1; to < len(words) && !words[to-1].endsSentence; {
				to++
			}
			if !yield(from, to) {
				return
			}
		}
	}
}

// markTerms sets or clears the terms of words in presentTerms.
func (s *prefilter) markTerms(words []word, present bool) {
	for i := range words {
		for _, terms := range [][]model.Term{words[i].terms, words[i].compoundTerms} {
			for _, t := range terms {
				if present {
					s.presentTerms[t/64] |= 1 << (t % 64)
				} else {
					s.presentTerms[t/64] &^= 1 << (t % 64)
				}
			}
		}
	}
}

// hasTerm reports whether a word of the sentence has a term.
func (s *prefilter) hasTerm(t model.Term) bool { return s.presentTerms[t/64]>>(t%64)&1 != 0 }

// scanToken checks the patterns whose key is a term of a token. Compounds written as
// two words do not match cues.
func (s *prefilter) scanToken(token int32, w *word) {
	from, ruledOut := len(s.candidates), int32(0)
	for _, t := range w.terms {
		refs := model.Slice(s.r.PatternRefs, s.r.TermPatterns[t])
		ruledOut = s.addCandidates(refs, ruledOut)
		s.addCues(refs, token)
	}
	for _, t := range w.compoundTerms {
		ruledOut = s.addCandidates(model.Slice(s.r.PatternRefs, s.r.TermPatterns[t]), ruledOut)
	}
	s.keys = append(s.keys, tokenCandidates{from: int32(from), to: int32(len(s.candidates)), ruledOut: ruledOut})
}

// addCandidates adds the patterns with all their terms in the sentence. It takes and
// returns the number of patterns ruled out since the last candidate.
func (s *prefilter) addCandidates(refs []model.PatternRef, ruledOut int32) int32 {
	if s.remaining < 0 {
		return ruledOut
	}
	s.remaining -= len(refs)
	for _, ref := range refs {
		if !s.hasTerm(ref.PrefilterTerm) || !s.hasTerms(ref.Pattern) { // most patterns lack PrefilterTerm
			ruledOut++
			continue
		}
		s.candidates = append(s.candidates, candidate{pattern: ref.Pattern, ruledOut: ruledOut})
		ruledOut = 0
	}
	return ruledOut
}

// addCues adds the cues and times among the patterns, which come last.
func (s *prefilter) addCues(refs []model.PatternRef, token int32) {
	first := len(refs)
	for first > 0 && refs[first-1].Pattern >= s.firstCue {
		first--
	}
	for _, ref := range refs[first:] {
		s.cues = append(s.cues, cueCandidate{pattern: ref.Pattern, token: token, possible: s.hasTerms(ref.Pattern)})
	}
}

// hasTerms reports whether the sentence has all terms of a pattern.
func (s *prefilter) hasTerms(pattern uint32) bool {
	elements := model.Slice(s.r.Elements, s.r.Patterns[pattern].Elements)
	for i := range elements {
		if e := &elements[i]; e.Kind == model.TermElement && !s.hasTerm(e.Term) {
			return false
		}
	}
	return true
}
