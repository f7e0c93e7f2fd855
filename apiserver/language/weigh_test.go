// SPDX-License-Identifier: Apache-2.0

package language

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// The memory of one text does not say of the next patient what applies.
func TestWeigherForgetsThePatient(t *testing.T) {
	t.Parallel()
	r, male := learned(t), model.Male
	const late = "monthly visitor is late"
	man := Query{Text: late, Sex: &male, AgeMonths: 480, Symptoms: true}
	p := &parser{}
	for range 2 {
		if got := told(r, p.parse(r, adult(late))); got != "s_16" {
			t.Errorf("of a woman it says %q, want s_16", got)
		}
		if got := told(r, p.parse(r, man)); got != "" {
			t.Errorf("of a man it says %q, want nothing", got)
		}
	}
}

// An observation is asked about once for all the words that speak for it.
func TestWeigherAsksOnce(t *testing.T) {
	t.Parallel()
	r := learned(t)
	asked := map[model.ObservationIndex]int{}
	m := matcher{r: r, words: make([]word, 10)}
	var w weigher
	w.use(&m, func(o model.ObservationIndex) bool { asked[o]++; return true })
	for range 2 {
		w.begin()
		for _, of := range []string{"bomb", "skull", "guts", "beside"} {
			s, _ := r.FindWord(of)
			w.add(&s)
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
