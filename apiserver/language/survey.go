// SPDX-License-Identifier: Apache-2.0

package language

import (
	"iter"
	"sort"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A survey is what all searches of a text share: which patterns are worth a trial,
// as the sentence of their key has their other terms too. One in a hundred is, and
// a text is searched up to five times.
type survey struct {
	r       *model.Release
	present []uint64 // by term: whether any word of the sentence has it
	// candidates are those patterns, in order of the tokens that have their keys, and
	// keys says of every token which are its own.
	candidates []candidate
	keys       []tokenKeys
	cues       []cueCandidate // in order of their tokens
	firstCue   uint32         // the first pattern of a cue or a time
	left       int            // how many patterns are to be looked at yet
}

// A candidate is a pattern whose key a token has, in a sentence with all its terms.
type candidate struct {
	pattern uint32
	// ruledOut counts the patterns with a key at the same token that are none, from
	// the candidate before on.
	ruledOut int32
}

// A tokenKeys says what is found by the terms of a token.
type tokenKeys struct {
	from, to int32 // of survey.candidates
	ruledOut int32 // patterns that are none behind the last candidate
}

// A cueCandidate is a pattern of a cue or a time whose key a token has. Those that
// are not possible are counted when cues are searched.
type cueCandidate struct {
	pattern  uint32
	token    int32
	possible bool // the sentence has all its terms
}

// take surveys the words of a text. When it has looked at so many patterns it looks
// at none but those of cues and times.
func (s *survey) take(r *model.Release, words []word, most int) {
	s.r, s.left = r, most
	s.candidates, s.keys, s.cues = s.candidates[:0], s.keys[:0], s.cues[:0]
	s.firstCue = uint32(sort.Search(len(r.Patterns), func(i int) bool { return r.Patterns[i].Meaning >= model.CueNegates }))
	if need := (len(r.TermPatterns) + 63) / 64; len(s.present) < need {
		s.present = make([]uint64, need)
	}
	for from, to := range sentences(words) {
		s.mark(words[from:to], true)
		for i := from; i < to; i++ {
			s.takeToken(int32(i), &words[i])
		}
		s.mark(words[from:to], false)
	}
}

// sentences are the tokens from..to-1 of every sentence.
func sentences(words []word) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from, to := 0, 0; from < len(words); from = to {
			for to = from + 1; to < len(words) && !words[to-1].stops; {
				to++
			}
			if !yield(from, to) {
				return
			}
		}
	}
}

// mark notes the terms of words as present, or as absent again.
func (s *survey) mark(words []word, present bool) {
	for i := range words {
		for _, terms := range [][]model.Term{words[i].terms, words[i].joined} {
			for _, t := range terms {
				if present {
					s.present[t/64] |= 1 << (t % 64)
				} else {
					s.present[t/64] &^= 1 << (t % 64)
				}
			}
		}
	}
}

// hasTerm reports whether any word of the sentence has a term.
func (s *survey) hasTerm(t model.Term) bool { return s.present[t/64]>>(t%64)&1 != 0 }

// takeToken looks at the patterns whose key is a term of a token. Words that were
// written apart are of no cue.
func (s *survey) takeToken(token int32, w *word) {
	from, ruledOut := len(s.candidates), int32(0)
	for _, t := range w.terms {
		refs := model.Part(s.r.PatternRefs, s.r.TermPatterns[t])
		ruledOut = s.takeRefs(refs, ruledOut)
		s.takeCues(refs, token)
	}
	for _, t := range w.joined {
		ruledOut = s.takeRefs(model.Part(s.r.PatternRefs, s.r.TermPatterns[t]), ruledOut)
	}
	s.keys = append(s.keys, tokenKeys{from: int32(from), to: int32(len(s.candidates)), ruledOut: ruledOut})
}

// takeRefs adds the candidates among patterns. It takes and returns how many were
// ruled out since the last one.
func (s *survey) takeRefs(refs []model.PatternRef, ruledOut int32) int32 {
	if s.left < 0 {
		return ruledOut
	}
	s.left -= len(refs)
	for _, ref := range refs {
		if !s.hasTerm(ref.Beside) || !s.hasTerms(ref.Pattern) { // most lack the one beside
			ruledOut++
			continue
		}
		s.candidates = append(s.candidates, candidate{pattern: ref.Pattern, ruledOut: ruledOut})
		ruledOut = 0
	}
	return ruledOut
}

// takeCues adds the cues and times among patterns, which are the last of them.
func (s *survey) takeCues(refs []model.PatternRef, token int32) {
	first := len(refs)
	for first > 0 && refs[first-1].Pattern >= s.firstCue {
		first--
	}
	for _, ref := range refs[first:] {
		s.cues = append(s.cues, cueCandidate{pattern: ref.Pattern, token: token, possible: s.hasTerms(ref.Pattern)})
	}
}

// hasTerms reports whether the sentence has all terms of a pattern.
func (s *survey) hasTerms(pattern uint32) bool {
	elements := model.Part(s.r.Elements, s.r.Patterns[pattern].Elements)
	for i := range elements {
		if e := &elements[i]; e.Kind == model.TermElement && !s.hasTerm(e.Term) {
			return false
		}
	}
	return true
}
