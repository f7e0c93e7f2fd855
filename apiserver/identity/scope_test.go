// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseScopes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]Scope{
		"":                                      {},
		"  ":                                    {},
		"survey:read":                           {SurveyRead},
		"survey:write survey:read":              {SurveyRead, SurveyWrite},
		" survey:read  survey:read\tuser:read ": {SurveyRead, UserRead},
		FormatScopes(AllScopes()):               AllScopes(),
	} {
		got, err := ParseScopes(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("ParseScopes(%q): %v (-want +got)\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"survey", "survey:", "Survey:read", "survey:read,user:read", "survey:read x", strings.Repeat("x", 1000)} {
		_, err := ParseScopes(text)
		if err == nil || !strings.Contains(err.Error(), "unknown scope") || !strings.Contains(err.Error(), "knowledge:read") || len(err.Error()) > 400 {
			t.Errorf("ParseScopes(%q): got error %v, want one that names the unknown scope and the valid scopes", text, err)
		}
	}
}

func TestScopesMatchSpecification(t *testing.T) {
	t.Parallel()
	const want = "knowledge:read question:read question:write survey:read survey:write config:read " +
		"config:write user:read user:write patient:read patient:write"
	if got := FormatScopes(AllScopes()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	AllScopes()[0] = "changed"
	if AllScopes()[0] != KnowledgeRead {
		t.Error("modifying the result of AllScopes changed the scopes")
	}
}

// TestScopesRoundTrip checks that formatting and parsing scopes in any order preserves
// the set.
func TestScopesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scopes := rapid.SliceOf(rapid.SampledFrom(allScopes)).Draw(t, "scopes")
		got, err := ParseScopes(FormatScopes(scopes))
		if err != nil {
			t.Fatal(err)
		}
		for _, scope := range allScopes {
			if slices.Contains(scopes, scope) != slices.Contains(got, scope) {
				t.Fatalf("%v was parsed as %v", scopes, got)
			}
		}
		if reparsed, err := ParseScopes(FormatScopes(got)); err != nil || !slices.Equal(got, reparsed) {
			t.Fatalf("%v was parsed as %v, %v", got, reparsed, err)
		}
	})
}
