// SPDX-License-Identifier: Apache-2.0

package language

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// smallExamples are what people say, after the observation that they mean; those
// before the first one mean nothing.
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

// learned is the release of world with smallExamples.
func learned(t modeltest.TB) *model.Release {
	t.Helper()
	b := newWorld()
	ordinary := &b.Draft().Lexicon.Ordinary
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

func TestClausesAreWeighed(t *testing.T) {
	t.Parallel()
	r := learned(t)
	for text, want := range map[string]string{
		// without a wording
		"a hammer and a drum inside the skull":          "s_1",
		"peeing razor blades":                           "s_25",
		"we ate soup in the garden":                     "",
		"the neighbour drove us home, barking like dog": "s_8",
		"skull splitting, guts in knots":                "s_1 s_5",
		// denied, asked, somebody else's
		"no hacking bark":                           "-s_8",
		"without passing razor blades":              "-s_25",
		"could it be razor blades whenever peeing?": "",
		// what denies belongs to what is said
		"cant face a plate of food": "s_13",
		// a child, or its parent where the words are of either
		"knifed beside the hip bone": "s_6",
		"fever, guts gripe beside":   "s_7 s_5",
		// the first symptom may be doubtful
		"guts gripe beside": "s_6",
		// how long is said by times alone
		"the bark started": "s_8",
		// beside a wording: more closely, besides, instead
		"headache, skull exploding like bomb":        "s_2",
		"headache like a bomb exploding the skull":   "s_2",
		"fever and passing razor blades":             "s_7 s_25",
		"fever with passing razor blades peeing":     "s_7 s_25",
		"sting like passing razor blades when i wee": "s_25",
		"diabetes guts gripes in knots":              "p_3 s_5",
		// not instead of a wording that knows the words
		"worst headache of my life": "s_2",
		// that it is not there, which takes a word that denies, and is not denied once more
		"clears a dish, licked clean":                "",
		"no bother making water":                     "-s_25",
		"razor blades when peeing. dish licked bare": "s_25",
		"never a clean dish licked":                  "s_13",
		// but not beside a wording
		"headache clears his dish": "s_1",
		// a family history
		"my dad lost speech from a brain bleed": "p_2",
	} {
		if diff := cmp.Diff(want, told(r, Parse(r, adult(text)))); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", text, diff)
		}
	}
}

func TestClausesOfOtherPatientsAreNotWeighed(t *testing.T) {
	t.Parallel()
	r, male := learned(t), model.Male
	const late = "monthly visitor is late"
	if got := told(r, Parse(r, adult(late))); got != "s_16" {
		t.Errorf("of a woman it says %q, want s_16", got)
	}
	if got := told(r, Parse(r, Query{Text: late, Sex: &male, AgeMonths: 480, Symptoms: true})); got != "" {
		t.Errorf("of a man it says %q, want nothing", got)
	}
}

// What was weighed might mean else, so that a client should ask.
func TestWeighedMentionsAreNotObvious(t *testing.T) {
	t.Parallel()
	r := learned(t)
	result := Parse(r, adult("passing razor blades"))
	want := []Mention{{Observation: result.Mentions[0].Observation, Orth: "passing razor blades", Positions: []int{0, 1, 2}, Head: result.Mentions[0].Head}}
	if diff := cmp.Diff(want, result.Mentions); diff != "" || result.Obvious {
		t.Errorf("obvious: %t, %s", result.Obvious, diff)
	}
}

// Whatever words stand together, the result is one that a text can have.
func TestAnyWordsCanBeWeighed(t *testing.T) {
	t.Parallel()
	r := learned(t)
	words := append(strings.Fields(smallExamples), "no", "but", "and", ",", ".", "?", "(", ")", "headache", "fever", "last year", "my father", "for three days")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(t, "words"), " ")
		q := adult(text)
		q.EveryMention = rapid.Bool().Draw(t, "every mention")
		checkResult(t, r, q)
	})
}
