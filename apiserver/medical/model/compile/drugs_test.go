// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

const (
	drugs     = "core/drugs/all.yaml"
	drugWords = "lang/en/drugs/all.yaml"
	nicotine  = "{slug: nicotine, atc: N07BA01, factors: [smoking], source: Label}"
	metoprol  = "{slug: metoprolol, atc: C07AB02}"
)

// withDrugs returns edits that add two drugs to the sources.
func withDrugs(edits ...edit) []edit {
	return append([]edit{
		{drugs, "", "drugs:\n  - " + nicotine + "\n  - " + metoprol + "\n"},
		{registry, "", "drugs:\n  nicotine: d_2\n  metoprolol: d_1\n"},
		{drugWords, "", "drugs:\n  nicotine: {name: Nicotine, synonyms: [niacotine], brands: [Nicorette, Habitrol Haemorrhage]}\n  metoprolol: {name: Metoprolol}\n"},
	}, edits...)
}

// drugLines returns the drugs of a release as text: id, name, code, brands, factors.
func drugLines(r *model.Release) []string {
	var lines []string
	for i, d := range r.Drugs {
		line := r.DrugID(i) + " " + r.Text(d.Name) + " " + r.Text(d.ATC)
		for _, brand := range model.Slice(r.DrugBrands, d.Brands) {
			line += " " + r.Text(brand)
		}
		for _, o := range model.Slice(r.DrugRiskFactors, d.RiskFactors) {
			line += " " + r.ObservationID(o)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestCompileDrugs(t *testing.T) {
	t.Parallel()
	r := mustCompile(t, withDrugs()...)
	want := []string{"d_1 Metoprolol C07AB02", "d_2 Nicotine N07BA01 Nicorette Habitrol Haemorrhage p_2"}
	if diff := cmp.Diff(want, drugLines(r)); diff != "" {
		t.Error(diff)
	}
	var names []string
	for _, w := range r.ListWordings {
		names = append(names, r.Text(w.Text))
	}
	if diff := cmp.Diff([]string{"Metoprolol", "Nicotine", "niacotine", "Nicorette", "Habitrol Haemorrhage", "General Practitioner", "Neurologist"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestDerivedLanguageDrugs checks that a derived language replaces words in names but
// does not inherit brands, which may denote another drug in another market.
func TestDerivedLanguageDrugs(t *testing.T) {
	t.Parallel()
	r := mustCompileUSEnglish(t, withDrugs(
		edit{drugWords, "name: Nicotine", "name: Nicotine haemorrhage"},
		edit{"lang/en-us/drugs/all.yaml", "", "drugs:\n  metoprolol: {brands: [Lopressor]}\n"},
	)...)
	want := []string{"d_1 Metoprolol C07AB02 Lopressor", "d_2 Nicotine hemorrhage N07BA01 p_2"}
	if diff := cmp.Diff(want, drugLines(r)); diff != "" {
		t.Error(diff)
	}
}

func TestCompileRejectsInvalidDrugs(t *testing.T) {
	t.Parallel()
	runRejectionTests(t, "en", []rejectionTest{
		{"a drug twice", withDrugs(edit{drugs, "", "  - {slug: nicotine, atc: N02BE01} # again\n"}), []wantProblem{{drugs, "# again", "drug nicotine is defined twice"}}},
		{"a drug in capitals", withDrugs(edit{drugs, "", "  - {slug: Aspirin, atc: N02BA01}\n"}), []wantProblem{{drugs, "slug: Aspirin", `drug slug "Aspirin"`}}},
		{"no code", withDrugs(edit{drugs, metoprol, "{slug: metoprolol}"}), []wantProblem{{drugs, "slug: metoprolol", `atc "" of metoprolol: expected a substance code`}}},
		{"the code of a group", withDrugs(edit{drugs, "C07AB02", "C07AB"}), []wantProblem{{drugs, "slug: metoprolol", `atc "C07AB" of metoprolol`}}},
		{"a code in small letters", withDrugs(edit{drugs, "C07AB02", "c07ab02"}), []wantProblem{{drugs, "slug: metoprolol", `atc "c07ab02" of metoprolol`}}},
		{"a code twice", withDrugs(edit{drugs, "C07AB02", "N07BA01"}), []wantProblem{{drugs, "slug: metoprolol", "atc N07BA01 of metoprolol is already used by nicotine (core/drugs/all.yaml:2)"}}},
		{"an unknown factor", withDrugs(edit{drugs, "[smoking]", "[beta_blocker]"}), []wantProblem{{drugs, "slug: nicotine", "unknown observation beta_blocker"}}},
		{"a symptom for a factor", withDrugs(edit{drugs, "[smoking]", "[nausea]"}), []wantProblem{{drugs, "slug: nicotine", "nausea is a symptom: expected a risk factor"}}},
		{"a factor twice", withDrugs(edit{drugs, "[smoking]", "[smoking, smoking]"}), []wantProblem{{drugs, "slug: nicotine", "nicotine lists the risk factor smoking twice"}}},
		{"a source of nothing", withDrugs(edit{drugs, metoprol, "{slug: metoprolol, atc: C07AB02, source: Label}"}), []wantProblem{{drugs, "slug: metoprolol", "invalid source of metoprolol: expected both risk factors and their source"}}},
		{"an unknown key", withDrugs(edit{drugs, metoprol, "{slug: metoprolol, atc: C07AB02, dose: 50}"}), []wantProblem{{drugs, "slug: metoprolol", "unknown key dose"}}},
		{"a drug without an id", withDrugs(edit{registry, "  metoprolol: d_1\n", ""}), []wantProblem{{drugs, "slug: metoprolol", "drug metoprolol has no ID in core/registry.yaml: assign one with `go run ./hack/registry`"}}},
		{"a drug with the id of a disease", withDrugs(edit{registry, "metoprolol: d_1", "metoprolol: c_9"}), []wantProblem{{registry, "  metoprolol", `invalid ID of drug metoprolol: expected an ID such as d_1, got "c_9"`}}},
		{"an id of no drug", withDrugs(edit{registry, "", "  aspirin: d_3\n"}), []wantProblem{{registry, "  aspirin", "unknown drug aspirin: if it was removed, move its ID to removed"}}},
		{"an id twice", withDrugs(edit{registry, "metoprolol: d_1", "metoprolol: d_2"}), []wantProblem{{registry, "  metoprolol", "ID d_2 of metoprolol is already assigned or removed"}}},
		{"a drug without words", withDrugs(edit{drugWords, "  metoprolol: {name: Metoprolol}\n", ""}), []wantProblem{{drugs, "slug: metoprolol", "drug metoprolol has no texts in language en"}}},
		{"a drug without a name", withDrugs(edit{drugWords, "{name: Metoprolol}", "{brands: [Lopressor]}"}), []wantProblem{{drugWords, "  metoprolol", "metoprolol has no name"}}},
		{"words of no drug", withDrugs(edit{drugWords, "", "  aspirin: {name: Aspirin}\n"}), []wantProblem{{drugWords, "  aspirin", "unknown drug aspirin"}}},
		{"two drugs of one name", withDrugs(edit{drugWords, "name: Metoprolol", "name: nicotine"}), []wantProblem{{drugWords, "  metoprolol", `"nicotine" refers to both drug metoprolol and drug nicotine (lang/en/drugs/all.yaml:2)`}}},
		{"a brand of two drugs", withDrugs(edit{drugWords, "{name: Metoprolol}", "{name: Metoprolol, brands: [NICORETTE]}"}), []wantProblem{{drugWords, "  metoprolol", `"NICORETTE" refers to both drug metoprolol and drug nicotine`}}},
		{"a brand twice", withDrugs(edit{drugWords, "{name: Metoprolol}", "{name: Metoprolol, brands: [Metoprolol]}"}), []wantProblem{{drugWords, "  metoprolol", `"Metoprolol" is listed twice under drug metoprolol`}}},
		{"an empty brand", withDrugs(edit{drugWords, "{name: Metoprolol}", "{name: Metoprolol, brands: ['']}"}), []wantProblem{{drugWords, "  metoprolol", "empty wording of drug metoprolol"}}},
	})
}
