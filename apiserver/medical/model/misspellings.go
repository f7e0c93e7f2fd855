// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
)

// A Misspelling is a common misspelling that edit distance does not find reliably, with
// the correct word. Both are folded.
type Misspelling struct {
	Wrong, Right StringRef
}

// CorrectSpelling returns the correct word for a listed misspelling.
func (r *Release) CorrectSpelling(folded string) (right string, ok bool) {
	i, found := sort.Find(len(r.Misspellings), func(i int) int { return cmp.Compare(folded, r.Text(r.Misspellings[i].Wrong)) })
	if !found {
		return "", false
	}
	return r.Text(r.Misspellings[i].Right), true
}

func (e *lexiconEncoder) encodeMisspellings() {
	known := e.draft.Lexicon.Misspellings
	for _, wrong := range slices.Sorted(maps.Keys(known)) {
		e.release.Misspellings = append(e.release.Misspellings, Misspelling{Wrong: e.internText(wrong), Right: e.internText(known[wrong])})
	}
}

func verifyMisspellings(r *Release) error {
	for i, m := range r.Misspellings {
		if err := verifyTexts(r, m.Wrong, m.Right); err != nil {
			return fmt.Errorf("misspelling %d: %w", i, err)
		}
		if i > 0 && compareText(r, r.Misspellings[i-1].Wrong, m.Wrong) >= 0 {
			return fmt.Errorf("misspelling %d is out of order", i)
		}
	}
	return nil
}
