// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile"
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

// withAmerican returns edits that add a language derived from the language of the
// sources.
func withAmerican(edits ...edit) []edit {
	return append([]edit{{american, "", americanContent}}, edits...)
}

func mustCompileUSEnglish(t *testing.T, edits ...edit) *model.Release {
	t.Helper()
	result, err := compile.Compile(applyEdits(t, withAmerican(edits...)...), "en-us")
	if err != nil {
		t.Fatal(err)
	}
	return mustDecode(t, result)
}

// allTexts returns all texts of a release.
func allTexts(r *model.Release) []string {
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

// TestDerivedLanguageInheritsBase checks that a derived language has the texts of its
// base with words replaced.
func TestDerivedLanguageInheritsBase(t *testing.T) {
	t.Parallel()
	article := edit{migraineArticleFile, "", strings.Replace(migraineArticle, "nausea", "haemorrhage", 1)}
	base := mustCompile(t, article)
	got := mustCompileUSEnglish(t, article)
	want := allTexts(base)
	replace := strings.NewReplacer("haemorrhage", "hemorrhage", "Amenorrhoea", "Amenorrhea")
	for i := range want {
		want[i] = replace.Replace(want[i])
	}
	if diff := cmp.Diff(want, allTexts(got)); diff != "" {
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

// TestDerivedLanguageOverrides checks that a derived language keeps its own texts
// unchanged and inherits the other texts of the same concept.
func TestDerivedLanguageOverrides(t *testing.T) {
	t.Parallel()
	r := mustCompileUSEnglish(t,
		edit{american, "", "choices: {unknown: Not sure}\nspecialists: {neurologist: Brain doctor}\nquestions: {duration: \"Since when: {symptom}?\"}\nlab_categories: {inflammation: Haemorrhage and others}\n"},
		edit{americanWords, "", "conditions:\n  brain_bleed: {common_name: A haemorrhage}\n  migraine: {synonyms: [sick headache]}\nlab_tests:\n  c_reactive_protein: {common_name: Inflammation}\ngroups:\n  headache_location: {question: Whereabouts}\n"},
		edit{migraineArticleFile, "", migraineArticle},
		edit{"lang/en-us/articles/migraine.md", "", strings.Replace(migraineArticle, "# Migraine", "# Migraines", 1)},
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
		if w.IsCondition && w.Kind == model.SynonymWording {
			synonyms = append(synonyms, r.Text(w.Text))
		}
	}
	if diff := cmp.Diff([]string{"sick headache"}, synonyms); diff != "" {
		t.Errorf("own synonyms must replace the synonyms of the base: %s", diff)
	}
	if article := articleLines(t, r, "c_1"); len(article) != 4 || article[0] != `heading-1("Migraines")` {
		t.Errorf("the article is %q", article)
	}
}

func TestAllCompilesDerivedLanguages(t *testing.T) {
	t.Parallel()
	results, err := compile.All(applyEdits(t, withAmerican()...))
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
	// A problem in the base is reported once, at its position in the base.
	_, err = compile.All(applyEdits(t, withAmerican(edit{dictionary, "question: Do you smoke, ", ""})...))
	if want := "lang/en/all.yaml:15: smoking has no question"; err == nil || err.Error() != want {
		t.Errorf("All returned\n%v\nwant\n%s", err, want)
	}
}

func TestCompileRejectsInvalidDerivedLanguages(t *testing.T) {
	t.Parallel()
	runRejectionTests(t, "en-us", []rejectionTest{
		{"a replacement of what does not occur in the language en", withAmerican(edit{american, "", "  oesophagus: esophagus\n"}), []wantProblem{
			{american, "oesophagus", `unused replacement of "oesophagus" by "esophagus": the word does not occur in language en`},
		}},
		{"a replacement of part of a word", withAmerican(edit{american, "", "  haemorrh: hemorrh\n"}), []wantProblem{{american, "haemorrh:", "\": the word does not occur in language en"}}},
		{"a replacement of what is overridden", withAmerican(edit{americanWords, "", "conditions: {brain_bleed: {name: Bleed}}\n"}), []wantProblem{{american, "haemorrhage", "\": the word does not occur in language en"}}},
		{"a replacement by nothing", withAmerican(edit{american, "", "  headache:\n"}), []wantProblem{{american, "headache", `invalid replacement of "headache" by "": expected two different words`}}},
		{"a replacement of nothing", withAmerican(edit{american, "", "  \"\": headache\n"}), []wantProblem{{american, `""`, `invalid replacement of "" by "headache": expected two different words`}}},
		{"a word replaced with itself", withAmerican(edit{american, "", "  headache: headache\n"}), []wantProblem{{american, "headache", `invalid replacement of "headache" by "headache": expected two different words`}}},
		{"an unknown base", withAmerican(edit{american, "base: en", "base: xx"}), []wantProblem{{american, "base", "unknown language xx: expected one of en, en-us"}}},
		{"itself for a base", withAmerican(edit{american, "base: en", "base: en-us"}), []wantProblem{
			{american, "base", "base language en-us is derived from en-us: expected a base language that is not derived"},
		}},
		{"a model without an id", withAmerican(edit{american, "model: service-en-us\n", ""}), []wantProblem{{american, "", "model is missing"}}},
		{"two wordings that become one", withAmerican(edit{american, "", "  nausea: headache\n"}), []wantProblem{
			{dictionary, "  nausea: ", `symptom nausea and symptom headache (lang/en/all.yaml:5) have the same name "Headache"`},
			{dictionary, "  nausea: ", `"Headache" refers to both symptom nausea and symptom headache`},
		}},
		{"an override of nothing", withAmerican(edit{americanWords, "", "observations:\n  nausia: {name: Nausea}\n"}), []wantProblem{{americanWords, "nausia", "unknown observation nausia"}}},
		{"an override of what there is not to say", withAmerican(edit{americanWords, "", "observations:\n  nausea: {hint: a}\n"}), []wantProblem{{americanWords, "nausea", "unknown key hint"}}},
		{"an override that is like another concept", withAmerican(edit{americanWords, "", "observations:\n  nausea: {common_name: head pain}\n"}), []wantProblem{{americanWords, "nausea", `"head pain" refers to both symptom nausea and symptom headache (lang/en/all.yaml:5)`}}},
		{"an override twice", withAmerican(edit{americanWords, "", "observations:\n  nausea: {common_name: Sick}\n"}, edit{"lang/en-us/more.yaml", "", "observations:\n  nausea: {common_name: Ill}\n"}), []wantProblem{{"lang/en-us/more.yaml", "nausea", "observation nausea already has texts at lang/en-us/all.yaml:2"}}},
	})
	runRejectionTests(t, "en", []rejectionTest{
		{"replacements without a base", []edit{{language, "", "replace: {headache: ache}\n"}}, []wantProblem{{language, "replace", "unexpected replacement of headache: the language has no base"}}},
	})
}
