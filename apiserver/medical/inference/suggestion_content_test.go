// SPDX-License-Identifier: Apache-2.0

//go:build !race

package inference

import (
	"math/rand/v2"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/google/go-cmp/cmp"
)

// TestContentSuggestions checks, for random evidence, that nothing is suggested that
// must not be.
func TestContentSuggestions(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	random := rand.New(rand.NewPCG(62, 62))
	count := [SuggestEvidenceRiskFactors + 1]int{}
	for range 600 {
		list, sex, age := drawAnyEvidence(r, random), model.Sex(random.IntN(2)), random.IntN(1200)
		p, err := NewPatient(r, sex, age, list)
		if err != nil {
			t.Fatal(err)
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		shuffled, err := NewPatient(r, sex, age, list)
		if err != nil {
			t.Fatal(err)
		}
		for method := range SuggestEvidenceRiskFactors + 1 {
			most := random.IntN(30)
			picked := e.Suggest(r, p, Options{}, method, most)
			if diff := cmp.Diff(picked, e.Suggest(r, shuffled, Options{}, method, most)); diff != "" {
				t.Fatalf("method %d, in another order of the evidence: %s", method, diff)
			}
			if len(picked) > most {
				t.Errorf("%d suggestions, %d were asked for", len(picked), most)
			}
			count[method] += len(picked)
			for i, o := range picked {
				checkSuggestion(t, r, &p, list, method, o)
				for _, other := range picked[:i] {
					if o == other || isDescendant(r, o, other) || isDescendant(r, other, o) || exclusiveGroup(r, o) != model.None && exclusiveGroup(r, o) == exclusiveGroup(r, other) {
						t.Errorf("%s and %s are both suggested", r.ObservationID(o), r.ObservationID(other))
					}
				}
			}
		}
	}
	for method, n := range count {
		if n == 0 {
			t.Errorf("method %d returns no suggestions for any patient", method)
		}
	}
}
