// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A patient has a condition and its findings.
type patient struct {
	condition model.ConditionIndex
	sex       model.Sex
	ageMonths int
	present   map[model.ObservationIndex]bool
	opening   []model.ObservationIndex
	// misreported holds the observations that the patient reports wrongly.
	misreported map[model.ObservationIndex]bool
}

// answer returns the patient's answer to a question about an observation.
func (p *patient) answer(o model.ObservationIndex) inference.Choice {
	if p.present[o] != p.misreported[o] {
		return inference.Present
	}
	return inference.Absent
}

// A sampler draws patients from a release. The same seed yields the same patients.
type sampler struct {
	release         *model.Release
	random          *rand.Rand
	correlation     float64
	errorRate       float64
	frequencies     []map[model.ObservationIndex]float64 // by condition: frequencies of its findings
	riskMultipliers []map[model.ObservationIndex]float64 // by condition: odds multipliers of present risk factors
}

func newSampler(r *model.Release, correlation, wrong float64, seed uint64) *sampler {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same seed must yield the same patients
	s := &sampler{release: r, random: random, correlation: correlation, errorRate: wrong}
	for i := range r.Conditions {
		shares := map[model.ObservationIndex]float64{}
		for _, link := range model.Slice(r.LinksByCondition, r.Conditions[i].Links) {
			shares[model.ObservationIndex(link.Other)] = link.Probability
		}
		s.frequencies = append(s.frequencies, shares)
		s.riskMultipliers = append(s.riskMultipliers, map[model.ObservationIndex]float64{})
	}
	for i := range r.Observations {
		for _, f := range model.Slice(r.Factors, r.Observations[i].Factors) {
			s.riskMultipliers[f.Condition][model.ObservationIndex(i)] = f.Present
		}
	}
	return s
}

// samplePerCondition draws count patients of every condition.
func (s *sampler) samplePerCondition(count int) []patient {
	patients := make([]patient, 0, count*len(s.release.Conditions))
	for c := range s.release.Conditions {
		for range count {
			patients = append(patients, s.samplePatient(model.ConditionIndex(c)))
		}
	}
	return patients
}

// samplePopulation draws patients in proportion to the priors of their conditions.
func (s *sampler) samplePopulation(count int) []patient {
	weights := make([]float64, len(s.release.Conditions))
	for c := range weights {
		for sex := range 2 {
			for band := range model.NumAgeBands {
				weights[c] += s.release.Conditions[c].Prior[sex][band] * episodeShares[band]
			}
		}
	}
	patients := make([]patient, count)
	for i := range patients {
		patients[i] = s.samplePatient(model.ConditionIndex(s.weightedIndex(weights)))
	}
	return patients
}

// episodeShares are the shares of new symptom episodes by age band of the model, from
// the visits of the National Ambulatory Medical Care Survey 2000 (hack/priors).
var episodeShares = [model.NumAgeBands]float64{0.007, 0.051, 0.047, 0.049, 0.049, 0.103, 0.187, 0.264, 0.125, 0.117}

// weightedIndex draws an index with probability proportional to its weight.
func (s *sampler) weightedIndex(weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	at := s.random.Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// samplePatient draws a patient with the condition and at least one complaint.
func (s *sampler) samplePatient(c model.ConditionIndex) patient {
	for {
		p := patient{condition: c, present: map[model.ObservationIndex]bool{}, misreported: map[model.ObservationIndex]bool{}}
		s.sampleAge(&p)
		s.sampleObservations(&p)
		if s.sampleComplaints(&p); len(p.opening) > 0 {
			return p
		}
	}
}

// maxAgeMonths is the maximum age of sampled patients.
const maxAgeMonths = 95 * 12

func (s *sampler) sampleAge(p *patient) {
	c := &s.release.Conditions[p.condition]
	weights := make([]float64, 2*model.NumAgeBands)
	for i := range weights {
		weights[i] = c.Prior[i/model.NumAgeBands][i%model.NumAgeBands] * episodeShares[i%model.NumAgeBands]
	}
	at := s.weightedIndex(weights)
	band := at % model.NumAgeBands
	p.sex = model.Sex(at / model.NumAgeBands)
	from, to := model.AgeBandRange(band)
	from, to = max(int(c.AgeFrom), from), min(int(c.AgeTo), to, maxAgeMonths)
	p.ageMonths = from + s.random.IntN(max(1, to-from+1))
}

// sampleObservations draws the patient's observations: risk factors independently, and
// findings starting with the parents. It excludes laboratory results, because patients do
// not report them.
func (s *sampler) sampleObservations(p *patient) {
	severity := s.random.NormFloat64()
	for i := range s.release.Observations {
		o := model.ObservationIndex(i)
		observation := &s.release.Observations[i]
		if !s.applies(p, o) || observation.Parent != model.None {
			continue
		}
		chance := observation.Leak
		switch observation.Kind {
		case model.RiskFactor:
			if multiplier, ok := s.riskMultipliers[p.condition][o]; ok {
				chance = min(1, chance*multiplier)
			}
		case model.Symptom:
			if share, ok := s.frequencies[p.condition][o]; ok {
				chance = s.correlatedProbability(share, severity)
			}
		default:
			continue
		}
		if s.random.Float64() < chance {
			s.addObservation(p, o)
		}
	}
	for i := range s.release.Observations {
		if s.random.Float64() < s.errorRate {
			p.misreported[model.ObservationIndex(i)] = true
		}
	}
}

// correlatedProbability returns the probability of a finding for a patient with the given
// severity, using a one-factor Gaussian copula. share is the probability over all patients.
func (s *sampler) correlatedProbability(share, severity float64) float64 {
	quantile := math.Sqrt2 * math.Erfinv(2*share-1)
	at := (quantile + math.Sqrt(s.correlation)*severity) / math.Sqrt(1-s.correlation)
	return (1 + math.Erf(at/math.Sqrt2)) / 2
}

// addObservation adds an observation to the patient and draws its children, at most one
// from each ordered group.
func (s *sampler) addObservation(p *patient, o model.ObservationIndex) {
	p.present[o] = true
	ordered := map[model.GroupIndex]float64{} // remaining probability of each ordered group
	for _, child := range model.Slice(s.release.ChildRefs, s.release.Observations[o].Children) {
		if !s.applies(p, child) {
			continue
		}
		chance := s.frequency(p.condition, child) / s.frequency(p.condition, o)
		group := s.release.Observations[child].Group
		if group == model.None || !s.release.Groups[group].Ordered {
			if s.random.Float64() < chance {
				s.addObservation(p, child)
			}
			continue
		}
		remaining, ok := ordered[group]
		if !ok {
			remaining = s.random.Float64()
		}
		if remaining >= 0 && remaining < chance {
			s.addObservation(p, child)
		}
		ordered[group] = remaining - chance
	}
}

// frequency returns the fraction of patients with the condition who have the
// observation.
func (s *sampler) frequency(c model.ConditionIndex, o model.ObservationIndex) float64 {
	if share, ok := s.frequencies[c][o]; ok {
		return share
	}
	return s.release.Observations[o].Leak
}

func (s *sampler) applies(p *patient, o model.ObservationIndex) bool {
	observation := &s.release.Observations[o]
	return observation.Sex.Includes(p.sex) && int(observation.AgeFrom) <= p.ageMonths && p.ageMonths <= int(observation.AgeTo)
}

// maxComplaints is the maximum number of complaints that a patient starts with.
const maxComplaints = 2

// sampleComplaints selects the patient's complaints from the present findings of the
// condition, favoring frequent ones.
func (s *sampler) sampleComplaints(p *patient) {
	var candidates []model.ObservationIndex
	var weights []float64
	for _, link := range model.Slice(s.release.LinksByCondition, s.release.Conditions[p.condition].Links) {
		o := model.ObservationIndex(link.Other)
		if p.present[o] && s.release.Observations[o].Kind == model.Symptom {
			candidates, weights = append(candidates, o), append(weights, link.Probability)
		}
	}
	for range min(maxComplaints, len(candidates)) {
		at := s.weightedIndex(weights)
		p.opening = append(p.opening, candidates[at])
		weights[at] = 0
	}
	for _, o := range p.opening {
		delete(p.misreported, o)
	}
}
