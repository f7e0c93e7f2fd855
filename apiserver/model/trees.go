// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/blevesearch/vellum"
)

// trees are the finite state transducers of a release, which lead from text to
// numbers. They read the sections in place; what they hold themselves is a few
// words of memory. Look-ups are safe for concurrent use.
type trees struct {
	vocabulary, stems *vellum.FST
}

// WordFrequency is how often the wordings of the release use a word, folded,
// 1 and more; ok says whether they do, or the word is an ordinary one of the
// language, which has 1 when no pattern uses it.
func (r *Release) WordFrequency(folded string) (frequency uint64, ok bool) {
	return lookUp(r.trees.vocabulary, folded)
}

// FindStem is what the release knows of a stem, as the stemmer that Meta names
// makes it of a folded word.
func (r *Release) FindStem(stem string) (found Stem, ok bool) {
	at, ok := lookUp(r.trees.stems, stem)
	if !ok || at >= uint64(len(r.Stems)) {
		return Stem{}, false
	}
	return r.Stems[at], true
}

func lookUp(tree *vellum.FST, key string) (value uint64, ok bool) {
	if tree == nil {
		return 0, false
	}
	value, ok, err := tree.Get([]byte(key))
	return value, ok && err == nil
}
