// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// parseMentions parses mentions in the format of formatMentions.
func parseMentions(line string) []mention {
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

func TestEvaluate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		title, expected, found                 string
		mentions, concepts, negations, choices matchCounts
	}{
		{"empty", "", "", matchCounts{}, matchCounts{}, matchCounts{}, matchCounts{}},
		{"all found", "fever -cough", "-cough fever", matchCounts{2, 0, 0}, matchCounts{2, 0, 0}, matchCounts{1, 0, 0}, matchCounts{1, 0, 0}},
		{"one missing", "fever -cough", "fever", matchCounts{1, 0, 1}, matchCounts{1, 0, 1}, matchCounts{0, 0, 1}, matchCounts{}},
		{"one extra", "fever", "fever -rash", matchCounts{1, 1, 0}, matchCounts{1, 1, 0}, matchCounts{0, 1, 0}, matchCounts{}},
		{"wrongly present", "-fever", "fever", matchCounts{0, 1, 1}, matchCounts{1, 0, 0}, matchCounts{0, 0, 1}, matchCounts{0, 0, 1}},
		{"wrongly absent", "fever", "-fever", matchCounts{0, 1, 1}, matchCounts{1, 0, 0}, matchCounts{0, 1, 0}, matchCounts{0, 1, 0}},
		{"found twice", "fever", "fever fever", matchCounts{1, 0, 0}, matchCounts{1, 0, 0}, matchCounts{}, matchCounts{}},
		{"found with both choices", "fever", "fever -fever", matchCounts{1, 1, 0}, matchCounts{1, 0, 0}, matchCounts{0, 1, 0}, matchCounts{0, 1, 0}},
	} {
		t.Run(row.title, func(t *testing.T) {
			t.Parallel()
			got := evaluate(sentence{Mentions: parseMentions(row.expected)}, parseMentions(row.found)).score
			want := score{sentences: 1, mentions: row.mentions, concepts: row.concepts, negation: row.negations, choices: row.choices}
			if row.mentions.falsePositives+row.mentions.falseNegatives == 0 {
				want.exact = 1
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(score{}, matchCounts{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRatios(t *testing.T) {
	t.Parallel()
	for c, want := range map[matchCounts][3]float64{
		{}: {1, 1, 1},
		{truePositives: 3, falsePositives: 1, falseNegatives: 2}: {0.75, 0.6, 2.0 / 3},
		{falsePositives: 2}: {0, 1, 0},
		{falseNegatives: 2}: {1, 0, 0},
		{truePositives: 5}:  {1, 1, 1},
		{truePositives: 1, falsePositives: 1, falseNegatives: 1}:   {0.5, 0.5, 0.5},
		{truePositives: 90, falsePositives: 10, falseNegatives: 0}: {0.9, 1, 180.0 / 190},
	} {
		if got := [3]float64{c.precision(), c.recall(), c.f1()}; got != want {
			t.Errorf("%+v: got %v, want %v", c, got, want)
		}
	}
}

// TestF1IsHarmonicMean checks f1 against its definition.
func TestF1IsHarmonicMean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := matchCounts{rapid.IntRange(1, 1000).Draw(t, "right"), rapid.IntRange(0, 1000).Draw(t, "wrong"), rapid.IntRange(0, 1000).Draw(t, "missing")}
		p, r := c.precision(), c.recall()
		if want := 2 * p * r / (p + r); math.Abs(c.f1()-want) > 1e-12 {
			t.Fatalf("%+v: got %v, want %v", c, c.f1(), want)
		}
	})
}

// TestCountMatchesCountsEachMentionOnce checks that countMatches counts each expected
// and each found mention exactly once, and that swapping the two swaps false positives
// and false negatives.
func TestCountMatchesCountsEachMentionOnce(t *testing.T) {
	t.Parallel()
	mentions := rapid.SliceOfN(rapid.SampledFrom(parseMentions("a b c d -a -b -c -d")), 0, 12)
	mentionKey := func(m mention) (mention, bool) { return m, true }
	rapid.Check(t, func(t *rapid.T) {
		expected, found := mentions.Draw(t, "expected"), mentions.Draw(t, "found")
		c := countMatches(found, expected, mentionKey)
		if c.truePositives+c.falsePositives != len(keySet(found, mentionKey)) || c.truePositives+c.falseNegatives != len(keySet(expected, mentionKey)) {
			t.Fatalf("got %+v for found %s and expected %s", c, formatMentions(found), formatMentions(expected))
		}
		if swapped := countMatches(expected, found, mentionKey); swapped != (matchCounts{c.truePositives, c.falseNegatives, c.falsePositives}) {
			t.Fatalf("got %+v, and %+v with found and expected swapped", c, swapped)
		}
	})
}

func TestWorst(t *testing.T) {
	t.Parallel()
	outcomes := []outcome{
		evaluate(sentence{ID: "d", Mentions: parseMentions("fever")}, parseMentions("")),
		evaluate(sentence{ID: "c", Mentions: parseMentions("fever")}, parseMentions("fever")),
		evaluate(sentence{ID: "b", Mentions: parseMentions("fever")}, parseMentions("cough")),
		evaluate(sentence{ID: "a", Mentions: parseMentions("")}, parseMentions("rash")),
	}
	for limit, want := range map[int]string{0: "", 1: "b", 2: "b a", 9: "b a d"} {
		var ids []string
		for _, o := range worst(outcomes, limit) {
			ids = append(ids, o.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("limit %d: got %s, want %s", limit, got, want)
		}
	}
}
