// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

const (
	drugs     = "core/drugs/all.yaml"
	drugWords = "lang/en/drugs/all.yaml"
	nicotine  = "{slug: nicotine, atc: N07BA01, factors: [smoking], source: Label}"
	metoprol  = "{slug: metoprolol, atc: C07AB02}"
)

// withDrugs adds two drugs to the sources.
func withDrugs(edits ...edit) []edit {
	return append([]edit{
		{drugs, "", "drugs:\n  - " + nicotine + "\n  - " + metoprol + "\n"},
		{registry, "", "drugs:\n  nicotine: d_2\n  metoprolol: d_1\n"},
		{drugWords, "", "drugs:\n  nicotine: {name: Nicotine, synonyms: [niacotine], brands: [Nicorette, Habitrol Haemorrhage]}\n  metoprolol: {name: Metoprolol}\n"},
	}, edits...)
}

// drugLines are the drugs of a release as text: id, name, code, brands, factors.
func drugLines(r *model.Release) []string {
	var lines []string
	for i, d := range r.Drugs {
		line := r.DrugID(i) + " " + r.Text(d.Name) + " " + r.Text(d.ATC)
		for _, brand := range model.Part(r.DrugBrands, d.Brands) {
			line += " " + r.Text(brand)
		}
		for _, o := range model.Part(r.DrugFactors, d.Factors) {
			line += " " + r.ObservationID(o)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestCompileDrugs(t *testing.T) {
	t.Parallel()
	r := compiled(t, withDrugs()...)
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

// A derived language replaces the words of names and has brands of its own alone:
// those of its base are sold elsewhere, and may be of another drug here.
func TestDrugsOfADerivedLanguage(t *testing.T) {
	t.Parallel()
	r := derived(t, withDrugs(
		edit{drugWords, "name: Nicotine", "name: Nicotine haemorrhage"},
		edit{"lang/en-us/drugs/all.yaml", "", "drugs:\n  metoprolol: {brands: [Lopressor]}\n"},
	)...)
	want := []string{"d_1 Metoprolol C07AB02 Lopressor", "d_2 Nicotine hemorrhage N07BA01 p_2"}
	if diff := cmp.Diff(want, drugLines(r)); diff != "" {
		t.Error(diff)
	}
}

func TestCompileRefusesDrugs(t *testing.T) {
	t.Parallel()
	refuses(t, "en", []refusal{
		{"a drug twice", withDrugs(edit{drugs, "", "  - {slug: nicotine, atc: N02BE01} # again\n"}), []want{{drugs, "# again", "drug nicotine is defined twice"}}},
		{"a drug in capitals", withDrugs(edit{drugs, "", "  - {slug: Aspirin, atc: N02BA01}\n"}), []want{{drugs, "slug: Aspirin", `drug slug "Aspirin"`}}},
		{"no code", withDrugs(edit{drugs, metoprol, "{slug: metoprolol}"}), []want{{drugs, "slug: metoprolol", `atc "" of metoprolol: expected the code of a substance`}}},
		{"the code of a group", withDrugs(edit{drugs, "C07AB02", "C07AB"}), []want{{drugs, "slug: metoprolol", `atc "C07AB" of metoprolol`}}},
		{"a code in small letters", withDrugs(edit{drugs, "C07AB02", "c07ab02"}), []want{{drugs, "slug: metoprolol", `atc "c07ab02" of metoprolol`}}},
		{"a code twice", withDrugs(edit{drugs, "C07AB02", "N07BA01"}), []want{{drugs, "slug: metoprolol", "atc N07BA01 of metoprolol is that of nicotine (core/drugs/all.yaml:2) already"}}},
		{"an unknown factor", withDrugs(edit{drugs, "[smoking]", "[beta_blocker]"}), []want{{drugs, "slug: nicotine", "unknown observation beta_blocker"}}},
		{"a symptom for a factor", withDrugs(edit{drugs, "[smoking]", "[nausea]"}), []want{{drugs, "slug: nicotine", "nausea is a symptom: expected a risk factor"}}},
		{"a factor twice", withDrugs(edit{drugs, "[smoking]", "[smoking, smoking]"}), []want{{drugs, "slug: nicotine", "nicotine lists the factor smoking twice"}}},
		{"a source of nothing", withDrugs(edit{drugs, metoprol, "{slug: metoprolol, atc: C07AB02, source: Label}"}), []want{{drugs, "slug: metoprolol", "source of metoprolol: expected to say where its factors stand"}}},
		{"an unknown key", withDrugs(edit{drugs, metoprol, "{slug: metoprolol, atc: C07AB02, dose: 50}"}), []want{{drugs, "slug: metoprolol", "unknown key dose"}}},
		{"a drug without an id", withDrugs(edit{registry, "  metoprolol: d_1\n", ""}), []want{{drugs, "slug: metoprolol", "drug metoprolol has no id in core/registry.yaml"}}},
		{"a drug with the id of a disease", withDrugs(edit{registry, "metoprolol: d_1", "metoprolol: c_9"}), []want{{registry, "  metoprolol", `drug metoprolol has the id "c_9", expected one such as d_1`}}},
		{"an id of no drug", withDrugs(edit{registry, "", "  aspirin: d_3\n"}), []want{{registry, "  aspirin", "no drug is called aspirin: if it was removed, move its id to removed"}}},
		{"an id twice", withDrugs(edit{registry, "metoprolol: d_1", "metoprolol: d_2"}), []want{{registry, "  metoprolol", "id d_2 of metoprolol is given or removed on line"}}},
		{"a drug without words", withDrugs(edit{drugWords, "  metoprolol: {name: Metoprolol}\n", ""}), []want{{drugs, "slug: metoprolol", "drug metoprolol has no words in language en"}}},
		{"a drug without a name", withDrugs(edit{drugWords, "{name: Metoprolol}", "{brands: [Lopressor]}"}), []want{{drugWords, "  metoprolol", "metoprolol has no name"}}},
		{"words of no drug", withDrugs(edit{drugWords, "", "  aspirin: {name: Aspirin}\n"}), []want{{drugWords, "  aspirin", "unknown drug aspirin"}}},
		{"two drugs of one name", withDrugs(edit{drugWords, "name: Metoprolol", "name: nicotine"}), []want{{drugWords, "  metoprolol", `"nicotine" leads to drug metoprolol and to drug nicotine (lang/en/drugs/all.yaml:2)`}}},
		{"a brand of two drugs", withDrugs(edit{drugWords, "{name: Metoprolol}", "{name: Metoprolol, brands: [NICORETTE]}"}), []want{{drugWords, "  metoprolol", `"NICORETTE" leads to drug metoprolol and to drug nicotine`}}},
		{"a brand twice", withDrugs(edit{drugWords, "{name: Metoprolol}", "{name: Metoprolol, brands: [Metoprolol]}"}), []want{{drugWords, "  metoprolol", `"Metoprolol" stands twice under drug metoprolol`}}},
		{"an empty brand", withDrugs(edit{drugWords, "{name: Metoprolol}", "{name: Metoprolol, brands: ['']}"}), []want{{drugWords, "  metoprolol", "an empty wording of drug metoprolol"}}},
	})
}
