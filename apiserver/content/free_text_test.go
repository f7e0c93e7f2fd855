// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp"
)

// parseText parses an adult's text in the content of a language.
func parseText(t *testing.T, in, text string) nlp.Result {
	t.Helper()
	r, err := compiled.Release(in)
	if err != nil {
		t.Fatal(err)
	}
	return nlp.Parse(r, nlp.Query{Text: text, AgeMonths: 35 * 12, Symptoms: true, RiskFactors: true})
}

// Nothing is found in a text in another language. If the language is uncertain, the
// text is parsed.
func TestForeignLanguageTextsAreIgnored(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in, text string
		read     bool
	}{
		{"de", "My head hurts and I feel sick since yesterday", false},
		{"de", "my throat is sore and my nose is running badly", false},
		{"de", "my baby has a fever and will not drink anything", false},
		{"de", "Ich habe seit gestern starke Kopfschmerzen und Fieber", true},
		{"de", "Brustschmerzen, Schweißausbruch, Übelkeit, Erbrechen, Schwindel", true},
		{"de", "Migraine seit gestern", true},
		{"en", "Ich habe seit gestern starke Kopfschmerzen und Fieber", false},
		{"en", "chest pain sweating nausea vomiting dizziness", true},
		{"en", "hedache feaver vomitting diarhea stomack", true},
	} {
		if got := parseText(t, test.in, test.text); len(got.Mentions) > 0 != test.read || !test.read && got.Obvious {
			t.Errorf("%s: %q has %d mentions, obvious %v", test.in, test.text, len(got.Mentions), got.Obvious)
		}
	}
}

// Words are returned with corrected spelling, including misspellings in the lexicon; a
// text with a misspelling is not obvious.
func TestMentionsReturnCorrectedSpelling(t *testing.T) {
	t.Parallel()
	for text, orth := range map[string]string{
		"vomitting":    "vomiting",
		"feaver":       "fever",
		"diarhea":      "diarrhea",
		"sore throte":  "sore throat",
		"bad hedache":  "bad headache",
		"Feaver":       "Fever",
		"coffing blod": "coughing blood",
	} {
		got := parseText(t, "en", text)
		if len(got.Mentions) != 1 || got.Mentions[0].Orth != orth || got.Obvious {
			t.Errorf("%q is %+v, want %q, not obvious", text, got, orth)
		}
	}
	r, err := compiled.Release("en")
	if err != nil {
		t.Fatal(err)
	}
	kept := nlp.Parse(r, nlp.Query{Text: "feaver", AgeMonths: 420, Symptoms: true, KeepSpelling: true})
	if len(kept.Mentions) != 0 || kept.Tokens[0] != "feaver" {
		t.Errorf("the spelling is kept, and %+v is heard", kept)
	}
}

// Texts without open questions are obvious.
func TestObviousTexts(t *testing.T) {
	t.Parallel()
	for text, obvious := range map[string]bool{
		"I have a headache.":                    true,
		"I've got a sore throat and a fever":    true,
		"There is blood in my urine":            true,
		"I am having chest pain":                true,
		"I have a headache with a strange zing": false,
		"I have a hedache":                      false,
	} {
		if got := parseText(t, "en", text); got.Obvious != obvious {
			t.Errorf("%q is obvious: %v, want %v: %+v", text, got.Obvious, obvious, got.Mentions)
		}
	}
}
