// SPDX-License-Identifier: Apache-2.0

package lexicon_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/lexicon"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// fixture is a few observations: a family, a fever and a risk factor.
type fixture struct {
	draft    model.Draft
	concepts []lexicon.Concept
}

func newFixture() *fixture {
	w := &fixture{draft: model.Draft{Meta: model.Meta{Language: "en-GB"}}}
	pain := w.add("belly_pain", nil, "Abdominal pain", "Tummy ache, any kind")
	w.add("belly_pain_right", pain, "Right-sided abdominal pain")
	w.add("belly_pain_left", pain, "Left-sided abdominal pain")
	w.add("fever", nil, "Fever", "On and off", "A wording that goes on for so much longer than eight words can be found")
	w.add("appetite_loss", nil, "Anorexia")
	w.add("father_stroke", nil, "Family stroke")
	return w
}

func (f *fixture) add(slug string, parent *model.DraftObservation, name string, synonyms ...string) *model.DraftObservation {
	o := &model.DraftObservation{Name: name, Parent: parent}
	words := &source.Localization{File: "words.yaml", Name: source.Scalar{Text: name, Line: 1}}
	for i, synonym := range synonyms {
		words.Synonyms = append(words.Synonyms, source.Scalar{Text: synonym, Line: 2 + i})
	}
	f.concepts = append(f.concepts, lexicon.Concept{Slug: slug, Observation: o, Localization: words})
	return o
}

// compile compiles files for the fixture, and returns the problems and the shared
// wordings.
func (f *fixture) compile(files ...string) (problems source.Problems, shared []string) {
	var lexicons []*source.Lexicon
	for i, text := range files {
		lexicons = append(lexicons, source.ParseLexicon(fmt.Sprintf("lexicon%d.yaml", i+1), []byte(text), &problems))
	}
	return problems, lexicon.Compile(&f.draft, f.concepts, lexicons, &problems)
}

// addedPatterns returns, as text, the patterns that files add to the patterns of the
// names.
func addedPatterns(t *testing.T, files ...string) []string {
	t.Helper()
	named, w := newFixture(), newFixture()
	named.compile()
	problems, _ := w.compile(files...)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, p := range w.draft.Lexicon.Patterns {
		lines = append(lines, w.formatPattern(p))
	}
	for _, p := range named.draft.Lexicon.Patterns {
		if at := slices.Index(lines, named.formatPattern(p)); at >= 0 {
			lines = slices.Delete(lines, at, at+1)
		}
	}
	return lines
}

func (f *fixture) formatPattern(p model.DraftPattern) string {
	var b strings.Builder
	b.WriteString(p.Meaning.String())
	for _, c := range f.concepts {
		if c.Observation == p.Observation {
			b.WriteString(" " + c.Slug)
		}
	}
	if p.Minutes != 0 {
		fmt.Fprintf(&b, " %d", p.Minutes)
	}
	if p.NamesRelative {
		b.WriteString(" relative")
	}
	b.WriteString(":")
	if p.AnyOrder {
		b.WriteString(" ~")
	}
	for i, e := range p.Elements {
		if e.Gap != 0 && (i > 0 || p.AnyOrder) {
			fmt.Fprintf(&b, " +%d", e.Gap)
		}
		switch {
		case e.Kind == model.NumberElement:
			fmt.Fprintf(&b, " {%v..%v}", e.From, e.To)
		case e.Kind == model.TimeElement:
			b.WriteString(" {time}")
		case e.Class != nil:
			b.WriteString(" <" + e.Class.Name + ">")
		default:
			b.WriteString(" " + e.Word)
		}
	}
	return b.String()
}

func TestNamesBecomePatterns(t *testing.T) {
	t.Parallel()
	w := newFixture()
	w.add("numb_leg", nil, "Numbness in the leg", "a leg is numb", "The")
	if problems, _ := w.compile("fillers: [of, is, any, the, in, on, and, 'off', a]"); problems.Err() != nil {
		t.Fatal(problems.Err())
	}
	var got []string
	for _, p := range w.draft.Lexicon.Patterns {
		got = append(got, w.formatPattern(p))
	}
	want := []string{
		"mentions belly_pain: ~ +2 abdominal +2 pain",
		"mentions belly_pain: ~ +2 tummy +2 ache +2 kind",
		"mentions belly_pain_right: ~ +2 right +2 sided +2 abdominal +2 pain",
		"mentions belly_pain_left: ~ +2 left +2 sided +2 abdominal +2 pain",
		"mentions fever: fever",
		"mentions appetite_loss: anorexia",
		"mentions father_stroke: ~ +2 family +2 stroke",
		"mentions numb_leg: ~ +2 numbness +2 leg", // as numb and leg are
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if w.draft.Meta.Stemmer != "english" {
		t.Errorf("the stemmer of English is %s", w.draft.Meta.Stemmer)
	}
}

const classes = `
fillers: [my, the, of, me, have]
classes:
  pain: [pain, ache, killing me, out of order]
  belly: ["[belly|tummy]", stomach]
  normal: [normal, fine]
  appetite: [appetite]
  relative: [father, mother, grandma]
  people: [friend, father]
`

// useAllClasses uses all classes, so that no class is rejected as unused.
const useAllClasses = "cues: {patients: ['<pain>', '<belly>', '<normal>', '<appetite>', '<relative>', '<people>']}\n"

func TestWordings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"belly_pain: {wordings: ['~<pain> in my <belly>']}": {
			"mentions belly_pain: ~ +2 <pain> +2 in +2 <belly>",
			"mentions belly_pain: ~ +2 out +2 order +2 in +2 <belly>",
		},
		"belly_pain: {wordings: ['gut ... [really|] bad']}": {
			"mentions belly_pain: gut +6 really +2 bad",
			"mentions belly_pain: gut +6 bad",
		},
		"fever: {wordings: ['temperature ... {38..43}', '{100.4..109} °f', '~{38..40}']}": {
			"mentions fever: temperature +6 {38..43}",
			"mentions fever: {100.4..109} +2 ° +2 f",
			"mentions fever: {38..40}",
		},
		"appetite_loss: {wordings: [no <appetite>], absent: [<appetite> <normal>]}": {
			"mentions appetite_loss: no +2 <appetite>",
			"mentions_absent appetite_loss: <appetite> +2 <normal>",
		},
		"belly_pain_right: {after: ['~right [side|hand]']}": {
			"mentions_after belly_pain_right: ~ +2 right +2 <[hand|side]>",
		},
		"father_stroke: {wordings: [<relative> had ... stroke, grandma stroke, brother stroke]}": {
			"mentions father_stroke relative: <relative> +2 had +6 stroke",
			"mentions father_stroke relative: grandma +2 stroke",
			"mentions father_stroke: brother +2 stroke",
		},
		"father_stroke: {wordings: [<people> stroke]}": {
			"mentions father_stroke relative: <people> +2 stroke",
		},
		"father_stroke: {wordings: ['[grandma|brother|mother|the] stroke [bad|really bad]']}": {
			"mentions father_stroke: stroke +2 bad",
			"mentions father_stroke: brother +2 stroke +2 bad",
			"mentions father_stroke relative: <[grandma|mother]> +2 stroke +2 bad",
			"mentions father_stroke: stroke +2 really +2 bad",
			"mentions father_stroke: brother +2 stroke +2 really +2 bad",
			"mentions father_stroke relative: <[grandma|mother]> +2 stroke +2 really +2 bad",
		},
		"belly_pain_left: {wordings: [left @belly_pain]}\n  belly_pain: {wordings: [gut bad]}": {
			"mentions belly_pain: gut +2 bad",
			"mentions belly_pain_left: ~ +2 left +2 abdominal +2 pain",
			"mentions belly_pain_left: ~ +2 left +2 tummy +2 ache +2 any +2 kind",
			"mentions belly_pain_left: ~ +2 left +2 gut +2 bad",
		},
		"belly_pain: {wordings: [bellyache, Bellyaches, 'the pain of abdominal']}": {
			"mentions belly_pain: bellyache",
			"mentions belly_pain: pain +2 abdominal",
		},
		"belly_pain: {wordings: ['~pain abdominal']}": nil, // same as the name
	} {
		got := addedPatterns(t, classes, useAllClasses, "observations:\n  "+text+"\n")
		got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "patients") })
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// TestCuesAndTimes checks that cues and times match word by word.
func TestCuesAndTimes(t *testing.T) {
	t.Parallel()
	got := addedPatterns(t, `
stemmer: english
fillers: [i, have, is, for, the]
classes: {relative: [father, aunt, step mother]}
cues:
  negates: ["no", i have no, not ... any]
  ends: [i have]
  others: ["[my|the] <relative>"]
durations: ["for {time}", "{time} [ago|now]"]
times: {yesterday: 1d, "last [night|evening]": 12h}
`)
	want := []string{
		"negates: no", "negates: i have no", "negates: not +6 any", "ends: i have",
		"others relative: <[my|the]> <relative>", "others: <[my|the]> step mother",
		"times 720: last <[evening|night]>", "times 1440: yesterday",
		"durations: for {time}", "durations: {time} <[ago|now]>",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNumbersAndUnits(t *testing.T) {
	t.Parallel()
	w := newFixture()
	problems, _ := w.compile(`
numbers: {one: 1, a: 1, half: 0.5, Zwölf: 12}
units: {h: [hour, hours], mo: [month]}
`, "numbers: {one: 1}\nunits: {h: [hours, hr]}\n")
	if problems.Err() != nil {
		t.Fatal(problems.Err())
	}
	want := model.DraftLexicon{
		Numbers: map[string]float64{"one": 1, "a": 1, "half": 0.5, "zwolf": 12},
		Units:   map[string]uint32{"hour": 60, "hours": 60, "hr": 60, "month": 43200},
	}
	if diff := cmp.Diff(want, w.draft.Lexicon, cmpopts.IgnoreFields(model.DraftLexicon{}, "Patterns")); diff != "" {
		t.Error(diff)
	}
}

func TestStemmers(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{"en": "english", "en-US": "english", "de": "german", "xx": "none"} {
		w := newFixture()
		w.draft.Meta.Language = language
		if w.compile(); w.draft.Meta.Stemmer != want {
			t.Errorf("%s is stemmed by %s, want %s", language, w.draft.Meta.Stemmer, want)
		}
	}
	w := newFixture()
	if problems, _ := w.compile("stemmer: french", "stemmer: french"); problems.Err() != nil || w.draft.Meta.Stemmer != "french" {
		t.Errorf("stemmed by %s, %v", w.draft.Meta.Stemmer, problems.Err())
	}
}

// TestLayWordings checks that wordings with a spoken form are searchable.
func TestLayWordings(t *testing.T) {
	t.Parallel()
	w := newFixture()
	problems, _ := w.compile(classes+useAllClasses, `observations:
  belly_pain: {wordings: ["~<pain> ... my [Belly|tummy]", "sore <belly>"], absent: ["no trouble"]}
  fever: {wordings: ["temperature ... {38..43}", "hot @belly_pain", "burning up"]}
`)
	if problems.Err() != nil {
		t.Fatal(problems.Err())
	}
	if diff := cmp.Diff([]string{"pain my Belly", "sore belly"}, w.concepts[0].Observation.LayWordings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"burning up"}, w.concepts[3].Observation.LayWordings); diff != "" {
		t.Error(diff)
	}
}

func TestCompileRejectsInvalidLexicons(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, lexicon, wantErr string }{
		{"a stemmer there is not", "stemmer: klingon", `lexicon1.yaml:1: unknown stemmer "klingon": expected one of danish`},
		{"a filler of two words", "fillers:\n  - a lot", `lexicon1.yaml:2: invalid filler "a lot": expected one word`},
		{"an exact word of two", "exact:\n  - spotting blood", `lexicon1.yaml:2: invalid exact word "spotting blood": expected one word`},
		{"an empty filler", "fillers:\n  - '-'", `filler "-": expected one word`},
		{"a number that is none", "numbers: {one: many}", `lexicon1.yaml:1: expected a number, got "many"`},
		{"a negative number", "numbers:\n  one: -1", "lexicon1.yaml:2: invalid number one: expected 0 or more, got -1"},
		{"a number without end", "numbers: {one: .inf}", "lexicon1.yaml:1: invalid number one: expected 0 or more, got +Inf"},
		{"a number of two words", "numbers: {a few: 3}", `number "a few": expected one word`},
		{"two numbers of one stem", "numbers: {one: 1, ones: 2}", `lexicon1.yaml:1: number "ones" has a different value at lexicon1.yaml:1: both have the stem "one"`},
		{"a unit there is not", "units: {decade: [decades]}", `unknown unit "decade": expected one of min`},
		{"a word of two units", "units:\n  d: [days]\n  h: [day]", "lexicon1.yaml:3: unit \"day\" has a different value at lexicon1.yaml:2: both have the stem \"day\""},
		{"a time that is none", "times: {yesterday: 1 day}", `lexicon1.yaml:1: "yesterday": invalid duration "1 day": expected a whole number and one of min, h, d, w, mo, y, such as 6h or 2w`},
		{"a time of no words", "times: {'-': 1d}", `"-": empty wording`},
		{"a duration without a time", "durations: ['for days']", `"for days": expected {time} exactly once`},
		{"a duration of two times", "durations: ['{time} to {time}']", "expected {time} exactly once"},
		{"a duration with a time in some forms", "durations: ['for [{time}|long]']", "expected {time} exactly once"},
		{"a cue there is not", "cues: {denies: ['no']}", "unknown cue \"denies\": expected one of negates"},
		{"a cue that refers", "cues: {past: ['@fever']}", "lexicon1.yaml:1: \"@fever\": references are only allowed in observation wordings"},
		{"a cue of an unknown class", "cues: {past: ['<pain>']}", "unknown class <pain>"},
		{"a class with a name of two words", "classes: {two words: [a]}", `lexicon1.yaml:1: invalid class name "two words": expected letters, digits and underscores`},
		{"a class of nothing", "classes: {pain: []}\ncues: {past: ['<pain>']}", "class pain has no words"},
		{"a class in a class", "classes: {pain: ['<belly>']}\ncues: {past: ['<pain>']}", `invalid member "<belly>" of class pain: expected plain words`},
		{"a class with brackets that do not close", "classes: {pain: ['[a|b']}\ncues: {past: ['<pain>']}", "missing ] after ["},
		{"an unused class", "classes:\n  pain: [pain]", "lexicon1.yaml:2: class pain is not used in any wording"},
		{"an unknown observation", "observations:\n  nothing: {wordings: [nothing]}", "lexicon1.yaml:2: unknown observation nothing"},
		{"an unknown key", "observations:\n  fever: {words: [hot]}", "unknown key words"},
		{"a wording that does not parse", "observations:\n  fever:\n    wordings: ['hot [|']", `lexicon1.yaml:3: invalid wording "hot [|" of fever: missing ] after [`},
		{"empty wording", "observations: {fever: {wordings: ['']}}", "empty wording"},
		{"a wording of fillers", "fillers: [my]\nobservations: {fever: {wordings: [my my]}}", "wording has a form that consists only of fillers"},
		{"a form of fillers", "fillers: [my]\nobservations: {fever: {wordings: ['my [hot|]']}}", "wording has a form that consists only of fillers"},
		{"nine words", "observations: {fever: {wordings: [a b c d e f g h i]}}", "wording has a form with 9 words, not counting fillers: expected at most 8"},
		{"too many forms", "observations: {fever: {wordings: ['" + strings.Repeat("[a|b c] ", 9) + "']}}", "more than 256 forms"},
		{"a reference to nothing", "observations: {fever: {wordings: ['hot @nothing']}}", "unknown symptom or risk factor @nothing"},
		{"a reference to itself", "observations: {fever: {wordings: ['hot @fever']}}", "wording refers to its own observation"},
		{"a circle", "observations: {fever: {wordings: ['@appetite_loss']}, appetite_loss: {wordings: ['@father_stroke']}, father_stroke: {wordings: ['@fever']}}", "is a circular reference"},
		{"two observations", "observations:\n  fever: {wordings: [hot and cold]}\n  appetite_loss:\n    wordings: [hot and cold]", `wording "hot and cold" of appetite_loss conflicts with wording "hot and cold" of fever (lexicon1.yaml:2): both match "hot and cold", and neither observation refines the other`},
		{"two observations by other forms", "observations:\n  fever: {wordings: ['[hot|warm and] colds']}\n  appetite_loss: {wordings: ['~warm ... and cold']}", `lexicon1.yaml:3: wording "~warm ... and cold" of appetite_loss conflicts with wording "[hot|warm and] colds" of fever (lexicon1.yaml:2): both match "warm and cold", and neither observation refines the other`},
		{"two observations by one of some words", "observations: {fever: {wordings: ['[hot|warm] and [cold|cool]']}, appetite_loss: {wordings: ['[warm|hot] and [colds|cool]']}}", "conflicts with"},
		{"two observations in any order, by one of some words", "observations: {fever: {wordings: ['~[hot|warm] [cold|cool] x']}, appetite_loss: {wordings: ['~x [cool|cold] [warm|hot]']}}", "conflicts with"},
		{"two observations in any order", "observations:\n  fever: {wordings: ['~hot cold']}\n  appetite_loss: {wordings: ['~cold hot']}", "conflicts with"},
		{"a name of another", "observations:\n  appetite_loss:\n    wordings: [fevers]", `lexicon1.yaml:3: wording "fevers" of appetite_loss conflicts with wording "Fever" of fever (words.yaml:1): both match "fever", and neither observation refines the other`},
		{"two siblings", "observations: {belly_pain_left: {wordings: [side pain]}, belly_pain_right: {wordings: [side pain]}}", "conflicts with"},
		{"after, two siblings", "observations: {belly_pain_left: {after: [one side]}, belly_pain_right: {after: [one side]}}", "conflicts with"},
		{"present and absent", "observations: {fever: {wordings: [hot], absent: ['hot']}}", `wording "hot" states the absence of fever, but wording "hot" (lexicon1.yaml:1) states its presence with the same words`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			problems, _ := newFixture().compile(test.lexicon + "\n")
			if err := problems.Err(); err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("%v, want %q", err, test.wantErr)
			}
		})
	}
}

func TestConflictingStemmers(t *testing.T) {
	t.Parallel()
	problems, _ := newFixture().compile("stemmer: english", "stemmer: german")
	if err := problems.Err(); err == nil || err.Error() != "lexicon2.yaml:1: stemmer german conflicts with english in another file: a language must have one stemmer" {
		t.Error(err)
	}
}

// TestCompileReportsAllProblems checks that all problems are reported at once, each of
// them once.
func TestCompileReportsAllProblems(t *testing.T) {
	t.Parallel()
	problems, _ := newFixture().compile(`
classes: {unused: [a], worse: ["[a|b"]}
cues: {nonsense: [a], past: ["<nothing>"]}
observations:
  fever: {wordings: ["[hot|warm] [and|or] cold", "[cold|", my]}
  appetite_loss: {wordings: ["[warm|hot] [or|and] cold"]}
  nowhere: {wordings: [x], after: [y]}
`)
	if got := problems.List(); len(got) != 8 {
		t.Errorf("%d problems:\n%v", len(got), problems.Err())
	}
}

// TestCompileAcceptsNonConflictingWordings checks that wordings that may be alike are
// accepted.
func TestCompileAcceptsNonConflictingWordings(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"observations: {belly_pain: {wordings: [gut trouble]}, belly_pain_left: {wordings: [gut trouble]}}",                        // a child of the other
		"observations: {belly_pain: {wordings: ['~a b']}, fever: {wordings: [b a]}}",                                               // one in order, one in any order
		"observations: {fever: {absent: [fine]}, appetite_loss: {absent: [fine]}}",                                                 // both may be absent
		"observations: {belly_pain: {after: [still hurts]}, fever: {after: [still hurts]}}",                                        // after a known finding
		"observations: {fever: {wordings: ['~[a|b] [a|c]']}, appetite_loss: {wordings: ['~[b|c] d']}}",                             // one word only
		"observations: {fever: {wordings: ['~[a|b] c']}, appetite_loss: {wordings: ['~c c']}}",                                     // one word twice
		"observations: {fever: {wordings: [hot, hot, '[hot|warm]']}}",                                                              // duplicate wording
		"observations: {belly_pain_left: {after: [one side]}, fever: {wordings: [one side]}}",                                      // after the parent only
		"classes: {a: [x y, y x, x]}\nobservations: {fever: {wordings: ['<a>']}, belly_pain: {wordings: ['~<a> @appetite_loss']}}", // phrases and references
		"fillers: [to, be]\nclasses: {a: [to be]}\nobservations: {fever: {wordings: ['<a>']}}",                                     // a phrase of fillers
		"classes: {a: [x]}\nobservations: {fever: {wordings: ['<a>']}}\ncues: {}\ntimes: {}\nfillers:",                             // empty keys
		"",
	} {
		if problems, _ := newFixture().compile(text); problems.Err() != nil {
			t.Errorf("%s: %v", text, problems.Err())
		}
	}
}

func TestAmbiguousWordings(t *testing.T) {
	t.Parallel()
	w := newFixture()
	w.add("rash", nil, "Spots")
	w.add("bleeding", nil, "Spotting")
	problems, shared := w.compile("observations: {fever: {wordings: ['~[hot|warm] and [cold|cool]', spots]}, appetite_loss: {wordings: ['[cool|well] and [warm|bad]', '~[warm|bad] and cold']}}")
	want := []string{
		`"Spotting" of bleeding, "Spots" of rash: spot`,
		`"~[hot|warm] and [cold|cool]" of fever, "~[warm|bad] and cold" of appetite_loss: warm and cold`,
	}
	if diff := cmp.Diff(want, shared); diff != "" {
		t.Error(diff)
	}
	if err := problems.Err(); err == nil || !strings.Contains(err.Error(), `"spots" of fever conflicts with wording "Spots" of rash`) {
		t.Error(err)
	}
}

// TestSingleWordNamesKeepFillers checks that fillers are kept in a name that has only one
// other word; otherwise every text with that word would match.
func TestSingleWordNamesKeepFillers(t *testing.T) {
	t.Parallel()
	w := newFixture()
	w.concepts = nil
	w.add("runs", nil, "The runs", "Feeling poor", "Feel", "Runs of the mill", "Dripping")
	if problems, _ := w.compile("fillers: [the, feel, feeling, of]"); problems.Err() != nil {
		t.Fatal(problems.Err())
	}
	var got []string
	for _, p := range w.draft.Lexicon.Patterns {
		got = append(got, w.formatPattern(p))
	}
	want := []string{"mentions runs: the runs", "mentions runs: feeling poor", "mentions runs: ~ +2 runs +2 mill", "mentions runs: dripping"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestExactWords checks that an exact word matches no other word by its stem.
func TestExactWords(t *testing.T) {
	t.Parallel()
	w := newFixture()
	w.add("rash", nil, "Spots")
	w.add("bleeding", nil, "Spotting")
	problems, shared := w.compile("exact: [Spotting, other]\nobservations: {fever: {wordings: [hot spotting]}, appetite_loss: {wordings: [hot spots]}}")
	if problems.Err() != nil || len(shared) > 0 {
		t.Fatal(problems.Err(), shared)
	}
	for _, c := range w.concepts {
		w.draft.Observations = append(w.draft.Observations, c.Observation)
	}
	r := w.draft.Build()
	terms := map[string]model.Term{}
	for _, word := range []string{"spotting", "spots"} {
		found, ok := r.FindWord(word)
		if !ok || found.Terms.Len() != 1 {
			t.Fatalf("%q has %d terms", word, found.Terms.Len())
		}
		terms[word] = r.TermRefs[found.Terms.Start]
	}
	if terms["spotting"] == terms["spots"] {
		t.Error("both words are one term")
	}
	if found, ok := r.FindWord("others"); ok {
		t.Errorf("the plural of a word that is taken as it is is %+v", found)
	}
}

// FuzzCompile compiles arbitrary lexicons. The result must be patterns that a release can
// contain, or problems.
func FuzzCompile(f *testing.F) {
	f.Add(classes + useAllClasses)
	f.Add("observations: {fever: {wordings: ['~hot @belly_pain ... {1..2}'], absent: [cool]}, belly_pain_left: {after: ['[a|b] c']}}")
	f.Add("stemmer: german\nnumbers: {a: 1}\nunits: {h: [h]}\ntimes: {now: 1h}\ndurations: ['{time}']\ncues: {negates: ['no']}")
	f.Fuzz(func(t *testing.T, text string) {
		w := newFixture()
		problems, _ := w.compile(text)
		if problems.Err() != nil {
			return
		}
		for _, c := range w.concepts {
			w.draft.Observations = append(w.draft.Observations, c.Observation)
		}
		r := w.draft.Build()
		for _, p := range r.Patterns {
			if n := p.Elements.Len(); n < 1 || n > model.MaxPatternElements {
				t.Fatalf("a pattern of %d elements", n)
			}
		}
	})
}
