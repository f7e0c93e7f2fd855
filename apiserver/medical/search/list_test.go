// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

func withDrugNames(synonyms []string, brands ...string) func(*model.DraftDrug) {
	return func(d *model.DraftDrug) { d.Synonyms, d.Brands = synonyms, brands }
}

// newListRelease returns a small release with entries in every list.
func newListRelease(t modeltest.TB) *model.Release {
	asked := func(name string) func(*model.DraftObservation) {
		return func(o *model.DraftObservation) {
			o.Name, o.CommonName, o.Question, o.QuestionThirdPerson = name, name, "Do you?", "Do they?"
		}
	}
	return modeltest.New().
		Symptom("s_1", 0.1, asked("Headache")).
		Child("s_2", "s_1", model.SeverityRelation, 0.01, asked("Severe headache")).
		Symptom("s_3", 0.1, asked("Period pain"), func(o *model.DraftObservation) { o.Sex = model.FemaleOnly }).
		Symptom("s_4", 0.1, withNames("Kernig sign", "Kernig sign"), func(o *model.DraftObservation) { o.Question, o.QuestionThirdPerson = "", "" }).
		RiskFactor("p_1", 0.1, asked("Asthma, known")).
		RiskFactor("p_2", 0.1, asked("Operation in the last month")).
		RiskFactor("p_3", 0.1, asked("Past stroke"), func(o *model.DraftObservation) { o.AgeFrom = 216 }).
		LabResult("lt_1", 0.1).
		Condition("c_1", 0.1, withConditionNames("Asthma", "Bronchial asthma")).
		Condition("c_2", 0.1, withConditionNames("Enlarged prostate", "Benign prostatic hyperplasia"), func(c *model.DraftCondition) { c.Sex, c.AgeFrom = model.MaleOnly, 480 }).
		Condition("c_3", 0.1, withConditionNames("Cold", "Rhinovirus infection")).
		ChronicDisease("c_1", "p_1").ChronicDisease("c_2").
		Hospitalizations("p_3", "p_2").
		Drug("d_1", "Paracetamol", "N02BE01", nil, withDrugNames([]string{"acetaminophen"}, "Panadol", "Calpol")).
		Drug("d_2", "Salbutamol", "R03AC02", nil, withDrugNames(nil, "Ventolin")).
		Drug("d_3", "Salmeterol", "R03AC12", nil, withDrugNames(nil, "Serevent")).
		Drug("d_4", "Äthinylestradiol", "G03CA01", nil).
		Drug("d_5", "amlodipine", "C08CA01", nil, withDrugNames(nil, "Istin")).
		Drug("d_6", "Amitriptyline", "N06AA09", nil).
		Build(t)
}

func itemIDs(items []Item) string {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ID
	}
	return strings.Join(ids, " ")
}

func TestItems(t *testing.T) {
	t.Parallel()
	r := newListRelease(t)
	female, male := model.Female, model.Male
	child, grownUp := 120, 600
	for _, test := range []struct {
		query ListQuery
		want  string
	}{
		{ListQuery{List: Symptoms}, "p_1 s_1 p_2 p_3 s_3 s_2"},
		{ListQuery{List: Symptoms, Sex: &male}, "p_1 s_1 p_2 p_3 s_2"},
		{ListQuery{List: Symptoms, Sex: &female, AgeMonths: &child}, "p_1 s_1 p_2 s_3 s_2"},
		{ListQuery{List: Symptoms, Phrase: "head"}, "s_1 s_2"},
		{ListQuery{List: Symptoms, Phrase: "kernig"}, ""},
		{ListQuery{List: Symptoms, Phrase: "asthma"}, "p_1"},
		{ListQuery{List: ChronicDiseases}, "c_1 c_2"},
		{ListQuery{List: ChronicDiseases, Sex: &female}, "c_1"},
		{ListQuery{List: ChronicDiseases, AgeMonths: &child}, "c_1"},
		{ListQuery{List: ChronicDiseases, Sex: &male, AgeMonths: &grownUp}, "c_1 c_2"},
		{ListQuery{List: ChronicDiseases, Phrase: "prostrate"}, "c_2"},
		{ListQuery{List: ChronicDiseases, Phrase: "cold"}, ""},
		{ListQuery{List: Hospitalizations}, "p_2 p_3"},
		{ListQuery{List: Hospitalizations, AgeMonths: &child}, "p_2"},
		{ListQuery{List: Hospitalizations, Phrase: "stroke"}, "p_3"},
		{ListQuery{List: Specialists}, "sp_1"},
		{ListQuery{List: Specialists, Phrase: "practitoner"}, "sp_1"},
		{ListQuery{List: Specialists, Phrase: "panadol"}, ""},
		{ListQuery{List: Drugs}, "d_6 d_5 d_4 d_1 d_2 d_3"},
		{ListQuery{List: Drugs, Phrase: " - "}, "d_6 d_5 d_4 d_1 d_2 d_3"},
		{ListQuery{List: Drugs, Phrase: "am"}, "d_6 d_5"},
		{ListQuery{List: Drugs, Phrase: "sal"}, "d_2 d_3"},
		{ListQuery{List: Drugs, Phrase: "Ventolin"}, "d_2"},
		{ListQuery{List: Drugs, Phrase: "ventoline"}, "d_2"},
		{ListQuery{List: Drugs, Phrase: "paracetmol"}, "d_1"},
		{ListQuery{List: Drugs, Phrase: "ACETAMINOPHEN"}, "d_1"},
		{ListQuery{List: Drugs, Phrase: "calp"}, "d_1"},
		{ListQuery{List: Drugs, Phrase: "headache"}, ""},
		{ListQuery{List: Drugs, Phrase: "general practitioner"}, ""},
	} {
		if got := itemIDs(Items(r, test.query)); got != test.want {
			t.Errorf("%v for %q gives %q, want %q", test.query.List, test.query.Phrase, got, test.want)
		}
	}
	if diff := cmp.Diff([]Item{{"d_1", "Paracetamol"}}, Items(r, ListQuery{List: Drugs, Phrase: "panadol"})); diff != "" {
		t.Errorf("a brand must return the name of its substance: %s", diff)
	}
}

func TestListNames(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"symptoms", "chronic_diseases", "specialists", "hospitalizations", "drugs"} {
		if list, err := ParseList(word); err != nil || list.String() != word {
			t.Errorf("ParseList(%q) = %v, %v", word, list, err)
		}
	}
	if _, err := ParseList("allergies"); err == nil || !strings.Contains(err.Error(), `unknown list "allergies": expected one of symptoms, chronic_diseases`) {
		t.Errorf("ParseList of an unknown list returned %v", err)
	}
	if got := List(9).String(); got != "List(9)" {
		t.Errorf("a list that there is not is %s", got)
	}
}

// TestItemsForAnyPhrase expects, for any phrase, a deterministic subset of the full
// list without duplicates, and that every entry is found by its own name.
func TestItemsForAnyPhrase(t *testing.T) {
	t.Parallel()
	r := newListRelease(t)
	rapid.Check(t, func(t *rapid.T) {
		list := List(rapid.IntRange(0, int(Drugs)).Draw(t, "list"))
		all := Items(r, ListQuery{List: list})
		phrase := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z]{1,9}( [a-z]{1,9})?`)).Draw(t, "phrase")
		got := Items(r, ListQuery{List: list, Phrase: phrase})
		seen := map[string]bool{}
		for _, item := range got {
			if seen[item.ID] || !slices.Contains(all, item) {
				t.Fatalf("%q returned %v, which is a duplicate or not in the list", phrase, item)
			}
			seen[item.ID] = true
		}
		if diff := cmp.Diff(got, Items(r, ListQuery{List: list, Phrase: phrase})); diff != "" {
			t.Fatalf("%q gives something else the second time: %s", phrase, diff)
		}
		item := rapid.SampledFrom(all).Draw(t, "item")
		if named := Items(r, ListQuery{List: list, Phrase: item.Name}); len(named) == 0 || named[0] != item {
			t.Fatalf("%q gives %v", item.Name, named)
		}
	})
}

// BenchmarkItems filters lists of realistic size.
func BenchmarkItems(b *testing.B) {
	builder := modeltest.Synthetic(modeltest.FullSize, modeltest.Seed)
	for i := range 600 {
		name := fmt.Sprintf("%c%c%c%cetalo%c%c", 'a'+i%26, 'a'+i/26, 'a'+i*7%26, 'a'+i*11%26, 'a'+i*3%26, 'a'+i*5%26)
		builder.Drug(fmt.Sprintf("d_%d", i+1), name+"ine", fmt.Sprintf("A%02dAA%02d", i/100, i%100), nil, withDrugNames(nil, name+"ol", "Co"+name, name+"ex forte"))
	}
	r := builder.Build(b)
	for _, list := range []List{Symptoms, Drugs} {
		for _, phrase := range []string{"", "a", "headache", "abhaetaolba", "pain"} {
			b.Run(fmt.Sprintf("%v/%q", list, phrase), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Items(r, ListQuery{List: list, Phrase: phrase})
				}
			})
		}
	}
}
