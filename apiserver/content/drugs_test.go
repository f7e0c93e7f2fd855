// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/search"
)

// Patients find their drugs by the brand name, as used in their country.
func TestSearchFindsDrugsByName(t *testing.T) {
	t.Parallel()
	languages := map[string]*model.Release{}
	for _, r := range releases(t) {
		languages[r.Meta.Language] = r
	}
	for _, test := range []struct{ in, typed, want string }{
		{"en", "paracetamol", "Paracetamol"},
		{"en", "panadol", "Paracetamol"},
		{"en", "ventolin", "Salbutamol"},
		{"en", "co amoxiclav", "Co-amoxiclav"},
		{"en", "ramiprl", "Ramipril"},
		{"en", "omeprazol", "Omeprazole"},
		{"en-US", "tylenol", "Acetaminophen"},
		{"en-US", "paracetamol", "Acetaminophen"},
		{"en-US", "albuterol", "Albuterol"},
		{"en-US", "lipitor", "Atorvastatin"},
		{"en-US", "zoloft", "Sertraline"},
		{"de", "marcumar", "Phenprocoumon"},
		{"de", "l thyroxin", "Levothyroxin"},
		{"de", "metropolol", "Metoprolol"},
		{"de", "novalgin", "Metamizol"},
		{"de", "yasmin", "Ethinylestradiol mit Drospirenon"},
	} {
		items := search.Items(languages[test.in], search.ListQuery{List: search.Drugs, Phrase: test.typed})
		if len(items) == 0 || items[0].Name != test.want {
			t.Errorf("%s: %q finds %v, want %s first", test.in, test.typed, items, test.want)
		}
	}
}

// The risk factors implied by drugs, by ID: public clients may store these IDs.
func TestDrugRiskFactors(t *testing.T) {
	t.Parallel()
	for _, r := range releases(t) {
		factors := map[string][]string{}
		for _, d := range r.Drugs {
			for _, o := range model.Slice(r.DrugRiskFactors, d.RiskFactors) {
				factors[r.Text(d.ATC)] = append(factors[r.Text(d.ATC)], r.Text(r.Observations[o].Name))
			}
		}
		english, err := compiled.Release("en")
		if err != nil {
			t.Fatal(err)
		}
		for code, want := range map[string]string{
			"B01AF02": "Anticoagulant use",                   // apixaban
			"A10AE04": "Insulin or sulfonylurea use",         // insulin glargine
			"G03AA12": "Combined hormonal contraceptive use", // drospirenone
			"N05AN01": "Lithium use",
			"H02AB06": "Corticosteroid use", // prednisolone
			"N02AX02": "Opioid use",         // tramadol
			"M01AE01": "NSAID use",          // ibuprofen
			"C10AA01": "Statin therapy",     // simvastatin
		} {
			if len(factors[code]) == 0 {
				t.Errorf("%s: drug %s has no risk factors, want %s", r.Meta.ModelID, code, want)
			} else if r == english && factors[code][0] != want {
				t.Errorf("taking %s means %v, want %s", code, factors[code], want)
			}
		}
		// Neither metformin in people without diabetes nor progestogen-only drugs.
		for _, code := range []string{"A10BA02", "G03AC09", "A02BC01", "H03AA01"} {
			if len(factors[code]) > 0 {
				t.Errorf("%s: taking %s means %v, and it does not", r.Meta.ModelID, code, factors[code])
			}
		}
	}
}

// Patients find their chronic diseases by the names they know, not by the original
// complaint.
func TestChronicDiseaseNames(t *testing.T) {
	t.Parallel()
	wants := map[string][]string{
		"service-en":    {"Asthma", "Epilepsy", "Type 1 diabetes", "Bipolar disorder", "Coeliac disease (gluten intolerance)"},
		"service-en-us": {"Asthma", "Epilepsy", "Type 1 diabetes", "Bipolar disorder", "Celiac disease (gluten intolerance)"},
		"service-de":    {"Asthma", "Epilepsie", "Typ-1-Diabetes", "Bipolare Störung", "Zöliakie (Glutenunverträglichkeit)"},
	}
	for _, r := range releases(t) {
		names := map[string]bool{}
		for _, item := range search.Items(r, search.ListQuery{List: search.ChronicDiseases}) {
			names[item.Name] = true
		}
		for _, want := range wants[r.Meta.ModelID] {
			if !names[want] {
				t.Errorf("%s does not list %q", r.Meta.ModelID, want)
			}
		}
	}
}

func TestMinimumListSizes(t *testing.T) {
	t.Parallel()
	for _, r := range releases(t) {
		if len(r.Drugs) < 600 || len(r.ChronicDiseases) < 60 || len(r.Hospitalizations) < 10 {
			t.Errorf("%s lists %d drugs, %d chronic diseases, %d hospitalizations", r.Meta.ModelID, len(r.Drugs), len(r.ChronicDiseases), len(r.Hospitalizations))
		}
	}
}
