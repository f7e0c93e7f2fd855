// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"iter"
	"sort"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A prefilter determines once per text which patterns are worth searching for: the
// patterns with all their terms in the same sentence as their key. About one in a
// hundred qualifies, and a text is searched up to five times.
type prefilter struct {
	r            *model.Release
	presentTerms []uint64 // bit set of the terms in the sentence
	// candidates are the patterns worth searching for, in order of the tokens with their
	// keys. keys holds the range of candidates for each token.
	candidates []candidate
	keys       []tokenCandidates
	cues       []cueCandidate // in token order
	firstCue   uint32         // first pattern of a cue or a time
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
// candidates are charged to the budget when cues are searched.
type cueCandidate struct {
	pattern  uint32
	token    int32
	possible bool // the sentence has all its terms
}

// scan prefilters the patterns for the words of a text. Once limit patterns have been
// checked, it checks only the patterns of cues and times.
func (p *prefilter) scan(r *model.Release, words []word, limit int) {
	p.r, p.remaining = r, limit
	p.candidates, p.keys, p.cues = p.candidates[:0], p.keys[:0], p.cues[:0]
	p.firstCue = uint32(sort.Search(len(r.Patterns), func(i int) bool { return r.Patterns[i].Meaning >= model.CueNegation }))
	if need := (len(r.TermPatterns) + 63) / 64; len(p.presentTerms) < need {
		p.presentTerms = make([]uint64, need)
	}
	for from, to := range sentences(words) {
		p.markTerms(words[from:to], true)
		for i := from; i < to; i++ {
			p.scanToken(int32(i), &words[i])
		}
		p.markTerms(words[from:to], false)
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
func (p *prefilter) markTerms(words []word, present bool) {
	for i := range words {
		for _, terms := range [][]model.Term{words[i].terms, words[i].compoundTerms} {
			for _, t := range terms {
				if present {
					p.presentTerms[t/64] |= 1 << (t % 64)
				} else {
					p.presentTerms[t/64] &^= 1 << (t % 64)
				}
			}
		}
	}
}

// hasTerm reports whether a word of the sentence has a term.
func (p *prefilter) hasTerm(t model.Term) bool { return p.presentTerms[t/64]>>(t%64)&1 != 0 }

// scanToken checks the patterns whose key is a term of a token. Compounds written as
// two words do not match cues.
func (p *prefilter) scanToken(token int32, w *word) {
	from, ruledOut := len(p.candidates), int32(0)
	for _, t := range w.terms {
		refs := model.Slice(p.r.PatternRefs, p.r.TermPatterns[t])
		ruledOut = p.addCandidates(refs, ruledOut)
		p.addCues(refs, token)
	}
	for _, t := range w.compoundTerms {
		ruledOut = p.addCandidates(model.Slice(p.r.PatternRefs, p.r.TermPatterns[t]), ruledOut)
	}
	p.keys = append(p.keys, tokenCandidates{from: int32(from), to: int32(len(p.candidates)), ruledOut: ruledOut})
}

// addCandidates adds the patterns with all their terms in the sentence. It takes and
// returns the number of patterns ruled out since the last candidate.
func (p *prefilter) addCandidates(refs []model.PatternRef, ruledOut int32) int32 {
	if p.remaining < 0 {
		return ruledOut
	}
	p.remaining -= len(refs)
	for _, ref := range refs {
		if !p.hasTerm(ref.PrefilterTerm) || !p.hasTerms(ref.Pattern) { // most patterns lack PrefilterTerm
			ruledOut++
			continue
		}
		p.candidates = append(p.candidates, candidate{pattern: ref.Pattern, ruledOut: ruledOut})
		ruledOut = 0
	}
	return ruledOut
}

// addCues adds the cues and times among the patterns, which come last.
func (p *prefilter) addCues(refs []model.PatternRef, token int32) {
	first := len(refs)
	for first > 0 && refs[first-1].Pattern >= p.firstCue {
		first--
	}
	for _, ref := range refs[first:] {
		p.cues = append(p.cues, cueCandidate{pattern: ref.Pattern, token: token, possible: p.hasTerms(ref.Pattern)})
	}
}

// hasTerms reports whether the sentence has all terms of a pattern.
func (p *prefilter) hasTerms(pattern uint32) bool {
	elements := model.Slice(p.r.Elements, p.r.Patterns[pattern].Elements)
	for i := range elements {
		if e := &elements[i]; e.Kind == model.TermElement && !p.hasTerm(e.Term) {
			return false
		}
	}
	return true
}
