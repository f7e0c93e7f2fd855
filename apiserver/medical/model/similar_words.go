// SPDX-License-Identifier: Apache-2.0

package model

import (
	"sync"

	"github.com/blevesearch/vellum/levenshtein"
)

// levenshteinBuilder builds automata that accept words within one edit of a given word.
// Swapping neighboring letters counts as one edit.
var levenshteinBuilder = sync.OnceValues(func() (*levenshtein.LevenshteinAutomatonBuilder, error) {
	return levenshtein.NewLevenshteinAutomatonBuilder(1, true)
})

// SimilarWords returns the known words, including ordinary words, within one edit of a
// folded word, in byte order. It takes about 0.1 ms.
func (r *Release) SimilarWords(folded string) []string {
	builder, err := levenshteinBuilder()
	if err != nil || r.fsts.vocabulary == nil {
		return nil
	}
	automaton, err := builder.BuildDfa(folded, 1)
	if err != nil { // the word is too long
		return nil
	}
	return r.fsts.vocabulary.matchingKeys(automaton)
}
