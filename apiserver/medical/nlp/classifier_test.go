// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// TestClassifierResetsApplicability checks that cached applicability does not leak to
// the next patient.
func TestClassifierResetsApplicability(t *testing.T) {
	t.Parallel()
	r, male := newReleaseWithExamples(t), model.Male
	const late = "monthly visitor is late"
	man := Query{Text: late, Sex: &male, AgeMonths: 480, Symptoms: true}
	p := &parser{}
	for range 2 {
		if got := formatMentions(r, p.parse(r, adultQuery(late))); got != "s_16" {
			t.Errorf("for a woman: got %q, want s_16", got)
		}
		if got := formatMentions(r, p.parse(r, man)); got != "" {
			t.Errorf("for a man: got %q, want no mention", got)
		}
	}
}

// TestClassifierCachesApplicability checks that the applicability of an observation is
// computed once for all words that indicate it.
func TestClassifierCachesApplicability(t *testing.T) {
	t.Parallel()
	r := newReleaseWithExamples(t)
	asked := map[model.ObservationIndex]int{}
	m := matcher{r: r, words: make([]word, 10)}
	var w classifier
	w.prepare(&m, func(o model.ObservationIndex) bool { asked[o]++; return true })
	for range 2 {
		w.reset()
		for _, of := range []string{"bomb", "skull", "guts", "beside"} {
			s, _ := r.FindWord(of)
			w.addWord(&s)
		}
	}
	if len(asked) < 3 {
		t.Errorf("%d observations were asked about, want those of three words at least", len(asked))
	}
	for o, times := range asked {
		if times != 1 {
			t.Errorf("observation %d was asked about %d times", o, times)
		}
	}
}
