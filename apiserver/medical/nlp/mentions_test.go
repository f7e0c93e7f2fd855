// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// TestParseVagueAcrossFamilies checks that vague wordings may refer to observations of
// the same conditions.
func TestParseVagueAcrossFamilies(t *testing.T) {
	t.Parallel()
	checkTexts(t, map[string]string{
		"still queasy":                "",
		"nausea, still queasy":        "s_15 s_26",
		"cough, ate sweets":           "s_8 p_3", // a risk factor of the same condition
		"cough, never ate sweets":     "s_8 -p_3",
		"nausea, ate sweets":          "s_15",
		"cough, still queasy":         "s_8",
		"nausea, cough, still queasy": "s_15 s_8 s_26",
		"nausea, cough, headache, runny nose, sore throat, still queasy": "s_15 s_8 s_1 s_10 s_9", // too far back
	})
}

func TestCosineSimilarity(t *testing.T) {
	t.Parallel()
	links := func(shares ...float64) []model.Link { // by condition, 0 for none
		var list []model.Link
		for condition, share := range shares {
			if share > 0 {
				list = append(list, model.Link{Other: int32(condition), Probability: share})
			}
		}
		return list
	}
	for _, row := range []struct {
		a, b []model.Link
		want float64
	}{
		{nil, nil, 0},
		{links(0.5), nil, 0},
		{links(0.5), links(0, 0.5), 0},
		{links(0.5), links(0.1), 1},
		{links(0.3, 0.4), links(0.3), 0.6},
		{links(0.3, 0, 0.4), links(0, 0.9, 0.4), 0.16 / (0.5 * math.Hypot(0.9, 0.4))},
	} {
		if got, back := cosineSimilarity(row.a, row.b), cosineSimilarity(row.b, row.a); math.Abs(got-row.want) > 1e-12 || got != back {
			t.Errorf("%v and %v: %v and %v, want %v", row.a, row.b, got, back, row.want)
		}
	}
}

// TestClosenessSpendsBudget checks that a text with many vague wordings and many
// topics exhausts its budget.
func TestClosenessSpendsBudget(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	o, _ := r.ObservationByID("s_26")
	p := &parser{r: r}
	p.matcher.r, p.matcher.budget = r, 5
	nausea, _ := r.ObservationByID("s_15")
	var got []bool
	for range 3 {
		got = append(got, p.closeness(o, nausea) > 0)
	}
	if diff := cmp.Diff([]bool{true, true, false}, got); diff != "" {
		t.Errorf("close: (-want +got)\n%s", diff)
	}
}
