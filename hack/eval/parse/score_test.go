// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// read reads mentions as show writes them.
func read(line string) []mention {
	var all []mention
	for word := range strings.FieldsSeq(line) {
		concept, denied := strings.CutPrefix(word, "-")
		m := mention{Concept: concept, Choice: present}
		if denied {
			m.Choice = absent
		}
		all = append(all, m)
	}
	return all
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		title, expected, found                 string
		mentions, concepts, negations, choices count
	}{
		{"nothing said and found", "", "", count{}, count{}, count{}, count{}},
		{"all found", "fever -cough", "-cough fever", count{2, 0, 0}, count{2, 0, 0}, count{1, 0, 0}, count{1, 0, 0}},
		{"one missing", "fever -cough", "fever", count{1, 0, 1}, count{1, 0, 1}, count{0, 0, 1}, count{}},
		{"one invented", "fever", "fever -rash", count{1, 1, 0}, count{1, 1, 0}, count{0, 1, 0}, count{}},
		{"the other choice", "-fever", "fever", count{0, 1, 1}, count{1, 0, 0}, count{0, 0, 1}, count{0, 0, 1}},
		{"denied wrongly", "fever", "-fever", count{0, 1, 1}, count{1, 0, 0}, count{0, 1, 0}, count{0, 1, 0}},
		{"found twice", "fever", "fever fever", count{1, 0, 0}, count{1, 0, 0}, count{}, count{}},
		{"found with both choices", "fever", "fever -fever", count{1, 1, 0}, count{1, 0, 0}, count{0, 1, 0}, count{0, 1, 0}},
	} {
		t.Run(row.title, func(t *testing.T) {
			t.Parallel()
			got := judge(sentence{Mentions: read(row.expected)}, read(row.found)).score
			want := score{sentences: 1, mentions: row.mentions, concepts: row.concepts, negation: row.negations, choices: row.choices}
			if row.mentions.wrong+row.mentions.missing == 0 {
				want.exact = 1
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(score{}, count{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	for c, want := range map[count][3]float64{
		{}:                                 {1, 1, 1},
		{right: 3, wrong: 1, missing: 2}:   {0.75, 0.6, 2.0 / 3},
		{wrong: 2}:                         {0, 1, 0},
		{missing: 2}:                       {1, 0, 0},
		{right: 5}:                         {1, 1, 1},
		{right: 1, wrong: 1, missing: 1}:   {0.5, 0.5, 0.5},
		{right: 90, wrong: 10, missing: 0}: {0.9, 1, 180.0 / 190},
	} {
		if got := [3]float64{c.precision(), c.recall(), c.f1()}; got != want {
			t.Errorf("%+v: got %v, want %v", c, got, want)
		}
	}
}

// TestF1IsTheHarmonicMean holds the formula against the definition.
func TestF1IsTheHarmonicMean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := count{rapid.IntRange(1, 1000).Draw(t, "right"), rapid.IntRange(0, 1000).Draw(t, "wrong"), rapid.IntRange(0, 1000).Draw(t, "missing")}
		p, r := c.precision(), c.recall()
		if want := 2 * p * r / (p + r); math.Abs(c.f1()-want) > 1e-12 {
			t.Fatalf("%+v: got %v, want %v", c, c.f1(), want)
		}
	})
}

// TestCompareCountsAll holds that everything expected and everything found is
// counted once, whatever the order.
func TestCompareCountsAll(t *testing.T) {
	t.Parallel()
	mentions := rapid.SliceOfN(rapid.SampledFrom(read("a b c d -a -b -c -d")), 0, 12)
	whole := func(m mention) (mention, bool) { return m, true }
	rapid.Check(t, func(t *rapid.T) {
		expected, found := mentions.Draw(t, "expected"), mentions.Draw(t, "found")
		c := compare(found, expected, whole)
		if c.right+c.wrong != len(keys(found, whole)) || c.right+c.missing != len(keys(expected, whole)) {
			t.Fatalf("%+v of %s found and %s expected", c, show(found), show(expected))
		}
		if turned := compare(expected, found, whole); turned != (count{c.right, c.missing, c.wrong}) {
			t.Fatalf("%+v turned round is %+v", c, turned)
		}
	})
}

func TestWorst(t *testing.T) {
	t.Parallel()
	outcomes := []outcome{
		judge(sentence{ID: "d", Mentions: read("fever")}, read("")),
		judge(sentence{ID: "c", Mentions: read("fever")}, read("fever")),
		judge(sentence{ID: "b", Mentions: read("fever")}, read("cough")),
		judge(sentence{ID: "a", Mentions: read("")}, read("rash")),
	}
	for most, want := range map[int]string{0: "", 1: "b", 2: "b a", 9: "b a d"} {
		var ids []string
		for _, o := range worst(outcomes, most) {
			ids = append(ids, o.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("worst %d: got %s, want %s", most, got, want)
		}
	}
}
