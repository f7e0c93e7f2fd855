// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
)

// A Misspelling is a word that is often written wrong in one way, which no
// distance between words would find, or not surely. Both are folded.
type Misspelling struct {
	Wrong, Right StringRef
}

// Respelt is the word that is meant by one that is often written so.
func (r *Release) Respelt(folded string) (right string, ok bool) {
	at, found := sort.Find(len(r.Misspellings), func(i int) int { return cmp.Compare(folded, r.Text(r.Misspellings[i].Wrong)) })
	if !found {
		return "", false
	}
	return r.Text(r.Misspellings[at].Right), true
}

func (x *lexiconLayout) layMisspellings() {
	known := x.draft.Lexicon.Misspellings
	for _, wrong := range slices.Sorted(maps.Keys(known)) {
		x.release.Misspellings = append(x.release.Misspellings, Misspelling{Wrong: x.text(wrong), Right: x.text(known[wrong])})
	}
}

func verifyMisspellings(r *Release) error {
	for i, m := range r.Misspellings {
		if err := checkTexts(r, m.Wrong, m.Right); err != nil {
			return fmt.Errorf("misspelling %d: %w", i, err)
		}
		if i > 0 && compareText(r, r.Misspellings[i-1].Wrong, m.Wrong) >= 0 {
			return fmt.Errorf("misspelling %d is out of order", i)
		}
	}
	return nil
}
