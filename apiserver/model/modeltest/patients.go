// SPDX-License-Identifier: Apache-2.0

package modeltest

import (
	"math/rand/v2"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// EvidenceItems is how many pieces of evidence a patient reports.
const EvidenceItems = 8

// A Patient is somebody with one of the conditions, and what they report.
type Patient struct {
	Sex       model.Sex
	AgeMonths int
	Condition model.ConditionIndex
	// Present and Absent are the ids of what is reported, EvidenceItems
	// together unless more are present. The first present one brought the
	// patient here.
	Present, Absent []string
}

// Patients draws patients from a synthetic release of FullSize, who report
// so many present observations: what their condition brings, and beyond that
// what may trouble anybody. What they deny belongs to conditions that resemble
// theirs. Of laboratory results they know nothing. The same call gives the same patients.
func Patients(r *model.Release, count, present int) []Patient {
	random := rand.New(rand.NewPCG(Seed, uint64(present)))
	patients := make([]Patient, count)
	for i := range patients {
		patients[i] = drawPatient(r, random, present)
	}
	return patients
}

func drawPatient(r *model.Release, random *rand.Rand, present int) Patient {
	p := Patient{
		Sex: model.Sex(random.IntN(2)), AgeMonths: 240 + random.IntN(720),
		Condition: model.ConditionIndex(random.IntN(len(r.Conditions))),
	}
	links := model.Part(r.LinksByCondition, r.Conditions[p.Condition].Links)
	reported := map[model.ObservationIndex]bool{}
	for tries := 0; len(p.Present) < present; tries++ {
		link := links[random.IntN(len(links))]
		o := model.ObservationIndex(link.Other)
		if tries > 200 {
			o = model.ObservationIndex(random.IntN(FullSize.commonRoots()))
		} else if random.Float64() > link.Share {
			continue
		}
		if !related(r, reported, o) {
			reported[o] = true
			p.Present = append(p.Present, r.ObservationID(o))
		}
	}
	for len(p.Present)+len(p.Absent) < max(EvidenceItems, present) {
		neighbour := r.Conditions[(int(p.Condition)+FullSize.disciplines()*random.IntN(20))%len(r.Conditions)]
		others := model.Part(r.LinksByCondition, neighbour.Links)
		o := model.ObservationIndex(others[random.IntN(len(others))].Other)
		if !related(r, reported, o) {
			reported[o] = true
			p.Absent = append(p.Absent, r.ObservationID(o))
		}
	}
	return p
}

// related reports whether an observation is a laboratory result, or it, its
// parent or a child of it has been reported.
func related(r *model.Release, reported map[model.ObservationIndex]bool, o model.ObservationIndex) bool {
	if r.Observations[o].Kind == model.LabResult || reported[o] || reported[r.Observations[o].Parent] {
		return true
	}
	for _, child := range model.Part(r.ChildRefs, r.Observations[o].Children) {
		if reported[child] {
			return true
		}
	}
	return false
}
