// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files of this package anew")

// typical is a patient with one condition who reports what it brings most. All
// that is drawn hangs on the numbers of the condition and of the observation
// alone, so that a change of the content changes the patients whom it concerns.
type typical struct {
	sex       model.Sex
	ageMonths int
	evidence  []ReportedEvidence
}

// Of a typical patient so much is known: about what they come to the doctor
// with, before the interview has asked for every red flag.
const (
	typicalPresent = 4
	typicalAbsent  = 4
)

// drawTypical draws a patient, false when the condition brings nothing that
// patients report or was not drawn at an age at which it occurs.
func drawTypical(r *model.Release, c *model.Condition, variant uint64) (typical, bool) {
	random := rand.New(rand.NewPCG(uint64(c.Number), variant))
	var p typical
	for tries := 0; ; tries++ {
		p.sex, p.ageMonths = model.Sex(random.IntN(2)), random.IntN(1080)
		if c.Prior[p.sex][model.AgeBand(p.ageMonths)] > 0 && c.Sex.Admits(p.sex) && int(c.AgeFrom) <= p.ageMonths && p.ageMonths <= int(c.AgeTo) {
			break
		}
		if tries == 1000 {
			return p, false
		}
	}
	links := slices.Clone(model.Part(r.LinksByCondition, c.Links))
	slices.SortStableFunc(links, func(a, b model.Link) int { return cmp.Compare(b.Lambda, a.Lambda) })
	present, absent := 0, 0
	for _, link := range links {
		o := &r.Observations[link.Other]
		if o.Kind != model.Symptom || o.Parent != model.None || o.Question.Length == 0 || !(&Patient{sex: p.sex, ageMonths: p.ageMonths}).admits(o) {
			continue
		}
		e := ReportedEvidence{ID: r.ObservationID(model.ObservationIndex(link.Other))}
		holds := rand.New(rand.NewPCG(uint64(c.Number)<<32|uint64(o.Number), variant)).Float64() < link.Share
		switch {
		case holds && present < typicalPresent:
			e.Choice, present = Present, present+1
		case !holds && absent < typicalAbsent:
			e.Choice, absent = Absent, absent+1
		default:
			continue
		}
		p.evidence = append(p.evidence, e)
	}
	return p, present > 0
}

// patient is a typical patient who reports something more.
func (p *typical) patient(t *testing.T, r *model.Release, more ...ReportedEvidence) Patient {
	t.Helper()
	patient, err := NewPatient(r, p.sex, p.ageMonths, slices.Concat(p.evidence, more))
	if err != nil {
		t.Fatal(err)
	}
	return patient
}

func (p *typical) String() string {
	var words []string
	for _, e := range p.evidence {
		words = append(words, map[Choice]string{Present: "", Absent: "-"}[e.Choice]+e.ID)
	}
	return fmt.Sprintf("%v of %d months with %s", p.sex, p.ageMonths, strings.Join(words, " "))
}

// lowered are the red flags that lower the level of a patient, by the level
// that is left.
func (p *typical) lowered(t *testing.T, e *Engine, r *model.Release, flags []model.ObservationIndex, level model.TriageLevel) map[model.TriageLevel][]string {
	t.Helper()
	fallen := map[model.TriageLevel][]string{}
	for _, o := range flags {
		with := p.patient(t, r, ReportedEvidence{ID: r.ObservationID(o), Choice: Present})
		byEvidence := levelOfEvidence(e, r, with)
		if byEvidence >= level {
			continue // the level is never below the evidence
		}
		after := e.Triage(r, with, Options{}).Level
		if after < max(byEvidence, model.Consultation24) {
			t.Errorf("%v: with %s %v", p, r.ObservationID(o), after)
		}
		if after < level {
			fallen[after] = append(fallen[after], r.ObservationID(o)+" "+r.Text(r.Observations[o].CommonName))
		}
	}
	return fallen
}

// redFlagsBeside are the red flags that the patient could report beside what
// is known: serious by themselves, or the last of a tuple.
func redFlagsBeside(e *Engine, r *model.Release, p Patient) (list []model.ObservationIndex) {
	s := e.acquire(r, &p)
	defer e.release(s)
	for i := range r.Observations {
		o := model.ObservationIndex(i)
		if s.known[o] != nothingKnown || !p.admits(&r.Observations[o]) {
			continue
		}
		if s.completes[o] > model.NoTriageLevel || r.Observations[o].Seriousness != model.NotSerious {
			list = append(list, o)
		}
	}
	return list
}

// checkGolden compares a text with a file of testdata, or writes it there.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s is not what it was; if the change is meant, run: go test ./apiserver/engine -run %s -update\n%s", path, t.Name(), diff)
	}
}
