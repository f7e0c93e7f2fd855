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

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

func part(t *testing.T, name string) []vignette {
	t.Helper()
	cases, err := readPart(caseFiles, name)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestCases holds the form of every case. It names cases by id only, so that a
// failure tells nothing of the part to measure on.
func TestCases(t *testing.T) {
	t.Parallel()
	ids, texts := map[string]bool{}, map[string]string{}
	for _, name := range []string{workPart, measurePart} {
		for _, v := range part(t, name) {
			if ids[v.ID] {
				t.Errorf("%s: the id %q is there twice", v.file, v.ID)
			}
			ids[v.ID] = true
			folded := strings.Join(strings.Fields(strings.ToLower(v.Says)), " ")
			if other, ok := texts[folded]; ok {
				t.Errorf("%s says the same as %s", v.ID, other)
			}
			texts[folded] = v.ID
			for _, problem := range problems(&v) {
				t.Errorf("%s: %s: %s", v.file, v.ID, problem)
			}
		}
	}
}

// TestParts holds what the cases are together.
func TestParts(t *testing.T) {
	t.Parallel()
	work, measure := part(t, workPart), part(t, measurePart)
	all := slices.Concat(work, measure)
	if len(all) < 300 {
		t.Errorf("%d cases, expected 300 at least", len(all))
	}
	if least := 150; len(work) < least || len(measure) < least {
		t.Errorf("%d cases to work on and %d to measure on, expected %d of each at least", len(work), len(measure), least)
	}
	for name, row := range map[string]struct {
		holds   func(vignette) bool
		atLeast float64
	}{
		"atypical":  {func(v vignette) bool { return v.Atypical }, 0.30},
		"emergency": {func(v vignette) bool { return v.emergency() }, 0.25},
	} {
		found := 0
		for _, v := range all {
			if row.holds(v) {
				found++
			}
		}
		if s := (share{found, len(all)}); s.value() < row.atLeast {
			t.Errorf("%s: %d of %d, expected %.0f %% at least", name, s.hits, s.of, 100*row.atLeast)
		}
	}
}

var (
	idNumber = regexp.MustCompile(`^\d\d$`)
	icdForm  = regexp.MustCompile(`^[A-Z]\d\d(\.\d)?$`)
)

// problems says what is wrong with a case.
func problems(v *vignette) []string {
	var all []string
	expect := func(ok bool, problem string) {
		if !ok {
			all = append(all, problem)
		}
	}
	part := path.Dir(v.file)
	number, ok := strings.CutPrefix(v.ID, v.Discipline+"-"+part[:1])
	expect(ok && idNumber.MatchString(number), "the id must be the discipline, a hyphen, w or m for the part, and two digits")
	expect(path.Base(v.file) == v.Discipline+".jsonl", "the file must have the name of the discipline")
	expect(v.Age.Unit == "year" || v.Age.Unit == "month", "the unit of the age must be year or month")
	expect(v.Age.Value >= 0 && v.Age.months() <= 130*12, "the age must be 0 to 130 years")
	expect(len(v.Says) <= 2048, "the first words must have at most 2048 bytes")
	expect(len(v.Present) >= 3 && len(v.Present) <= 10, "3 to 10 things must be present")
	expect(len(v.Denied) >= 5 && len(v.Denied) <= 12, "5 to 12 things must be denied")
	for _, line := range slices.Concat([]string{v.Says, v.Diagnosis, v.Source}, v.Present, v.Denied, v.History, v.Family) {
		expect(strings.TrimSpace(line) != "", "a text is empty")
	}
	expect(len(v.ICD10) > 0, "it has no code")
	for _, code := range v.ICD10 {
		expect(icdForm.MatchString(code), "the code must be a letter, two digits, and at most a dot and a digit: "+code)
	}
	expect(len(v.Triage) > 0, "it has no triage level")
	for i, l := range v.Triage {
		expect(!slices.Contains(v.Triage[:i], l), "a triage level is there twice: "+l.String())
	}
	return all
}

// someone is a case in good form.
func someone() vignette {
	return vignette{
		ID: "cardiology-w01", Discipline: "cardiology", Age: age{58, "year"}, Sex: sex{model.Male}, Says: "My chest hurts.",
		Present: []string{"sweating", "cough", "fever"}, Denied: []string{"rash", "headache", "itching", "diarrhoea", "earache"},
		Diagnosis: "Heart attack", ICD10: []string{"I21", "I22.0"}, Triage: []level{{model.Emergency}},
		Source: "A textbook", file: "work/cardiology.jsonl",
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*vignette){
		"": func(*vignette) {},
		"the id must be the discipline, a hyphen, w or m for the part, and two digits": func(v *vignette) { v.ID = "cardiology-m01" },
		"the file must have the name of the discipline":                                func(v *vignette) { v.file = "work/urology.jsonl" },
		"the unit of the age must be year or month":                                    func(v *vignette) { v.Age.Unit = "week" },
		"the age must be 0 to 130 years":                                               func(v *vignette) { v.Age.Value = 131 },
		"the first words must have at most 2048 bytes":                                 func(v *vignette) { v.Says = strings.Repeat("a", 2049) },
		"3 to 10 things must be present":                                               func(v *vignette) { v.Present = v.Present[:2] },
		"5 to 12 things must be denied":                                                func(v *vignette) { v.Denied = v.Denied[:4] },
		"a text is empty":                                                              func(v *vignette) { v.History = []string{" "} },
		"it has no code":                                                               func(v *vignette) { v.ICD10 = nil },
		"it has no triage level":                                                       func(v *vignette) { v.Triage = nil },
		"a triage level is there twice: emergency": func(v *vignette) {
			v.Triage = []level{{model.Emergency}, {model.Emergency}}
		},
		"the code must be a letter, two digits, and at most a dot and a digit: I21.01": func(v *vignette) { v.ICD10 = []string{"I21.01"} },
	} {
		v := someone()
		spoil(&v)
		if got := strings.Join(problems(&v), "; "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestReadPart(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"work/b.jsonl":    {Data: []byte(`{"id":"b-w01","sex":"female","age":{"value":7,"unit":"month"},"triage":["emergency","consultation_24"]}`)},
		"work/a.jsonl":    {Data: []byte(`{"id":"a-w01","sex":"male","icd10":["I21"]}` + "\n" + `{"id":"a-w02"}`)},
		"measure/c.jsonl": {Data: []byte(`{"id":"c-m01"}`)},
	}
	got, err := readPart(files, workPart)
	want := []vignette{
		{ID: "a-w01", Sex: sex{model.Male}, ICD10: []string{"I21"}, file: "work/a.jsonl"},
		{ID: "a-w02", file: "work/a.jsonl"},
		{ID: "b-w01", Age: age{7, "month"}, Triage: []level{{model.Emergency}, {model.Consultation24}}, file: "work/b.jsonl"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(vignette{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestReadPartDamaged(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"id":"a"} {"id":`:         "work/a.jsonl: case 2",
		`{"colour":"red"}`:          `unknown field "colour"`,
		`{"sex":"other"}`:           "work/a.jsonl: case 1",
		`{"triage":["tomorrow"]}`:   `"tomorrow"`,
		`{"age":{"value":"three"}}`: "work/a.jsonl: case 1",
	} {
		_, err := readPart(fstest.MapFS{"work/a.jsonl": {Data: []byte(text)}}, workPart)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestEmergency(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		levels    []level
		lowest    model.TriageLevel
		emergency bool
	}{
		{[]level{{model.EmergencyAmbulance}}, model.EmergencyAmbulance, true},
		{[]level{{model.EmergencyAmbulance}, {model.Emergency}}, model.Emergency, true},
		{[]level{{model.Emergency}, {model.Consultation24}}, model.Consultation24, false},
		{[]level{{model.SelfCare}, {model.Consultation}}, model.SelfCare, false},
	} {
		v := vignette{Triage: row.levels}
		if v.lowest() != row.lowest || v.emergency() != row.emergency {
			t.Errorf("%v: lowest %v, emergency %t", row.levels, v.lowest(), v.emergency())
		}
	}
}

func TestMonths(t *testing.T) {
	t.Parallel()
	if got := (age{7, "month"}).months(); got != 7 {
		t.Errorf("7 months are %d", got)
	}
	if got := (age{7, "year"}).months(); got != 84 {
		t.Errorf("7 years are %d", got)
	}
}
