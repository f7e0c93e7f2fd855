// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// Observations of the catalogue, whose ids never change.
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

func (c *clinic) observation(t *testing.T, id string) model.ObservationIndex {
	t.Helper()
	o, ok := c.Release.ObservationByID(id)
	if !ok {
		t.Fatalf("%s is not in the catalogue", id)
	}
	return o
}

func TestDenials(t *testing.T) {
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
		if got := denials([]string{line}); got[0] != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	c := open(t)
	v := vignette{Age: age{40, "year"}, Sex: sex{model.Female}}
	for _, row := range []struct {
		title  string
		say    func(*vignette)
		want   map[string]engine.Choice
		opened []string
	}{
		{"nothing", func(*vignette) {}, map[string]engine.Choice{}, nil},
		{"first words", func(v *vignette) { v.Says = "I have a fever and a cough." }, map[string]engine.Choice{fever: engine.Present, cough: engine.Present}, []string{fever, cough}},
		{"denied in the first words", func(v *vignette) { v.Says = "A cough, but no fever." }, map[string]engine.Choice{fever: engine.Absent, cough: engine.Present}, []string{cough}},
		{"when asked", func(v *vignette) { v.Says, v.Present = "a cough", []string{"headache"} }, map[string]engine.Choice{cough: engine.Present, headache: engine.Present}, []string{cough}},
		{"what is more precise", func(v *vignette) { v.Present = []string{"a dry cough"} }, map[string]engine.Choice{dryCough: engine.Present, cough: engine.Present}, nil},
		{"denied", func(v *vignette) { v.Denied = []string{"fever", "no cough"} }, map[string]engine.Choice{fever: engine.Absent, cough: engine.Absent}, nil},
		{"before", func(v *vignette) { v.History = []string{"smokes", "high blood pressure"} }, map[string]engine.Choice{smoking: engine.Present, hypertension: engine.Present}, nil},
		{"in the family", func(v *vignette) { v.Family = []string{"blood clots"} }, map[string]engine.Choice{familyClots: engine.Present}, nil},
		{"there outweighs denied", func(v *vignette) { v.Present, v.Denied = []string{"cough"}, []string{"cough"} }, map[string]engine.Choice{cough: engine.Present}, nil},
		{"denied outweighs before", func(v *vignette) { v.History, v.Denied = []string{"headache"}, []string{"headache"} }, map[string]engine.Choice{headache: engine.Absent}, nil},
		{"there outweighs all", func(v *vignette) {
			v.Says, v.Denied, v.History = "a sore throat", []string{"sore throat"}, []string{"sore throat"}
		}, map[string]engine.Choice{soreThroat: engine.Present}, []string{soreThroat}},
	} {
		t.Run(row.title, func(t *testing.T) {
			t.Parallel()
			spoken := v
			row.say(&spoken)
			known := c.listen(&spoken)
			got := map[string]engine.Choice{}
			for o, choice := range known.answers {
				got[c.Release.ObservationID(o)] = choice
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("known (-want +got)\n%s", diff)
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

func TestUnheard(t *testing.T) {
	t.Parallel()
	known := open(t).listen(&vignette{
		Age: age{40, "year"}, Says: "Qwertz uiop.", Present: []string{"fever", "vbnm xcvb"}, Denied: []string{"yxcv bnmp"}, Family: []string{"hjkl qwer"},
	})
	want := []string{"Qwertz uiop.", "vbnm xcvb", "Family history: hjkl qwer"}
	if diff := cmp.Diff(want, known.unheard); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
