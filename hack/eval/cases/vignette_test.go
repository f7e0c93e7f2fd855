// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

func loadSet(t *testing.T, name string) []vignette {
	t.Helper()
	cases, err := readSet(caseFiles, name)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestCasesAreValid validates every case. It reports cases by ID only, so that failures
// do not reveal the held-out set.
func TestCasesAreValid(t *testing.T) {
	t.Parallel()
	ids, texts := map[string]bool{}, map[string]string{}
	for _, name := range []string{dataset.Development, dataset.Holdout} {
		for _, v := range loadSet(t, name) {
			if ids[v.ID] {
				t.Errorf("%s: duplicate id %q", v.file, v.ID)
			}
			ids[v.ID] = true
			folded := strings.Join(strings.Fields(strings.ToLower(v.ChiefComplaint)), " ")
			if other, ok := texts[folded]; ok {
				t.Errorf("%s has the same complaint as %s", v.ID, other)
			}
			texts[folded] = v.ID
			for _, problem := range validateVignette(&v) {
				t.Errorf("%s: %s: %s", v.file, v.ID, problem)
			}
		}
	}
}

// TestSetComposition checks the size of the sets and the shares of atypical and
// emergency cases.
func TestSetComposition(t *testing.T) {
	t.Parallel()
	work, measure := loadSet(t, dataset.Development), loadSet(t, dataset.Holdout)
	all := slices.Concat(work, measure)
	if len(all) < 300 {
		t.Errorf("got %d cases, want at least 300", len(all))
	}
	if minimum := 150; len(work) < minimum || len(measure) < minimum {
		t.Errorf("got %d development and %d held-out cases, want at least %d each", len(work), len(measure), minimum)
	}
	for name, row := range map[string]struct {
		match   func(vignette) bool
		atLeast float64
	}{
		"atypical":  {func(v vignette) bool { return v.Atypical }, 0.30},
		"emergency": {func(v vignette) bool { return v.isEmergency() }, 0.25},
	} {
		found := 0
		for _, v := range all {
			if row.match(v) {
				found++
			}
		}
		if s := (proportion{found, len(all)}); s.value() < row.atLeast {
			t.Errorf("%s: got %d of %d cases, want at least %.0f %%", name, s.hits, s.total, 100*row.atLeast)
		}
	}
}

var (
	idPattern        = regexp.MustCompile(`^\d\d$`)
	icdPrefixPattern = regexp.MustCompile(`^[A-Z]\d\d(\.\d)?$`)
)

// validateVignette returns the problems of a case.
func validateVignette(v *vignette) []string {
	var all []string
	expect := func(ok bool, problem string) {
		if !ok {
			all = append(all, problem)
		}
	}
	part := path.Dir(v.file)
	number, ok := strings.CutPrefix(v.ID, v.Discipline+"-"+part[:1])
	expect(ok && idPattern.MatchString(number), "invalid id: expected the discipline, a hyphen, w or m for the set, and two digits")
	expect(path.Base(v.file) == v.Discipline+".jsonl", "invalid file name: expected the discipline")
	expect(v.Age.Unit == "year" || v.Age.Unit == "month", "invalid unit of age: expected year or month")
	expect(v.Age.Value >= 0 && v.Age.Months() <= 130*12, "invalid age: expected 0 to 130 years")
	expect(len(v.ChiefComplaint) <= 2048, "invalid chief complaint: expected at most 2048 bytes")
	expect(len(v.Present) >= 3 && len(v.Present) <= 10, "invalid number of present findings: expected 3 to 10")
	expect(len(v.Denied) >= 5 && len(v.Denied) <= 12, "invalid number of denied findings: expected 5 to 12")
	for _, line := range slices.Concat([]string{v.ChiefComplaint, v.Diagnosis, v.Source}, v.Present, v.Denied, v.History, v.Family) {
		expect(strings.TrimSpace(line) != "", "empty text")
	}
	expect(len(v.ICD10) > 0, "missing code")
	for _, code := range v.ICD10 {
		expect(icdPrefixPattern.MatchString(code), "invalid code: expected a letter, two digits and optionally a dot and a digit: "+code)
	}
	expect(len(v.Triage) > 0, "missing triage level")
	for i, l := range v.Triage {
		expect(!slices.Contains(v.Triage[:i], l), "duplicate triage level: "+l.String())
	}
	return all
}

// validVignette returns a case that passes validation.
func validVignette() vignette {
	return vignette{
		ID: "cardiology-w01", Discipline: "cardiology", Age: dataset.Age{Value: 58, Unit: "year"}, Sex: sex{model.Male}, ChiefComplaint: "My chest hurts.",
		Present: []string{"sweating", "cough", "fever"}, Denied: []string{"rash", "headache", "itching", "diarrhoea", "earache"},
		Diagnosis: "Heart attack", ICD10: []string{"I21", "I22.0"}, Triage: []triageLevel{{model.Emergency}},
		Source: "A textbook", file: "work/cardiology.jsonl",
	}
}

func TestValidateVignette(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*vignette){
		"": func(*vignette) {},
		"invalid id: expected the discipline, a hyphen, w or m for the set, and two digits": func(v *vignette) { v.ID = "cardiology-m01" },
		"invalid file name: expected the discipline":                                        func(v *vignette) { v.file = "work/urology.jsonl" },
		"invalid unit of age: expected year or month":                                       func(v *vignette) { v.Age.Unit = "week" },
		"invalid age: expected 0 to 130 years":                                              func(v *vignette) { v.Age.Value = 131 },
		"invalid chief complaint: expected at most 2048 bytes":                              func(v *vignette) { v.ChiefComplaint = strings.Repeat("a", 2049) },
		"invalid number of present findings: expected 3 to 10":                              func(v *vignette) { v.Present = v.Present[:2] },
		"invalid number of denied findings: expected 5 to 12":                               func(v *vignette) { v.Denied = v.Denied[:4] },
		"empty text":           func(v *vignette) { v.History = []string{" "} },
		"missing code":         func(v *vignette) { v.ICD10 = nil },
		"missing triage level": func(v *vignette) { v.Triage = nil },
		"duplicate triage level: emergency": func(v *vignette) {
			v.Triage = []triageLevel{{model.Emergency}, {model.Emergency}}
		},
		"invalid code: expected a letter, two digits and optionally a dot and a digit: I21.01": func(v *vignette) { v.ICD10 = []string{"I21.01"} },
	} {
		v := validVignette()
		change(&v)
		if got := strings.Join(validateVignette(&v), "; "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestReadSet(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"work/b.jsonl":    {Data: []byte(`{"id":"b-w01","sex":"female","age":{"value":7,"unit":"month"},"triage":["emergency","consultation_24"]}`)},
		"work/a.jsonl":    {Data: []byte(`{"id":"a-w01","sex":"male","icd10":["I21"]}` + "\n" + `{"id":"a-w02"}`)},
		"measure/c.jsonl": {Data: []byte(`{"id":"c-m01"}`)},
	}
	got, err := readSet(files, dataset.Development)
	want := []vignette{
		{ID: "a-w01", Sex: sex{model.Male}, ICD10: []string{"I21"}, file: "work/a.jsonl"},
		{ID: "a-w02", file: "work/a.jsonl"},
		{ID: "b-w01", Age: dataset.Age{Value: 7, Unit: "month"}, Triage: []triageLevel{{model.Emergency}, {model.Consultation24}}, file: "work/b.jsonl"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(vignette{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestReadSetRejectsInvalidFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"id":"a"} {"id":`:         "reading object 2 of work/a.jsonl",
		`{"colour":"red"}`:          `unknown field "colour"`,
		`{"sex":"other"}`:           "reading object 1 of work/a.jsonl",
		`{"triage":["tomorrow"]}`:   `"tomorrow"`,
		`{"age":{"value":"three"}}`: "reading object 1 of work/a.jsonl",
	} {
		_, err := readSet(fstest.MapFS{"work/a.jsonl": {Data: []byte(text)}}, dataset.Development)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestEmergency(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		levels    []triageLevel
		lowest    model.TriageLevel
		emergency bool
	}{
		{[]triageLevel{{model.EmergencyAmbulance}}, model.EmergencyAmbulance, true},
		{[]triageLevel{{model.EmergencyAmbulance}, {model.Emergency}}, model.Emergency, true},
		{[]triageLevel{{model.Emergency}, {model.Consultation24}}, model.Consultation24, false},
		{[]triageLevel{{model.SelfCare}, {model.Consultation}}, model.SelfCare, false},
	} {
		v := vignette{Triage: row.levels}
		if v.minTriageLevel() != row.lowest || v.isEmergency() != row.emergency {
			t.Errorf("%v: lowest %v, emergency %t", row.levels, v.minTriageLevel(), v.isEmergency())
		}
	}
}
