// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// withNames sets the wordings of an observation: the common name, the name and the
// synonyms.
func withNames(commonName, name string, synonyms ...string) func(*model.DraftObservation) {
	return func(o *model.DraftObservation) { o.CommonName, o.Name, o.Synonyms = commonName, name, synonyms }
}

func withConditionNames(commonName, name string, synonyms ...string) func(*model.DraftCondition) {
	return func(c *model.DraftCondition) { c.CommonName, c.Name, c.Synonyms = commonName, name, synonyms }
}

// newRelease returns a small release of common complaints.
func newRelease(t modeltest.TB) *model.Release {
	return modeltest.New().
		Symptom("s_1", 0.1, withNames("Headache", "Cephalgia", "my head hurts", "head pain", "pain in my head")).
		Child("s_2", "s_1", model.SeverityRelation, 0.01, withNames("Mild headache", "Headache, mild")).
		Child("s_3", "s_1", model.SeverityRelation, 0.01, withNames("Severe headache", "Headache, severe", "worst headache of my life")).
		Symptom("s_4", 0.1, withNames("Belly pain", "Abdominal pain", "tummy ache", "stomach pain")).
		Symptom("s_5", 0.1, withNames("Chest pain", "Thoracic pain")).
		Symptom("s_6", 0.1, withNames("Vomiting", "Emesis", "throwing up", "being sick")).
		Symptom("s_7", 0.1, withNames("Trouble sleeping", "Insomnia", "can't sleep")).
		Symptom("s_8", 0.1, withNames("Bad breath", "Halitosis")).
		Symptom("s_9", 0.1, withNames("Shortness of breath", "Dyspnoea", "short of breath")).
		Symptom("s_10", 0.1, withNames("Back pain", "Dorsalgia")).
		Symptom("s_11", 0.1, withNames("Itching", "Pruritus", "itchy skin")).
		Symptom("s_12", 0.1, withNames("Red eye", "Ocular hyperaemia"), func(o *model.DraftObservation) { o.AgeFrom, o.AgeTo = 12, 599 }).
		Symptom("s_13", 0.1, withNames("Period pain", "Dysmenorrhoea"), func(o *model.DraftObservation) { o.Sex = model.FemaleOnly }).
		Symptom("s_14", 0.1, withNames("Testicle pain", "Orchialgia"), func(o *model.DraftObservation) { o.Sex = model.MaleOnly }).
		Symptom("s_15", 0.1, withNames("Diarrhea", "Diarrhoea", "the runs")).
		Symptom("s_16", 0.1, withNames("Sore throat", "Pharyngeal pain")).
		RiskFactor("p_1", 0.1, withNames("Headache in the family", "Family history of migraine")).
		LabResult("lt_1", 0.1, withNames("High inflammation value", "C-reactive protein, high")).
		Condition("c_1", 0.1, withConditionNames("Migraine", "Migraine without aura", "sick headache")).
		Condition("c_2", 0.1, withConditionNames("Ménière’s disease", "Endolymphatic hydrops")).
		Condition("c_3", 0.1, withConditionNames("Headache of infants", "Infantile cephalgia"), func(c *model.DraftCondition) { c.AgeTo = 23 }).
		Condition("c_4", 0.1, withConditionNames("Myopia", "Axial myopia")).
		Build(t)
}

// queryAllKinds returns a query for concepts of all kinds for an adult.
func queryAllKinds(phrase string) Query {
	return Query{Phrase: phrase, AgeMonths: 480, Symptoms: true, RiskFactors: true, Conditions: true, LabResults: true, Limit: 100}
}

func hitIDs(hits []Hit) []string {
	var list []string
	for _, hit := range hits {
		list = append(list, hit.ID)
	}
	return list
}

// TestFind checks the first hits for typical input: each concept with the wording that
// matched.
func TestFind(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for phrase, want := range map[string][]Hit{
		// Exact wordings, then wordings that contain the whole words, with fewer other words
		// first.
		"headache":        {{"s_1", "Headache"}, {"s_2", "Mild headache"}, {"s_3", "Severe headache"}, {"c_1", "sick headache"}},
		"mild headache":   {{"s_2", "Mild headache"}},
		"headache mild":   {{"s_2", "Mild headache"}},
		"tummy ache":      {{"s_4", "tummy ache"}},
		"pain in my head": {{"s_1", "pain in my head"}},
		// Stop words are ignored.
		"I have got a headache":    {{"s_1", "Headache"}, {"s_2", "Mild headache"}},
		"the back is in pain":      {{"s_10", "Back pain"}},
		"there's pain in my chest": {{"s_5", "Chest pain"}},
		"my back hurts":            {{"s_10", "Back pain"}},
		"bad back":                 {{"s_10", "Back pain"}},
		"bad breath":               {{"s_8", "Bad breath"}},
		"xyzzy headache":           {{"s_1", "Headache"}},
		// Partial input.
		"h":              {{"s_1", "Headache"}},
		"head":           {{"s_1", "head pain"}},
		"heada":          {{"s_1", "Headache"}, {"s_2", "Mild headache"}, {"s_3", "Severe headache"}},
		"sev head":       {{"s_3", "Severe headache"}},
		"cant sl":        {{"s_7", "can't sleep"}},
		"short of breat": {{"s_9", "short of breath"}},
		"my":             {{"c_4", "Myopia"}},
		"the":            nil,
		// Lay and professional terms; the label is the lay one.
		"throwing up": {{"s_6", "throwing up"}},
		"emesis":      {{"s_6", "Emesis"}},
		"diarr":       {{"s_15", "Diarrhea"}},
		"thoracic":    {{"s_5", "Thoracic pain"}},
		"migrai":      {{"c_1", "Migraine"}, {"p_1", "Family history of migraine"}},
		// Apostrophes and accents.
		"cant sleep":       {{"s_7", "can't sleep"}},
		"can’t sleep":      {{"s_7", "can't sleep"}},
		"menieres disease": {{"c_2", "Ménière’s disease"}},
		"meniere's":        {{"c_2", "Ménière’s disease"}},
		"MÉNIÈRE":          {{"c_2", "Ménière’s disease"}},
		// Endings.
		"headaches":    {{"s_1", "Headache"}},
		"itch":         {{"s_11", "Itching"}},
		"eyes red":     {{"s_12", "Red eye"}},
		"sore throats": {{"s_16", "Sore throat"}},
		// Misspellings.
		"hedache":       {{"s_1", "Headache"}, {"s_2", "Mild headache"}},
		"ehadache":      {{"s_1", "Headache"}},
		"diarea":        {{"s_15", "Diarrhea"}},
		"diorhea":       {{"s_15", "Diarrhea"}},
		"vomitting":     {{"s_6", "Vomiting"}},
		"soar throat":   {{"s_16", "Sore throat"}},
		"throing up":    {{"s_6", "throwing up"}},
		"migrane":       {{"c_1", "Migraine"}},
		"meneres":       {{"c_2", "Ménière’s disease"}},
		"abdomnal payn": {{"s_4", "Abdominal pain"}},
		// Split and joined words.
		"head ache":   {{"s_1", "Headache"}},
		"chestpain":   {{"s_5", "Chest pain"}},
		"throatsore":  {{"s_16", "Sore throat"}},
		"bellyaching": nil,
		// No match.
		"":                         nil,
		"  \t ":                    nil,
		"?!…":                      nil,
		"xyzzy":                    nil,
		"\xff\xfe":                 nil,
		strings.Repeat(" ", 1<<16): nil,
	} {
		hits := Find(r, queryAllKinds(phrase))
		if diff := cmp.Diff(want, hits[:min(len(hits), max(1, len(want)))]); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", phrase, diff)
		}
	}
}

func TestFindOmitsInapplicableConcepts(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	female, male := model.Female, model.Male
	for _, test := range []struct {
		name  string
		query Query
		want  []string
	}{
		{"of either sex", queryAllKinds("period pain"), []string{"s_13"}},
		{"women", Query{Phrase: "testicle", Sex: &female, AgeMonths: 480, Symptoms: true, Limit: 9}, nil},
		{"men", Query{Phrase: "testicle", Sex: &male, AgeMonths: 480, Symptoms: true, Limit: 9}, []string{"s_14"}},
		{"women with period pain", Query{Phrase: "period", Sex: &female, AgeMonths: 480, Symptoms: true, Limit: 9}, []string{"s_13"}},
		{"men with period pain", Query{Phrase: "period", Sex: &male, AgeMonths: 480, Symptoms: true, Limit: 9}, nil},
		{"before the first month", Query{Phrase: "red eye", AgeMonths: 11, Symptoms: true, Limit: 9}, nil},
		{"first month", Query{Phrase: "red eye", AgeMonths: 12, Symptoms: true, Limit: 9}, []string{"s_12"}},
		{"last month", Query{Phrase: "red eye", AgeMonths: 599, Symptoms: true, Limit: 9}, []string{"s_12"}},
		{"after the last month", Query{Phrase: "red eye", AgeMonths: 600, Symptoms: true, Limit: 9}, nil},
		{"a condition of infants", Query{Phrase: "infants", AgeMonths: 23, Conditions: true, Limit: 9}, []string{"c_3"}},
		{"not of grown-ups", Query{Phrase: "infants", AgeMonths: 24, Conditions: true, Limit: 9}, nil},
		{"symptoms", Query{Phrase: "headache", AgeMonths: 480, Symptoms: true, Limit: 9}, []string{"s_1", "s_2", "s_3"}},
		{"risk factors", Query{Phrase: "headache", AgeMonths: 480, RiskFactors: true, Limit: 9}, []string{"p_1"}},
		{"conditions", Query{Phrase: "headache", AgeMonths: 480, Conditions: true, Limit: 9}, []string{"c_1"}},
		{"laboratory results", Query{Phrase: "inflammation", AgeMonths: 480, LabResults: true, Limit: 9}, []string{"lt_1"}},
		{"no laboratory results", Query{Phrase: "inflammation", AgeMonths: 480, Symptoms: true, RiskFactors: true, Conditions: true, Limit: 9}, nil},
		{"no kind", Query{Phrase: "headache", AgeMonths: 480, Limit: 9}, nil},
	} {
		if diff := cmp.Diff(test.want, hitIDs(Find(r, test.query))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}

// TestFindFillsLimitWithApplicableConcepts expects that an inapplicable concept never
// displaces an applicable one, even with a better match.
func TestFindFillsLimitWithApplicableConcepts(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		Symptom("s_1", 0.1, withNames("Rash", "Exanthem"), func(o *model.DraftObservation) { o.Sex = model.FemaleOnly }).
		Symptom("s_2", 0.1, withNames("Itchy rash", "Urticaria")).
		Build(t)
	male := model.Male
	q := queryAllKinds("rash")
	q.Sex, q.Limit = &male, 1
	if diff := cmp.Diff([]Hit{{"s_2", "Itchy rash"}}, Find(r, q)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFindOrder expects each ranking rule to break the ties of the previous ones.
func TestFindOrder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		release *modeltest.Builder
		phrase  string
		want    []string
	}{
		"more of the phrase": {
			modeltest.New().Symptom("s_1", 0.1, withNames("Pain", "a")).Symptom("s_2", 0.1, withNames("Sharp pain here", "b")).Symptom("s_3", 0.1, withNames("Sharp", "c")),
			"sharp pain", []string{"s_2"},
		},
		"consisting of the words": {
			modeltest.New().Symptom("s_1", 0.1, withNames("Fever today", "a")).Symptom("s_2", 0.1, withNames("Fire", "Fever")),
			"fever", []string{"s_2", "s_1"},
		},
		"whole, begun, shortened": {
			modeltest.New().Symptom("s_1", 0.1, withNames("Burn", "a")).Symptom("s_2", 0.1, withNames("Burningly", "b")).Symptom("s_3", 0.1, withNames("Burning of all the skin", "c")),
			"burning", []string{"s_3", "s_2", "s_1"},
		},
		"the worst word decides": {
			modeltest.New().Symptom("s_1", 0.1, withNames("Feverish cough", "a")).Symptom("s_2", 0.1, withNames("Fever and coughing", "b")).Symptom("s_3", 0.1, withNames("Cough with some fever in it", "c")),
			"fever cough", []string{"s_3", "s_1", "s_2"},
		},
		"patients before doctors": {
			modeltest.New().Symptom("s_1", 0.1, withNames("x", "Gastric pain")).Symptom("s_2", 0.1, withNames("Gastric pain after meals", "y")).Symptom("s_3", 0.1, withNames("z", "u", "gastric pain with vomiting")),
			"gastric", []string{"s_2", "s_3", "s_1"},
		},
		"fewer other words": {
			modeltest.New().Symptom("s_1", 0.1, withNames("Rash of a leg", "a")).Symptom("s_2", 0.1, withNames("Rash everywhere", "b")),
			"rash", []string{"s_2", "s_1"},
		},
		"names before synonyms": {
			modeltest.New().Symptom("s_1", 0.1, withNames("a", "b", "rash up")).Symptom("s_2", 0.1, withNames("Rash everywhere", "c")),
			"rash", []string{"s_2", "s_1"},
		},
		"parents before children": {
			modeltest.New().Symptom("s_9", 0.1, withNames("Intense cough", "a")).Child("s_1", "s_9", model.CharacterRelation, 0.01, withNames("Dry cough", "b")),
			"cough", []string{"s_9", "s_1"},
		},
		"shorter": {
			modeltest.New().Symptom("s_1", 0.1, withNames("Horrible cough", "a")).Symptom("s_2", 0.1, withNames("Wet cough", "b")),
			"cough", []string{"s_2", "s_1"},
		},
		"kinds, then numbers": {
			modeltest.New().Condition("c_1", 0.1, withConditionNames("Big cough", "a")).Symptom("s_10", 0.1, withNames("Dry cough", "b")).
				Symptom("s_9", 0.1, withNames("Wet cough", "c")).RiskFactor("p_1", 0.1, withNames("Old cough", "d")),
			"cough", []string{"s_9", "s_10", "p_1", "c_1"},
		},
		"nearest to what is misspelt, and no others": {
			modeltest.New().Symptom("s_1", 0.1, withNames("Coughs", "a")).Symptom("s_2", 0.1, withNames("Couch lying", "b")),
			"cuoch", []string{"s_2"},
		},
	} {
		if diff := cmp.Diff(test.want, hitIDs(Find(test.release.Build(t), queryAllKinds(test.phrase)))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestFindLimit(t *testing.T) {
	t.Parallel()
	b := modeltest.New()
	for i := range 120 {
		b.Symptom(model.FormatID(model.SymptomPrefix, uint32(i+1)), 0.1, withNames(fmt.Sprintf("Cough %d", i+1), "a"))
	}
	r := b.Build(t)
	for most, want := range map[int]int{-1: 1, 0: 1, 1: 1, 8: 8, 100: 100, 101: 100} {
		q := queryAllKinds("cough")
		q.Limit = most
		hits := Find(r, q)
		if len(hits) != want {
			t.Errorf("most %d: %d hits, want %d", most, len(hits), want)
		}
		all := queryAllKinds("cough")
		if diff := cmp.Diff(Find(r, all)[:want], hits); diff != "" {
			t.Errorf("most %d: not the first ones (-want +got)\n%s", most, diff)
		}
	}
}

// TestFindInOtherLanguage expects every word to be informative in a language without
// word lists.
func TestFindInOtherLanguage(t *testing.T) {
	t.Parallel()
	b := modeltest.New().Symptom("s_1", 0.1, withNames("Mal di testa", "Cefalea")).Symptom("s_2", 0.1, withNames("Tosse", "the")).
		Symptom("s_3", 0.1, withNames("боль в ухе", "оталгия")).Symptom("s_4", 0.1, withNames("頭痛", "緊張"))
	b.Draft().Meta.Language = "it"
	r := b.Build(t)
	for phrase, want := range map[string][]string{
		"testa": {"s_1"}, "mal di": {"s_1"}, "the": {"s_2"}, "БОЛЬ": {"s_3"}, "ухо": {"s_3"}, "оталгея": {"s_3"}, "頭": {"s_4"}, "頭痛": {"s_4"},
	} {
		if diff := cmp.Diff(want, hitIDs(Find(r, queryAllKinds(phrase)))); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", phrase, diff)
		}
	}
}

func TestFindInEmptyRelease(t *testing.T) {
	t.Parallel()
	r := modeltest.New().Build(t)
	for _, phrase := range []string{"", "headache", "a b c", "the"} {
		if hits := Find(r, queryAllKinds(phrase)); len(hits) > 0 {
			t.Errorf("%q: %v", phrase, hits)
		}
	}
}

// TestFindTruncatesLongPhrases expects Find to read only the beginning of a phrase,
// and a limited number of words.
func TestFindTruncatesLongPhrases(t *testing.T) {
	t.Parallel()
	r := newRelease(t)
	for phrase, want := range map[string][]string{
		strings.Repeat(" ", maxBytes-8) + "vomiting":  {"s_6"},
		strings.Repeat(" ", maxBytes-5) + "vomiting":  {"s_6"}, // "vomit"
		strings.Repeat(" ", maxBytes) + "vomiting":    nil,
		strings.Repeat("é", maxBytes/2) + " vomiting": nil,
		"1 2 3 4 5 6 7 8 9 10 11 vomiting":            {"s_6"},
		"1 2 3 4 5 6 7 8 9 10 11 12 vomiting":         nil,
		strings.Repeat("1 ", 90) + "vomiting":         {"s_6"},
		strings.Repeat("v", 1<<20):                    nil,
	} {
		if diff := cmp.Diff(want, hitIDs(Find(r, queryAllKinds(phrase)))); diff != "" {
			t.Errorf("%d bytes, %.20q: (-want +got)\n%s", len(phrase), phrase, diff)
		}
	}
}

// TestFinderDiscardsRelease expects that a query leaves no state for the next one, and
// no reference to a release that may be unmapped by then.
func TestFinderDiscardsRelease(t *testing.T) {
	t.Parallel()
	large, small := newRelease(t), modeltest.New().Symptom("s_1", 0.1, withNames("Cough", "Tussis")).Build(t)
	f := &finder{}
	for range 3 {
		for _, step := range []struct {
			release *model.Release
			phrase  string
			want    []string
		}{
			{large, "soar thraot red eye hedache vomiting", []string{"s_12"}},
			{small, "cough", []string{"s_1"}},
			{small, "headache", nil},
			{large, "throwing up", []string{"s_6"}},
		} {
			q := queryAllKinds(step.phrase)
			q.Limit = 1
			if diff := cmp.Diff(step.want, hitIDs(f.search(step.release, q))); diff != "" {
				t.Errorf("%q: (-want +got)\n%s", step.phrase, diff)
			}
			if f.r != nil || slices.ContainsFunc(f.words, func(w queryWord) bool { return w.text != "" }) {
				t.Errorf("%q: the release or the phrase is kept", step.phrase)
			}
		}
	}
}

// TestFindAllocations expects the label to refer to the release instead of a copy, and
// the memory of a query not to grow with the catalog.
func TestFindAllocations(t *testing.T) {
	for name, r := range map[string]*model.Release{"small": newRelease(t), "full": fullCatalog(t)} {
		w := r.Text(r.Wordings[0].Text)
		f, q := &finder{}, queryAllKinds(w)
		var hits []Hit
		f.search(r, queryAllKinds("a b c d e f g h i j k l hedache soarthroat"))
		allocations := testing.AllocsPerRun(50, func() { hits = f.search(r, q) })
		if most := float64(20 + 2*len(hits)); allocations > most {
			t.Errorf("%s: %v allocations for %d hits, expected at most %v", name, allocations, len(hits), most)
		}
		at := slices.IndexFunc(hits, func(hit Hit) bool { return hit.Label == w })
		if at < 0 || unsafe.StringData(hits[at].Label) != unsafe.StringData(w) {
			t.Errorf("%s: %q did not find the wording: %v", name, w, hits)
		}
	}
}
