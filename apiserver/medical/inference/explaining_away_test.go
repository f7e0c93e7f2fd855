// SPDX-License-Identifier: Apache-2.0

package inference

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

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	gocmp "github.com/google/go-cmp/cmp"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files of this package")

// typicalPatient is a patient with one condition who reports its most common
// observations. All random draws are seeded with the numbers of the condition and of
// the observation only, so that a content change affects only the related patients.
type typicalPatient struct {
	sex       model.Sex
	ageMonths int
	evidence  []ReportedEvidence
}

// The number of known observations of a typical patient: the findings that they report
// to a doctor, before the interview has asked about every red flag.
const (
	typicalPresent = 4
	typicalAbsent  = 4
)

// drawTypicalPatient draws a patient. It returns false if the condition causes nothing
// that patients report or does not occur at the drawn age.
func drawTypicalPatient(r *model.Release, c *model.Condition, variant uint64) (typicalPatient, bool) {
	random := rand.New(rand.NewPCG(uint64(c.Number), variant))
	var p typicalPatient
	for tries := 0; ; tries++ {
		p.sex, p.ageMonths = model.Sex(random.IntN(2)), random.IntN(1080)
		if c.Prior[p.sex][model.AgeBand(p.ageMonths)] > 0 && c.Sex.Includes(p.sex) && int(c.AgeFrom) <= p.ageMonths && p.ageMonths <= int(c.AgeTo) {
			break
		}
		if tries == 1000 {
			return p, false
		}
	}
	links := slices.Clone(model.Slice(r.LinksByCondition, c.Links))
	slices.SortStableFunc(links, func(a, b model.Link) int { return cmp.Compare(b.Lambda, a.Lambda) })
	present, absent := 0, 0
	for _, link := range links {
		o := &r.Observations[link.Other]
		if o.Kind != model.Symptom || o.Parent != model.None || o.Question.Length == 0 || !(&Patient{sex: p.sex, ageMonths: p.ageMonths}).isApplicable(o) {
			continue
		}
		e := ReportedEvidence{ID: r.ObservationID(model.ObservationIndex(link.Other))}
		holds := rand.New(rand.NewPCG(uint64(c.Number)<<32|uint64(o.Number), variant)).Float64() < link.Probability
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

// patient returns the typical patient with additional evidence.
func (p *typicalPatient) patient(t *testing.T, r *model.Release, more ...ReportedEvidence) Patient {
	t.Helper()
	patient, err := NewPatient(r, p.sex, p.ageMonths, slices.Concat(p.evidence, more))
	if err != nil {
		t.Fatal(err)
	}
	return patient
}

func (p *typicalPatient) String() string {
	var words []string
	for _, e := range p.evidence {
		words = append(words, map[Choice]string{Present: "", Absent: "-"}[e.Choice]+e.ID)
	}
	return fmt.Sprintf("%v of %d months with %s", p.sex, p.ageMonths, strings.Join(words, " "))
}

// levelDrops returns the red flags that lower the level of a patient, by the resulting
// level.
func (p *typicalPatient) levelDrops(t *testing.T, e *Engine, r *model.Release, flags []model.ObservationIndex, level model.TriageLevel) map[model.TriageLevel][]string {
	t.Helper()
	fallen := map[model.TriageLevel][]string{}
	for _, o := range flags {
		with := p.patient(t, r, ReportedEvidence{ID: r.ObservationID(o), Choice: Present})
		byEvidence := evidenceLevel(e, r, with)
		if byEvidence >= level {
			continue // the level is never below the level of the evidence
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

// reportableRedFlags returns the red flags that the patient could report in addition:
// serious alone, or the last item of a tuple.
func reportableRedFlags(e *Engine, r *model.Release, p Patient) (list []model.ObservationIndex) {
	s := e.getScratch(r, &p)
	defer e.putScratch(s)
	for i := range r.Observations {
		o := model.ObservationIndex(i)
		if s.state[o] != stateUnknown || !p.isApplicable(&r.Observations[o]) {
			continue
		}
		if s.completionLevels[o] > model.NoTriageLevel || r.Observations[o].Seriousness != model.NotSerious {
			list = append(list, o)
		}
	}
	return list
}

// checkGolden compares a text with a file in testdata, or writes the file with
// -update.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *updateGolden {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s changed; if the change is intended, run: go test ./apiserver/medical/inference -run %s -update\n%s", path, t.Name(), diff)
	}
}
