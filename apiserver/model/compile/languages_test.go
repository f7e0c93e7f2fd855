// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile"
)

const (
	american        = "lang/en-us/language.yaml"
	americanWords   = "lang/en-us/all.yaml"
	americanContent = `model: service-en-us
language: en-US
base: en
replace:
  haemorrhage: hemorrhage
  amenorrhoea: amenorrhea
`
)

// inAmerican adds a language derived from the one of the sources.
func inAmerican(edits ...edit) []edit {
	return append([]edit{{american, "", americanContent}}, edits...)
}

func derived(t *testing.T, edits ...edit) *model.Release {
	t.Helper()
	result, err := compile.Compile(edited(t, inAmerican(edits...)...), "en-us")
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, result)
}

// textsOf are all that a release says in words.
func textsOf(r *model.Release) []string {
	list := []string{r.Meta.ChoicePresent, r.Meta.ChoiceAbsent, r.Meta.ChoiceUnknown, r.Meta.DurationQuestion, r.Meta.DurationQuestionThirdPerson}
	add := func(refs ...model.StringRef) {
		for _, ref := range refs {
			list = append(list, r.Text(ref))
		}
	}
	for _, c := range r.Conditions {
		add(c.Name, c.CommonName, c.Hint, c.ICD10)
	}
	for _, o := range r.Observations {
		add(o.Name, o.CommonName, o.Question, o.QuestionThirdPerson)
	}
	for _, g := range r.Groups {
		add(g.Question, g.QuestionThirdPerson)
	}
	for _, n := range slices.Concat(r.Specialists, r.Categories) {
		add(n.Name)
	}
	for _, l := range r.LabTests {
		add(l.Name, l.CommonName, l.Category)
	}
	for _, w := range r.Wordings {
		add(w.Text)
	}
	for _, n := range r.Nodes {
		add(n.Text)
	}
	return list
}

// A derived language says what its base says but for the words replaced.
func TestDerivedLanguageHasAllOfItsBase(t *testing.T) {
	t.Parallel()
	article := edit{aboutMigraine, "", strings.Replace(leaflet, "nausea", "haemorrhage", 1)}
	base := compiled(t, article)
	got := derived(t, article)
	want := textsOf(base)
	replace := strings.NewReplacer("haemorrhage", "hemorrhage", "Amenorrhoea", "Amenorrhea")
	for i := range want {
		want[i] = replace.Replace(want[i])
	}
	if diff := cmp.Diff(want, textsOf(got)); diff != "" {
		t.Error(diff)
	}
	if got.Meta.ModelID != "service-en-us" || got.Meta.Language != "en-US" || got.Meta.Version != base.Meta.Version {
		t.Errorf("the release is %+v", got.Meta)
	}
	if !slices.ContainsFunc(got.Words, func(w model.Word) bool { return got.Text(w.Text) == "hemorrhage" }) {
		t.Error("the words do not have the one put in place")
	}
	if slices.ContainsFunc(got.Words, func(w model.Word) bool { return got.Text(w.Text) == "haemorrhage" }) {
		t.Error("the words still have the one replaced")
	}
	if diff := cmp.Diff(base.LinksByCondition, got.LinksByCondition, cmp.AllowUnexported(model.Link{})); diff != "" {
		t.Errorf("the numbers are others: %s", diff)
	}
}

// What a derived language says itself stands as it is, beside what it takes
// over for the same concept.
func TestDerivedLanguageOverrides(t *testing.T) {
	t.Parallel()
	r := derived(t,
		edit{american, "", "choices: {unknown: Not sure}\nspecialists: {neurologist: Brain doctor}\nquestions: {duration: \"Since when: {symptom}?\"}\nlab_categories: {inflammation: Haemorrhage and others}\n"},
		edit{americanWords, "", "conditions:\n  brain_bleed: {common_name: A haemorrhage}\n  migraine: {synonyms: [sick headache]}\nlab_tests:\n  c_reactive_protein: {common_name: Inflammation}\ngroups:\n  headache_location: {question: Whereabouts}\n"},
		edit{aboutMigraine, "", leaflet},
		edit{"lang/en-us/articles/migraine.md", "", strings.Replace(leaflet, "# Migraine", "# Migraines", 1)},
	)
	if m := r.Meta; m.ChoiceUnknown != "Not sure" || m.ChoicePresent != "Yes" || m.DurationQuestion != "Since when: {symptom}?" || m.DurationQuestionThirdPerson != "How long have they had this: {symptom}?" {
		t.Errorf("the labels are %+v", m)
	}
	bleed := condition(t, r, "c_2")
	location := r.Groups[observation(t, r, "s_4").Group]
	got := []string{
		r.Text(bleed.Name), r.Text(bleed.CommonName), r.Text(r.LabTests[0].Name), r.Text(r.LabTests[0].CommonName), r.Text(r.LabTests[0].Category),
		r.Text(location.Question), r.Text(location.QuestionThirdPerson), r.Text(r.Specialists[0].Name), r.Text(r.Specialists[1].Name),
	}
	want := []string{
		"Subarachnoid hemorrhage", "A haemorrhage", "C-reactive protein", "Inflammation", "Haemorrhage and others",
		"Whereabouts", "Where does it hurt them", "General Practitioner", "Brain doctor",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var synonyms []string
	for _, w := range r.Wordings {
		if w.Condition && w.Kind == model.Synonym {
			synonyms = append(synonyms, r.Text(w.Text))
		}
	}
	if diff := cmp.Diff([]string{"sick headache"}, synonyms); diff != "" {
		t.Errorf("synonyms given take the place of those of the base: %s", diff)
	}
	if article := articleOf(t, r, "c_1"); len(article) != 4 || article[0] != `heading-1("Migraines")` {
		t.Errorf("the article is %q", article)
	}
}

func TestAllCompilesDerivedLanguages(t *testing.T) {
	t.Parallel()
	results, err := compile.All(edited(t, inAmerican()...))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, result := range results {
		ids = append(ids, result.Meta.ModelID)
	}
	if diff := cmp.Diff([]string{"service-en", "service-en-us"}, ids); diff != "" {
		t.Error(diff)
	}
	// What is wrong with the base is told once, where it stands.
	_, err = compile.All(edited(t, inAmerican(edit{dictionary, "question: Do you smoke, ", ""})...))
	if want := "lang/en/all.yaml:15: smoking has no question"; err == nil || err.Error() != want {
		t.Errorf("All tells\n%v\nwant\n%s", err, want)
	}
}

func TestCompileRefusesDerivedLanguages(t *testing.T) {
	t.Parallel()
	refuses(t, "en-us", []refusal{
		{"a replacement of what stands nowhere", inAmerican(edit{american, "", "  oesophagus: esophagus\n"}), []want{
			{american, "oesophagus", `"oesophagus" is replaced by "esophagus", and stands nowhere in the language en`},
		}},
		{"a replacement of part of a word", inAmerican(edit{american, "", "  haemorrh: hemorrh\n"}), []want{{american, "haemorrh:", "stands nowhere"}}},
		{"a replacement of what is overridden", inAmerican(edit{americanWords, "", "conditions: {brain_bleed: {name: Bleed}}\n"}), []want{{american, "haemorrhage", "stands nowhere"}}},
		{"a replacement by nothing", inAmerican(edit{american, "", "  headache:\n"}), []want{{american, "headache", `"headache" is replaced by "": expected a word, and another one`}}},
		{"a replacement of nothing", inAmerican(edit{american, "", "  \"\": headache\n"}), []want{{american, `""`, `"" is replaced by "headache"`}}},
		{"a replacement by itself", inAmerican(edit{american, "", "  headache: headache\n"}), []want{{american, "headache", `"headache" is replaced by "headache"`}}},
		{"an unknown base", inAmerican(edit{american, "base: en", "base: xx"}), []want{{american, "base", "unknown language xx: expected one of en, en-us"}}},
		{"itself for a base", inAmerican(edit{american, "base: en", "base: en-us"}), []want{
			{american, "base", "the base en-us is derived from en-us itself: expected a language with words of its own"},
		}},
		{"a model without an id", inAmerican(edit{american, "model: service-en-us\n", ""}), []want{{american, "", "model is missing"}}},
		{"two wordings that become one", inAmerican(edit{american, "", "  nausea: headache\n"}), []want{
			{dictionary, "  nausea: ", `symptom nausea and symptom headache (lang/en/all.yaml:5) have the same name "Headache"`},
			{dictionary, "  nausea: ", `"Headache" leads to symptom nausea and to symptom headache`},
		}},
		{"an override of nothing", inAmerican(edit{americanWords, "", "observations:\n  nausia: {name: Nausea}\n"}), []want{{americanWords, "nausia", "unknown observation nausia"}}},
		{"an override of what there is not to say", inAmerican(edit{americanWords, "", "observations:\n  nausea: {hint: a}\n"}), []want{{americanWords, "nausea", "unknown key hint"}}},
		{"an override that is like another concept", inAmerican(edit{americanWords, "", "observations:\n  nausea: {common_name: head pain}\n"}), []want{{americanWords, "nausea", `"head pain" leads to symptom nausea and to symptom headache (lang/en/all.yaml:5)`}}},
		{"an override twice", inAmerican(edit{americanWords, "", "observations:\n  nausea: {common_name: Sick}\n"}, edit{"lang/en-us/more.yaml", "", "observations:\n  nausea: {common_name: Ill}\n"}), []want{{"lang/en-us/more.yaml", "nausea", "observation nausea has words at lang/en-us/all.yaml:2 already"}}},
	})
	refuses(t, "en", []refusal{
		{"replacements without a base", []edit{{language, "", "replace: {headache: ache}\n"}}, []want{{language, "replace", "headache is replaced, and the language has no base to replace it in"}}},
	})
}
