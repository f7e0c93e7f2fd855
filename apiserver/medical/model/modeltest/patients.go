// SPDX-License-Identifier: Apache-2.0

package modeltest

import (
	"math/rand/v2"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// EvidencePerPatient is the number of pieces of evidence that a patient reports.
const EvidencePerPatient = 8

// A Patient is a simulated patient with one of the conditions, and the reported evidence.
type Patient struct {
	Sex       model.Sex
	AgeMonths int
	Condition model.ConditionIndex
	// Present and Absent are the IDs of the reported observations, EvidencePerPatient in
	// total unless more are present. The first present observation is the chief complaint.
	Present, Absent []string
}

// SamplePatients draws patients from a synthetic release of FullSize. Each patient
// reports the given number of present observations: findings of the patient's condition
// and, if these do not suffice, observations that anyone may have. The denied
// observations belong to similar conditions. Patients report no laboratory results. The
// result is deterministic.
func SamplePatients(r *model.Release, count, present int) []Patient {
	random := rand.New(rand.NewPCG(Seed, uint64(present)))
	patients := make([]Patient, count)
	for i := range patients {
		patients[i] = samplePatient(r, random, present)
	}
	return patients
}

func samplePatient(r *model.Release, random *rand.Rand, present int) Patient {
	p := Patient{
		Sex: model.Sex(random.IntN(2)), AgeMonths: 240 + random.IntN(720),
		Condition: model.ConditionIndex(random.IntN(len(r.Conditions))),
	}
	links := model.Slice(r.LinksByCondition, r.Conditions[p.Condition].Links)
	reported := map[model.ObservationIndex]bool{}
	for tries := 0; len(p.Present) < present; tries++ {
		link := links[random.IntN(len(links))]
		o := model.ObservationIndex(link.Other)
		if tries > 200 {
			o = model.ObservationIndex(random.IntN(FullSize.commonRoots()))
		} else if random.Float64() > link.Probability {
			continue
		}
		if !isRelated(r, reported, o) {
			reported[o] = true
			p.Present = append(p.Present, r.ObservationID(o))
		}
	}
	for len(p.Present)+len(p.Absent) < max(EvidencePerPatient, present) {
		neighbor := r.Conditions[(int(p.Condition)+FullSize.disciplines()*random.IntN(20))%len(r.Conditions)]
		links := model.Slice(r.LinksByCondition, neighbor.Links)
		o := model.ObservationIndex(links[random.IntN(len(links))].Other)
		if !isRelated(r, reported, o) {
			reported[o] = true
			p.Absent = append(p.Absent, r.ObservationID(o))
		}
	}
	return p
}

// isRelated reports whether an observation is a laboratory result, or whether it, its
// parent or one of its children has been reported.
func isRelated(r *model.Release, reported map[model.ObservationIndex]bool, o model.ObservationIndex) bool {
	if r.Observations[o].Kind == model.LabResult || reported[o] || reported[r.Observations[o].Parent] {
		return true
	}
	for _, child := range model.Slice(r.ChildRefs, r.Observations[o].Children) {
		if reported[child] {
			return true
		}
	}
	return false
}
