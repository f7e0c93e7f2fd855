// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"math"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/google/go-cmp/cmp"
)

// rankingLines returns the ranking of a 40-year-old woman, by condition ID.
func rankingLines(t testing.TB, r *model.Release, words string) []string {
	t.Helper()
	var ids []string
	for _, ranked := range New().Assess(r, newFemalePatient(t, r, words), Options{}).Conditions {
		ids = append(ids, r.ConditionID(ranked.Condition))
	}
	return ids
}

// TestProbabilityKnownValues checks a value that can be computed by hand.
func TestProbabilityKnownValues(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Condition("c_1", 0.1).Symptom("s_1", 0.2).Symptom("s_2", 0.1).RiskFactor("p_1", 0.25).
		Link("c_1", "s_1", 0.8).Link("c_1", "s_2", 0.55).
		Factor("c_1", "p_1", 2, 2.0/3).Build(t)
	link1, link2 := answerSensitivity*(0.8-0.2)/0.8, answerSensitivity*(0.55-0.1)/0.9
	share1, share2 := 1-(1-0.2)*(1-link1), 1-(1-0.1)*(1-link2)
	likely := func(odds float64) float64 { return odds / (1 + odds) }
	prior := 0.1 / 0.9
	for words, want := range map[string]float64{
		"s_1":          likely(prior * share1 / 0.2),
		"s_1 s_2":      likely(prior * share1 / 0.2 * share2 / 0.1),
		"s_1 -s_2":     likely(prior * share1 / 0.2 * (1 - link2)),
		"-s_1":         likely(prior * (1 - link1)),
		"s_1 p_1":      likely(prior * 2 * share1 / 0.2),
		"s_1 -p_1":     likely(prior * 2 / 3 * share1 / 0.2),
		"s_1 ?p_1":     likely(prior * share1 / 0.2),
		"s_1 ?s_2":     likely(prior * share1 / 0.2),
		"s_1 -s_2 p_1": likely(prior * 2 * share1 / 0.2 * (1 - link2)),
	} {
		if got := infer(New(), r, newFemalePatient(t, r, words))[0]; math.Abs(got-want) > 1e-15 {
			t.Errorf("%q: %.17g, want %.17g", words, got, want)
		}
	}
}

func TestPriorsBySexAndAge(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		Condition("c_1", 0.1, func(c *model.DraftCondition) { c.Prior[model.Male] = [model.NumAgeBands]float64{} }).
		Condition("c_2", 0.1, func(c *model.DraftCondition) { c.AgeFrom = 600 }).
		Condition("c_3", 0.1, func(c *model.DraftCondition) { c.Prior[model.Female][model.AgeBand(480)] = 0.3 }).
		Symptom("s_1", 0.1).Link("c_1", "s_1", 0.5).Link("c_2", "s_1", 0.5).Link("c_3", "s_1", 0.5).
		Build(t)
	posterior := func(sex model.Sex, age int) []float64 {
		p, err := NewPatient(r, sex, age, nil)
		if err != nil {
			t.Fatal(err)
		}
		return infer(New(), r, p)
	}
	approximately := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-15 })
	for _, test := range []struct {
		sex  model.Sex
		age  int
		want []float64
	}{
		{model.Female, 480, []float64{0.1, 0, 0.3}},
		{model.Male, 480, []float64{0, 0, 0.1}},
		{model.Female, 600, []float64{0.1, 0.1, 0.1}},
		{model.Male, 599, []float64{0, 0, 0.1}},
	} {
		if diff := cmp.Diff(test.want, posterior(test.sex, test.age), approximately); diff != "" {
			t.Errorf("%v of %d months: %s", test.sex, test.age, diff)
		}
	}
}

// TestRefinedObservationFactor expects a parent and its child to count once, in
// factors as in links.
func TestRefinedObservationFactor(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Condition("c_1", 0.1).Condition("c_2", 0.1).
		Symptom("s_1", 0.1).Child("s_2", "s_1", model.CharacterRelation, 0.05).
		Factor("c_1", "s_1", 2, 0.5).Factor("c_1", "s_2", 4, 0.5).Factor("c_2", "s_1", 3, 0.5).
		Build(t)
	odds := 0.1 / 0.9
	for words, want := range map[string][2]float64{
		"s_1":      {2 * odds, 3 * odds},
		"s_2":      {4 * odds, 3 * odds},
		"s_1 -s_2": {2 * 0.5 * odds, 3 * odds},
		"-s_1":     {0.5 * odds, 0.5 * odds},
	} {
		for c, p := range infer(New(), r, newFemalePatient(t, r, words)) {
			if want := want[c] / (1 + want[c]); math.Abs(p-want) > 1e-15 {
				t.Errorf("%q: c_%d has %.17g, want %.17g", words, c+1, p, want)
			}
		}
	}
}

func TestRankingNeedsThreeObservations(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Condition("c_1", 0.1).Condition("c_2", 0.08).
		Symptom("s_1", 0.1).Symptom("s_2", 0.1).Symptom("s_3", 0.1).Child("s_4", "s_1", model.CharacterRelation, 0.05).
		Link("c_1", "s_1", 0.5).Link("c_2", "s_1", 0.5).Link("c_1", "s_4", 0.2).Link("c_2", "s_4", 0.2).Build(t)
	for words, want := range map[string]int{
		"":                   0,
		"-s_2 -s_3":          0,
		"-s_1 -s_2 -s_3":     0, // nothing is present
		"s_1":                1,
		"s_1 -s_2":           1,
		"s_1 s_4 -s_2":       1, // a parent with its child
		"s_1 -s_2 ?s_3":      1,
		"s_1 -s_2 -s_3":      2,
		"s_1 s_4 -s_2 -s_3":  2,
		"s_1! -s_2 -s_3":     2,
		"-s_1 s_4 -s_2 -s_3": 2,
	} {
		if got := rankingLines(t, r, words); len(got) != want {
			t.Errorf("%q: ranking %v, want %d entries", words, got, want)
		}
	}
}

func TestRankingOrderSizeAndRounding(t *testing.T) {
	t.Parallel()
	b := modeltest.New().Symptom("s_1", 0.3).Symptom("s_2", 0.1).Symptom("s_3", 0.1)
	for c := 1; c <= 30; c++ {
		id := fmt.Sprintf("c_%d", c)
		b.Condition(id, []float64{0.06, 0.05}[c%2]).Link(id, "s_1", 0.9)
	}
	r := b.Build(t)
	ranked := New().Assess(r, newFemalePatient(t, r, "s_1 -s_2 -s_3"), Options{}).Conditions
	if len(ranked) != maxRankingSize {
		t.Fatalf("%d entries, want %d", len(ranked), maxRankingSize)
	}
	for i, entry := range ranked {
		if scaled := entry.Probability * 1e4; math.Abs(scaled-math.Round(scaled)) > 1e-9 {
			t.Errorf("entry %d: %v has more than four decimals", i, entry.Probability)
		}
		if i == 0 {
			continue
		}
		before := ranked[i-1]
		if before.Probability < entry.Probability || before.Probability == entry.Probability && before.Condition >= entry.Condition {
			t.Errorf("entry %d: %v after %v", i, entry, before)
		}
	}
}

// TestRankingKeepsUnlikelyLeadingConditions expects, from three observations on, five
// conditions that cause a present finding, and no other unlikely ones.
func TestRankingKeepsUnlikelyLeadingConditions(t *testing.T) {
	t.Parallel()
	b := modeltest.New().Symptom("s_1", 0.1).Symptom("s_2", 0.1).Symptom("s_3", 0.1).Symptom("s_4", 0.1).
		Condition("c_9", 0.009).Link("c_9", "s_3", 0.5)
	for c := 1; c <= 7; c++ {
		id := fmt.Sprintf("c_%d", c)
		b.Condition(id, math.Pow(10, -3-float64(c))).Link(id, "s_1", 0.5)
	}
	r := b.Link("c_1", "s_2", 0.5).Link("c_2", "s_2", 0.4).Build(t)
	for words, want := range map[string][]string{
		"s_1":           {"c_1"},
		"s_1 -s_3":      {"c_1"},
		"s_1 -s_3 -s_4": {"c_1", "c_2", "c_3", "c_4", "c_5"},
		"s_2 -s_3 -s_4": {"c_1", "c_2"}, // if there are that many
		// Also if the complaint is another symptom.
		"s_2! s_1 -s_3 -s_4": {"c_1", "c_2", "c_3", "c_4", "c_5"},
	} {
		if diff := cmp.Diff(want, rankingLines(t, r, words)); diff != "" {
			t.Errorf("%q: %s", words, diff)
		}
	}
}

// TestFullRankingKeepsLeadingConditions has twenty common conditions that are more
// likely than any that causes a present finding.
func TestFullRankingKeepsLeadingConditions(t *testing.T) {
	t.Parallel()
	b := modeltest.New().Symptom("s_1", 0.1).Symptom("s_2", 0.1).Symptom("s_3", 0.1).Symptom("s_4", 0.1)
	var want []string
	for c := 1; c <= 30; c++ {
		id := fmt.Sprintf("c_%d", c)
		if c <= 23 {
			b.Condition(id, 0.4-0.01*float64(c)).Link(id, "s_4", 0.5)
		} else {
			b.Condition(id, 1e-4-1e-6*float64(c)).Link(id, "s_1", 0.5)
		}
		if c <= maxRankingSize-maxLeading || 23 < c && c <= 23+maxLeading {
			want = append(want, id)
		}
	}
	if diff := cmp.Diff(want, rankingLines(t, b.Build(t), "s_1 -s_2 -s_3")); diff != "" {
		t.Error(diff)
	}
}

// TestRankingOmitsUnrelatedConditions expects them only if they are likely.
func TestRankingOmitsUnrelatedConditions(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		Condition("c_1", 0.05).Condition("c_2", 0.05).Condition("c_3", 0.12).Condition("c_4", 0.02).
		Symptom("s_1", 0.1).Symptom("s_2", 0.05).Symptom("s_3", 0.1).Symptom("s_4", 0.1).
		Child("s_5", "s_1", model.CharacterRelation, 0.05).
		Link("c_1", "s_1", 0.8).Link("c_1", "s_5", 0.3).Link("c_4", "s_1", 0.2).
		Link("c_2", "s_2", 0.1).Link("c_3", "s_3", 0.5).Build(t)
	for words, want := range map[string][]string{
		"s_1! -s_2 ?s_3 -s_4":  {"c_1", "c_3", "c_4"},
		"s_1! s_2 -s_3 -s_4":   {"c_1", "c_2", "c_4"}, // c_2 explains s_2, which is present, but not initial
		"s_1! s_2! -s_3 -s_4":  {"c_1", "c_2", "c_4"},
		"s_1 s_2 -s_3 -s_4":    {"c_1", "c_2", "c_4"},        // every present symptom counts as initial
		"s_1+ -s_2+ ?s_3 -s_4": {"c_1", "c_3", "c_2", "c_4"}, // nothing is initial, so nothing is unrelated
		"s_5! -s_2 ?s_3 -s_4":  {"c_1", "c_3", "c_4"},        // c_4 is linked to the parent of s_5
	} {
		if diff := cmp.Diff(want, rankingLines(t, r, words)); diff != "" {
			t.Errorf("%q: %s", words, diff)
		}
	}
}
