// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// smallExamples are examples of texts, each line after the observation they mean.
// Those before the first observation have no meaning.
const smallExamples = `
: saw doctor yesterday | neighbour drove us home | ate soup for dinner | garden was lovely | what shall we do
s_1: skull splitting drum | hammer behind eyes | drum inside skull
s_2: skull exploding like bomb | bomb inside skull hammer
s_5: guts in knots | gripes after dinner | guts gripe
s_6: guts knifed beside hip bone | stabbed beside hip bone
s_8: hacking bark | barking like dog | chesty bark | worst headache life | life worst headache | headache life worst
s_11: elephant sits upon ribs | ribs squeezed like vice
s_13: plate goes back untouched | cannot face food | cant face plate
s_16: monthly visitor late
s_19: bark started days ago
s_25: passing razor blades | razor blades whenever peeing
p_2: dad lost speech | fathers brain bleed
-s_13: clears his dish | dish licked clean
-s_25: stream flows freely | no bother making water
`

// newReleaseWithExamples returns the release of newRelease with smallExamples added.
func newReleaseWithExamples(t modeltest.TB) *model.Release {
	t.Helper()
	b := newReleaseBuilder()
	ordinary := &b.Draft().Lexicon.OrdinaryWords
	for line := range strings.Lines(strings.TrimSpace(smallExamples)) {
		of, examples, _ := strings.Cut(line, ":")
		for example := range strings.SplitSeq(examples, "|") {
			words := strings.Fields(example)
			b.Example(of, words...)
			*ordinary = append(*ordinary, words...)
		}
	}
	return b.Build(t)
}

func TestClausesAreClassified(t *testing.T) {
	t.Parallel()
	r := newReleaseWithExamples(t)
	for text, want := range map[string]string{
		// Without a wording.
		"a hammer and a drum inside the skull":          "s_1",
		"peeing razor blades":                           "s_25",
		"we ate soup in the garden":                     "",
		"the neighbour drove us home, barking like dog": "s_8",
		"skull splitting, guts in knots":                "s_1 s_5",
		// Negated, asked about, or another person's.
		"no hacking bark":                           "-s_8",
		"without passing razor blades":              "-s_25",
		"could it be razor blades whenever peeing?": "",
		// The negation belongs to the classified words.
		"cant face a plate of food": "s_13",
		// A child, or its parent if the words do not decide between the children.
		"knifed beside the hip bone": "s_6",
		"fever, guts gripe beside":   "s_7 s_5",
		// The first symptom may be uncertain.
		"guts gripe beside": "s_6",
		// Only time spans determine durations.
		"the bark started": "s_8",
		// In addition to a wording: refining it, next to it, or replacing it.
		"headache, skull exploding like bomb":        "s_2",
		"headache like a bomb exploding the skull":   "s_2",
		"fever and passing razor blades":             "s_7 s_25",
		"fever with passing razor blades peeing":     "s_7 s_25",
		"sting like passing razor blades when i wee": "s_25",
		"diabetes guts gripes in knots":              "p_3 s_5",
		// Does not replace a wording that covers the words.
		"worst headache of my life": "s_2",
		// Absences require a negation and are not negated twice.
		"clears a dish, licked clean":                "",
		"no bother making water":                     "-s_25",
		"razor blades when peeing. dish licked bare": "s_25",
		"never a clean dish licked":                  "s_13",
		// Not in addition to a wording.
		"headache clears his dish": "s_1",
		// A family history.
		"my dad lost speech from a brain bleed": "p_2",
	} {
		if diff := cmp.Diff(want, formatMentions(r, Parse(r, adultQuery(text)))); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", text, diff)
		}
	}
}

func TestInapplicableObservationsAreNotClassified(t *testing.T) {
	t.Parallel()
	r, male := newReleaseWithExamples(t), model.Male
	const late = "monthly visitor is late"
	if got := formatMentions(r, Parse(r, adultQuery(late))); got != "s_16" {
		t.Errorf("for a woman: got %q, want s_16", got)
	}
	if got := formatMentions(r, Parse(r, Query{Text: late, Sex: &male, AgeMonths: 480, Symptoms: true})); got != "" {
		t.Errorf("for a man: got %q, want no mention", got)
	}
}

// TestClassifiedMentionsAreNotObvious checks that classified mentions are ambiguous,
// so that clients ask for confirmation.
func TestClassifiedMentionsAreNotObvious(t *testing.T) {
	t.Parallel()
	r := newReleaseWithExamples(t)
	result := Parse(r, adultQuery("passing razor blades"))
	want := []Mention{{Observation: result.Mentions[0].Observation, Orth: "passing razor blades", Positions: []int{0, 1, 2}, Head: result.Mentions[0].Head}}
	if diff := cmp.Diff(want, result.Mentions); diff != "" || result.Obvious {
		t.Errorf("obvious: %t, %s", result.Obvious, diff)
	}
}

// TestClassifyRandomWords checks that any sequence of words yields a valid result.
func TestClassifyRandomWords(t *testing.T) {
	t.Parallel()
	r := newReleaseWithExamples(t)
	words := append(strings.Fields(smallExamples), "no", "but", "and", ",", ".", "?", "(", ")", "headache", "fever", "last year", "my father", "for three days")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(t, "words"), " ")
		q := adultQuery(text)
		q.AllMentions = rapid.Bool().Draw(t, "every mention")
		checkResult(t, r, q)
	})
}
