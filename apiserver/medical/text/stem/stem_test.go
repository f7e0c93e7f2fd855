// SPDX-License-Identifier: Apache-2.0

package stem_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/stem"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// TestWordFormsShareStem checks that the forms of a word share a stem that differs
// from those of other words.
func TestWordFormsShareStem(t *testing.T) {
	t.Parallel()
	for name, families := range map[string][]string{
		"english": {"vomit vomits vomiting vomited", "ache aches aching ached", "swollen", "headache headaches", "dizzy dizziness dizzier", "nausea", "nauseous",
			"tight tightness tighter", "number", "numb", "cooler"},
		"german": {"schmerz schmerzen schmerzes", "kopf kopfe", "ubelkeit", "huste husten"},
		"french": {"douleur douleurs", "fievre"},
		"none":   {"vomit", "vomits"},
	} {
		stemmer, ok := stem.ByName(name)
		if !ok {
			t.Fatalf("stemmer %s not found", name)
		}
		stems := map[string]string{}
		for _, family := range families {
			forms := strings.Fields(family)
			first := stemmer(forms[0])
			if other, taken := stems[first]; taken {
				t.Errorf("%s: %s and %s have the stem %s", name, other, family, first)
			}
			stems[first] = family
			for _, form := range forms {
				if got := stemmer(form); got != first {
					t.Errorf("%s: the stem of %s is %s, of %s %s", name, form, got, forms[0], first)
				}
			}
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	names := stem.Names()
	if !slices.IsSorted(names) || !slices.Contains(names, stem.None) || len(names) < 10 {
		t.Errorf("stemmers are %v", names)
	}
	for _, name := range names {
		if _, ok := stem.ByName(name); !ok {
			t.Errorf("stemmer %s not found", name)
		}
	}
	for _, name := range []string{"", "English", "klingon"} {
		if _, ok := stem.ByName(name); ok {
			t.Errorf("unexpected stemmer %q", name)
		}
	}
}

// TestExcept checks that exact words match no other word and that other stems do not
// change.
func TestExcept(t *testing.T) {
	t.Parallel()
	english, _ := stem.ByName("english")
	but := english.Except([]string{"spotting"})
	for word, want := range map[string]string{"spotting": stem.Exact("spotting"), "spots": "spot", "spotted": "spot", "": ""} {
		if got := but(word); got != want {
			t.Errorf("the stem of %q is %q, want %q", word, got, want)
		}
	}
	if got := english.Except(nil)("spotting"); got != "spot" {
		t.Errorf("without exceptions the stem is %q", got)
	}
}

func TestCached(t *testing.T) {
	t.Parallel()
	asked := 0
	remembering := stem.Stemmer(func(folded string) string { asked++; return folded[:2] }).Cached()
	for range 3 {
		if got := remembering("vomit") + remembering("ache"); got != "voac" || asked != 2 {
			t.Errorf("the stems are %s after %d questions", got, asked)
		}
	}
}

// TestStemmersAreTotalAndConcurrent checks that each stemmer returns a non-empty,
// deterministic stem for any folded word, also when used concurrently.
func TestStemmersAreTotalAndConcurrent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(stem.Names()).Draw(t, "name")
		text := token.Fold(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zäöüßéñçığ]{0,20}`)).Draw(t, "text"))
		stemmer, _ := stem.ByName(name)
		want := stemmer(text)
		if (want == "") != (text == "") {
			t.Fatalf("%s: the stem of %q is %q", name, text, want)
		}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if got := stemmer(text); got != want {
					t.Errorf("%s: the stem of %q is %q, and %q", name, text, want, got)
				}
			})
		}
		all.Wait()
	})
}

// FuzzStemmers runs the generated code on words of no language.
func FuzzStemmers(f *testing.F) {
	for _, word := range []string{"vomiting", "schmerzen", "", "\xff\xfe", "é", "zzzzyyyy", "ings", "yyy"} {
		f.Add(word)
	}
	f.Fuzz(func(_ *testing.T, word string) {
		for _, name := range stem.Names() {
			stemmer, _ := stem.ByName(name)
			stemmer(word)
		}
	})
}
