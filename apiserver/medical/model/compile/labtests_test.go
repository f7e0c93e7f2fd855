// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// addLabResult returns edits that add a laboratory result to the sources.
func addLabResult(slug, id, background string) []edit {
	return []edit{
		{head, "  - slug: crp_high\n", "  - slug: " + slug + "\n    kind: lab_result\n    background: " + background + "\n  - slug: crp_high\n"},
		{registry, "  crp_high: lt_1\n", "  crp_high: lt_1\n  " + slug + ": " + id + "\n"},
		{dictionary, "  crp_high: {name: High CRP}\n", "  crp_high: {name: High CRP}\n  " + slug + ": {name: " + slug + "}\n"},
	}
}

func TestCompileLabTests(t *testing.T) {
	t.Parallel()
	r := mustCompile(t, append(addLabResult("crp_normal", "lt_7", "0.9"), edit{head, "{high: crp_high}", "{high: crp_high, normal: crp_normal}"})...)
	i, ok := r.LabTestByID("lab_1")
	if !ok {
		t.Fatal("there is no lab_1")
	}
	test := r.LabTests[i]
	got := []string{r.Text(test.Name), r.Text(test.CommonName), r.Text(test.Category)}
	for _, o := range model.Slice(r.LabResultRefs, test.Results) {
		got = append(got, r.ObservationID(o)+" "+r.Observations[o].LabResult.String())
	}
	if diff := cmp.Diff([]string{"C-reactive protein", "CRP", "Inflammation", "lt_7 normal", "lt_1 high"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestCompileLabTestWithEveryResult checks that results that cover all cases may have
// backgrounds that sum to 1, despite rounding.
func TestCompileLabTestWithEveryResult(t *testing.T) {
	t.Parallel()
	for _, background := range []string{"0.9", "0.90000000000001"} {
		mustCompile(t, append(addLabResult("crp_normal", "lt_7", background), edit{head, "{high: crp_high}", "{high: crp_high, normal: crp_normal}"})...)
	}
}

func TestCompileRejectsInvalidLabTests(t *testing.T) {
	t.Parallel()
	const results = "results: {high: crp_high}"
	other := func(results string) []edit {
		return []edit{
			{head, "tuples:\n", "  - {slug: iron, category: inflammation, results: " + results + "}\ntuples:\n"},
			{registry, "  c_reactive_protein: lab_1\n", "  c_reactive_protein: lab_1\n  iron: lab_2\n"},
			{dictionary, "  c_reactive_protein: {name: C-reactive protein, common_name: CRP}\n", "  c_reactive_protein: {name: C-reactive protein, common_name: CRP}\n  iron: {name: Iron}\n"},
		}
	}
	with := func(more []edit, edits ...edit) []edit { return append(more, edits...) }
	runRejectionTests(t, "en", []rejectionTest{
		{"a result of no test", addLabResult("crp_low", "lt_7", "0.1"), []wantProblem{{head, "slug: crp_low", "laboratory result crp_low does not belong to a laboratory test: add it to the results of a test"}}},
		{"a result of two tests", other("{low: crp_high}"), []wantProblem{{head, "slug: iron", "crp_high is already a result of c_reactive_protein: a result must belong to one test only"}}},
		{"a result twice in a test", []edit{{head, results, "results: {high: crp_high, low: crp_high}"}}, []wantProblem{{head, "slug: c_reactive_protein", "crp_high is already a result of c_reactive_protein"}}},
		{"two results of one type", with(addLabResult("crp_higher", "lt_7", "0.05"), edit{head, results, "results: {high: crp_high, high: crp_higher}"}), []wantProblem{
			{head, "slug: c_reactive_protein", `mapping key "high" already defined at line 64`},
		}},
		{"an unknown type of result", []edit{{head, results, "results: {highest: crp_high}"}}, []wantProblem{{head, "slug: c_reactive_protein", `unknown result "highest": expected one of none, very_low, low`}}},
		{"no type of result", []edit{{head, results, "results: {none: crp_high}"}}, []wantProblem{{head, "slug: c_reactive_protein", "unknown result none: expected the result of a laboratory test"}}},
		{"an unknown result", []edit{{head, results, "results: {high: crp_high, low: crp_low}"}}, []wantProblem{{head, "slug: c_reactive_protein", "unknown observation crp_low"}}},
		{"a symptom for a result", []edit{{head, results, "results: {high: crp_high, low: nausea}"}}, []wantProblem{{head, "slug: c_reactive_protein", "nausea is a symptom: expected an observation of kind lab_result"}}},
		{"backgrounds over one", with(addLabResult("crp_normal", "lt_7", "0.95"), edit{head, results, "results: {high: crp_high, normal: crp_normal}"}), []wantProblem{
			{head, "slug: c_reactive_protein", "backgrounds of the results of c_reactive_protein add up to 1.05: mutually exclusive results must add up to at most 1"},
		}},
		{"no results", with(other("{}")), []wantProblem{{head, "slug: iron", "laboratory test iron has no results"}}},
		{"a result that is asked in a group", with(addLabResult("crp_low", "lt_7", "0.1"),
			edit{head, results, "results: {high: crp_high, low: crp_low}"},
			edit{head, "groups:\n", "groups:\n  - {slug: crp, type: group_single, items: [crp_high, crp_low]}\n"},
			edit{dictionary, "groups:\n", "groups:\n  crp: {question: a, question_third_person: b}\n"}), []wantProblem{
			{head, "slug: c_reactive_protein", "crp_high is an item of group crp: the results of a test already form a group"},
			{head, "slug: c_reactive_protein", "crp_low is an item of group crp"},
			{head, "slug: crp_high", "laboratory result crp_high does not belong to a laboratory test: add it to the results of a test"},
			{head, "slug: crp_low", "laboratory result crp_low does not belong to a laboratory test: add it to the results of a test"},
		}},
		{"a test twice", []edit{{head, "tuples:\n", "  - {slug: c_reactive_protein, category: inflammation, results: {}} # again\ntuples:\n"}}, []wantProblem{
			{head, "# again", "laboratory test c_reactive_protein is defined twice"},
		}},
		{"a test in capitals", []edit{{head, "tuples:\n", "  - {slug: CRP, category: inflammation}\ntuples:\n"}}, []wantProblem{{head, "slug: CRP", `laboratory test slug "CRP"`}}},
		{"a test without an id", []edit{{registry, "  c_reactive_protein: lab_1\n", "  {}\n"}}, []wantProblem{{head, "slug: c_reactive_protein", "laboratory test c_reactive_protein has no ID in core/registry.yaml: assign one with `go run ./hack/registry`"}}},
		{"a test with the id of a result", []edit{{registry, "lab_1", "lt_2"}}, []wantProblem{{registry, "c_reactive_protein", `invalid ID of laboratory test c_reactive_protein: expected an ID such as lab_1, got "lt_2"`}}},
		{"an id of no test", []edit{{registry, "  c_reactive_protein: lab_1\n", "  c_reactive_protein: lab_1\n  iron: lab_2\n"}}, []wantProblem{{registry, "  iron", "unknown laboratory test iron"}}},
		{"no category", []edit{{head, "category: inflammation, ", ""}}, []wantProblem{{head, "slug: c_reactive_protein", "category is missing"}}},
		{"an unknown category", []edit{{head, "category: inflammation", "category: blood"}}, []wantProblem{{head, "slug: c_reactive_protein", "category blood of c_reactive_protein has no name under lab_categories in lang/en/language.yaml"}}},
		{"a test without words", []edit{{dictionary, "  c_reactive_protein: {name: C-reactive protein, common_name: CRP}\n", "  {}\n"}}, []wantProblem{{head, "slug: c_reactive_protein", "laboratory test c_reactive_protein has no texts in language en"}}},
		{"a test without a name", []edit{{dictionary, "{name: C-reactive protein, common_name: CRP}", "{common_name: CRP}"}}, []wantProblem{{dictionary, "c_reactive_protein", "c_reactive_protein has no name"}}},
		{"words of no test", []edit{{dictionary, "lab_tests:\n", "lab_tests:\n  iron: {name: Iron}\n"}}, []wantProblem{{dictionary, "iron", "unknown laboratory test iron"}}},
		{"two tests with one name", append(other("{low: iron_low}"), append(addLabResult("iron_low", "lt_7", "0.1"), edit{dictionary, "{name: Iron}", "{name: c-reactive  protein}"})...), []wantProblem{
			{dictionary, "  iron:", `laboratory test iron and laboratory test c_reactive_protein (lang/en/all.yaml:19) have the same name "c-reactive  protein"`},
		}},
	})
}
