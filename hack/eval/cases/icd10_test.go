// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseICD10(t *testing.T) {
	t.Parallel()
	for field, want := range map[string][]string{
		"":                     nil,
		"I21":                  {"I21"},
		"i21.9":                {"I219"},
		"J05.0, J38.5":         {"J050", "J385"},
		"J05.0/J38.5; A00 B01": {"J050", "J385", "A00", "B01"},
		"I20-I25":              {"I20"},
		"I20 – I25, K35":       {"I20", "K35"},
		"M1A.00":               {"M1A00"},
		"none":                 nil,
	} {
		if diff := cmp.Diff(want, parseICD10(field)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", field, diff)
		}
	}
}

func TestMatchesICD10(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		codes, prefixes []string
		want            bool
	}{
		{[]string{"I21"}, []string{"I21"}, true},
		{[]string{"I219"}, []string{"I21"}, true},
		{[]string{"J050"}, []string{"J05.0"}, true},
		{[]string{"J051"}, []string{"J05.0"}, false},
		{[]string{"J05"}, []string{"J05.0"}, true}, // the category
		{[]string{"K358"}, []string{"K35.80"}, false},
		{[]string{"A00", "J05"}, []string{"K35", "J05"}, true},
		{[]string{"I22"}, []string{"I21"}, false},
		{nil, []string{"I21"}, false},
		{[]string{"I21"}, nil, false},
	} {
		if got := matchesICD10(row.codes, row.prefixes); got != row.want {
			t.Errorf("matchesICD10(%v, %v) = %t, want %t", row.codes, row.prefixes, got, row.want)
		}
	}
}

// TestICD10CodeMatchesItsPrefixes checks that a code matches itself and its category,
// and that a code of another category does not match.
func TestICD10CodeMatchesItsPrefixes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.StringMatching(`[A-Y][0-9]{2}\.[0-9]`).Draw(t, "code")
		length := rapid.SampledFrom([]int{3, 5}).Draw(t, "length")
		if !matchesICD10(parseICD10(code), []string{code[:length]}) {
			t.Fatalf("%s does not match %s", code, code[:length])
		}
		if matchesICD10(parseICD10("Z"+code[1:]), []string{code[:length]}) {
			t.Fatalf("Z%s matches %s", code[1:], code[:length])
		}
	})
}
