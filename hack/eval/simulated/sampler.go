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
	// misreported are the observations that the patient answers wrongly.
	misreported map[model.ObservationIndex]bool
}

// answer returns the patient's answer about an observation.
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
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same patients for the same seed
	d := &sampler{release: r, random: random, correlation: correlation, errorRate: wrong}
	for i := range r.Conditions {
		shares := map[model.ObservationIndex]float64{}
		for _, link := range model.Slice(r.LinksByCondition, r.Conditions[i].Links) {
			shares[model.ObservationIndex(link.Other)] = link.Probability
		}
		d.frequencies = append(d.frequencies, shares)
		d.riskMultipliers = append(d.riskMultipliers, map[model.ObservationIndex]float64{})
	}
	for i := range r.Observations {
		for _, f := range model.Slice(r.Factors, r.Observations[i].Factors) {
			d.riskMultipliers[f.Condition][model.ObservationIndex(i)] = f.Present
		}
	}
	return d
}

// samplePerCondition draws count patients of every condition.
func (d *sampler) samplePerCondition(count int) []patient {
	patients := make([]patient, 0, count*len(d.release.Conditions))
	for c := range d.release.Conditions {
		for range count {
			patients = append(patients, d.samplePatient(model.ConditionIndex(c)))
		}
	}
	return patients
}

// samplePopulation draws patients in proportion to the incidence of their conditions.
func (d *sampler) samplePopulation(count int) []patient {
	weights := make([]float64, len(d.release.Conditions))
	for c := range weights {
		for sex := range 2 {
			for band := range model.NumAgeBands {
				weights[c] += d.release.Conditions[c].Prior[sex][band] * episodeShares[band]
			}
		}
	}
	patients := make([]patient, count)
	for i := range patients {
		patients[i] = d.samplePatient(model.ConditionIndex(d.weightedIndex(weights)))
	}
	return patients
}

// episodeShares are the shares of new symptom episodes by age band of the model, from
// the visits of the National Ambulatory Medical Care Survey 2000 (hack/priors).
var episodeShares = [model.NumAgeBands]float64{0.007, 0.051, 0.047, 0.049, 0.049, 0.103, 0.187, 0.264, 0.125, 0.117}

// weightedIndex draws an index with probability proportional to its weight.
func (d *sampler) weightedIndex(weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	at := d.random.Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// samplePatient draws a patient of a condition who has at least one complaint.
func (d *sampler) samplePatient(c model.ConditionIndex) patient {
	for {
		p := patient{condition: c, present: map[model.ObservationIndex]bool{}, misreported: map[model.ObservationIndex]bool{}}
		d.sampleAge(&p)
		d.sampleObservations(&p)
		if d.sampleComplaints(&p); len(p.opening) > 0 {
			return p
		}
	}
}

const maxAgeMonths = 95 * 12 // months

func (d *sampler) sampleAge(p *patient) {
	c := &d.release.Conditions[p.condition]
	weights := make([]float64, 2*model.NumAgeBands)
	for i := range weights {
		weights[i] = c.Prior[i/model.NumAgeBands][i%model.NumAgeBands] * episodeShares[i%model.NumAgeBands]
	}
	at := d.weightedIndex(weights)
	band := at % model.NumAgeBands
	p.sex = model.Sex(at / model.NumAgeBands)
	from, to := model.AgeBandRange(band)
	from, to = max(int(c.AgeFrom), from), min(int(c.AgeTo), to, maxAgeMonths)
	p.ageMonths = from + d.random.IntN(max(1, to-from+1))
}

// sampleObservations draws the patient's observations: risk factors individually,
// findings parents first. Laboratory results are excluded because patients do not
// report them.
func (d *sampler) sampleObservations(p *patient) {
	illness := d.random.NormFloat64() // severity of the presentation
	for i := range d.release.Observations {
		o := model.ObservationIndex(i)
		observation := &d.release.Observations[i]
		if !d.applies(p, o) || observation.Parent != model.None {
			continue
		}
		chance := observation.Leak
		switch observation.Kind {
		case model.RiskFactor:
			if multiplier, ok := d.riskMultipliers[p.condition][o]; ok {
				chance = min(1, chance*multiplier)
			}
		case model.Symptom:
			if share, ok := d.frequencies[p.condition][o]; ok {
				chance = d.correlatedProbability(share, illness)
			}
		default:
			continue
		}
		if d.random.Float64() < chance {
			d.addObservation(p, o)
		}
	}
	for i := range d.release.Observations {
		if d.random.Float64() < d.errorRate {
			p.misreported[model.ObservationIndex(i)] = true
		}
	}
}

// correlatedProbability returns the probability of a finding given its overall share
// among patients and this patient's severity, using a one-factor Gaussian copula.
func (d *sampler) correlatedProbability(share, illness float64) float64 {
	quantile := math.Sqrt2 * math.Erfinv(2*share-1)
	at := (quantile + math.Sqrt(d.correlation)*illness) / math.Sqrt(1-d.correlation)
	return (1 + math.Erf(at/math.Sqrt2)) / 2
}

// addObservation adds an observation to the patient and draws its children. Of an
// ordered group, at most one item holds.
func (d *sampler) addObservation(p *patient, o model.ObservationIndex) {
	p.present[o] = true
	ordered := map[model.GroupIndex]float64{} // remaining probability of each ordered group
	for _, child := range model.Slice(d.release.ChildRefs, d.release.Observations[o].Children) {
		if !d.applies(p, child) {
			continue
		}
		chance := d.frequency(p.condition, child) / d.frequency(p.condition, o)
		group := d.release.Observations[child].Group
		if group == model.None || !d.release.Groups[group].Ordered {
			if d.random.Float64() < chance {
				d.addObservation(p, child)
			}
			continue
		}
		left, ok := ordered[group]
		if !ok {
			left = d.random.Float64()
		}
		if left >= 0 && left < chance {
			d.addObservation(p, child)
		}
		ordered[group] = left - chance
	}
}

// frequency returns the fraction of patients with the condition who have the
// observation.
func (d *sampler) frequency(c model.ConditionIndex, o model.ObservationIndex) float64 {
	if share, ok := d.frequencies[c][o]; ok {
		return share
	}
	return d.release.Observations[o].Leak
}

func (d *sampler) applies(p *patient, o model.ObservationIndex) bool {
	observation := &d.release.Observations[o]
	return observation.Sex.Includes(p.sex) && int(observation.AgeFrom) <= p.ageMonths && p.ageMonths <= int(observation.AgeTo)
}

// maxComplaints is the maximum number of complaints that a patient starts with.
const maxComplaints = 2

// sampleComplaints selects the patient's complaints from the present findings of the
// condition, favoring frequent ones.
func (d *sampler) sampleComplaints(p *patient) {
	var candidates []model.ObservationIndex
	var weights []float64
	for _, link := range model.Slice(d.release.LinksByCondition, d.release.Conditions[p.condition].Links) {
		o := model.ObservationIndex(link.Other)
		if p.present[o] && d.release.Observations[o].Kind == model.Symptom {
			candidates, weights = append(candidates, o), append(weights, link.Probability)
		}
	}
	for range min(maxComplaints, len(candidates)) {
		at := d.weightedIndex(weights)
		p.opening = append(p.opening, candidates[at])
		weights[at] = 0
	}
	for _, o := range p.opening {
		delete(p.misreported, o)
	}
}
