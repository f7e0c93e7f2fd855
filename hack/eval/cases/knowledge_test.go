// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

// Observations of the catalog. Their IDs are stable.
const (
	fever        = "s_98"
	headache     = "s_21"
	cough        = "s_102"
	dryCough     = "s_143"
	soreThroat   = "s_149"
	smoking      = "p_28"
	hypertension = "p_9"
	familyClots  = "p_63"
)

func (s *simulator) observation(t *testing.T, id string) model.ObservationIndex {
	t.Helper()
	o, ok := s.Release.ObservationByID(id)
	if !ok {
		t.Fatalf("observation %s not found in the catalog", id)
	}
	return o
}

func TestNegate(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"fever":                      "no fever",
		"pain when breathing in":     "no pain when breathing in",
		"nosebleeds":                 "no nosebleeds",
		"no wet nappies":             "no wet nappies",
		"Not able to pass any urine": "Not able to pass any urine",
		"cannot open my mouth":       "cannot open my mouth",
		"can't sleep":                "can't sleep",
		"bruises without a knock":    "bruises without a knock",
	} {
		if got := negate([]string{line}); got[0] != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestParseVignette(t *testing.T) {
	t.Parallel()
	c := testSimulator(t)
	v := vignette{Age: dataset.Age{Value: 40, Unit: "year"}, Sex: sex{model.Female}}
	for _, row := range []struct {
		title  string
		change func(*vignette)
		want   map[string]inference.Choice
		opened []string
	}{
		{"empty", func(*vignette) {}, map[string]inference.Choice{}, nil},
		{"chief complaint", func(v *vignette) { v.ChiefComplaint = "I have a fever and a cough." }, map[string]inference.Choice{fever: inference.Present, cough: inference.Present}, []string{fever, cough}},
		{"denied in the chief complaint", func(v *vignette) { v.ChiefComplaint = "A cough, but no fever." }, map[string]inference.Choice{fever: inference.Absent, cough: inference.Present}, []string{cough}},
		{"present", func(v *vignette) { v.ChiefComplaint, v.Present = "a cough", []string{"headache"} }, map[string]inference.Choice{cough: inference.Present, headache: inference.Present}, []string{cough}},
		{"specific finding", func(v *vignette) { v.Present = []string{"a dry cough"} }, map[string]inference.Choice{dryCough: inference.Present, cough: inference.Present}, nil},
		{"denied", func(v *vignette) { v.Denied = []string{"fever", "no cough"} }, map[string]inference.Choice{fever: inference.Absent, cough: inference.Absent}, nil},
		{"history", func(v *vignette) { v.History = []string{"smokes", "high blood pressure"} }, map[string]inference.Choice{smoking: inference.Present, hypertension: inference.Present}, nil},
		{"family history", func(v *vignette) { v.Family = []string{"blood clots"} }, map[string]inference.Choice{familyClots: inference.Present}, nil},
		{"present takes precedence over denied", func(v *vignette) { v.Present, v.Denied = []string{"cough"}, []string{"cough"} }, map[string]inference.Choice{cough: inference.Present}, nil},
		{"denied takes precedence over history", func(v *vignette) { v.History, v.Denied = []string{"headache"}, []string{"headache"} }, map[string]inference.Choice{headache: inference.Absent}, nil},
		{"chief complaint takes precedence", func(v *vignette) {
			v.ChiefComplaint, v.Denied, v.History = "a sore throat", []string{"sore throat"}, []string{"sore throat"}
		}, map[string]inference.Choice{soreThroat: inference.Present}, []string{soreThroat}},
	} {
		t.Run(row.title, func(t *testing.T) {
			t.Parallel()
			changed := v
			row.change(&changed)
			known := c.parseVignette(&changed)
			got := map[string]inference.Choice{}
			for o, choice := range known.answers {
				got[c.Release.ObservationID(o)] = choice
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("answers (-want +got)\n%s", diff)
			}
			var opened []string
			for _, o := range known.opening {
				opened = append(opened, c.Release.ObservationID(o))
			}
			if diff := cmp.Diff(row.opened, opened); diff != "" {
				t.Errorf("opening (-want +got)\n%s", diff)
			}
		})
	}
}

func TestLinesNotUnderstood(t *testing.T) {
	t.Parallel()
	known := testSimulator(t).parseVignette(&vignette{
		Age: dataset.Age{Value: 40, Unit: "year"}, ChiefComplaint: "Qwertz uiop.", Present: []string{"fever", "vbnm xcvb"}, Denied: []string{"yxcv bnmp"}, Family: []string{"hjkl qwer"},
	})
	want := []string{"Qwertz uiop.", "vbnm xcvb", "Family history: hjkl qwer"}
	if diff := cmp.Diff(want, known.notUnderstood); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
