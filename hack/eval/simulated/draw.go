// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A patient has a condition and what comes with it.
type patient struct {
	condition model.ConditionIndex
	sex       model.Sex
	ageMonths int
	present   map[model.ObservationIndex]bool
	opening   []model.ObservationIndex
	// wrong are the observations that are answered wrongly when asked for.
	wrong map[model.ObservationIndex]bool
}

// choice is what the patient answers.
func (p *patient) choice(o model.ObservationIndex) engine.Choice {
	if p.present[o] != p.wrong[o] {
		return engine.Present
	}
	return engine.Absent
}

// A drawer draws patients from a release. The same seed draws the same ones.
type drawer struct {
	release     *model.Release
	random      *rand.Rand
	correlation float64
	wrong       float64
	shares      []map[model.ObservationIndex]float64 // by condition: of its findings
	factors     []map[model.ObservationIndex]float64 // by condition: the odds multipliers of what is present
}

func newDrawer(r *model.Release, correlation, wrong float64, seed uint64) *drawer {
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same patients for the same seed
	d := &drawer{release: r, random: random, correlation: correlation, wrong: wrong}
	for i := range r.Conditions {
		shares := map[model.ObservationIndex]float64{}
		for _, link := range model.Part(r.LinksByCondition, r.Conditions[i].Links) {
			shares[model.ObservationIndex(link.Other)] = link.Share
		}
		d.shares = append(d.shares, shares)
		d.factors = append(d.factors, map[model.ObservationIndex]float64{})
	}
	for i := range r.Observations {
		for _, f := range model.Part(r.Factors, r.Observations[i].Factors) {
			d.factors[f.Condition][model.ObservationIndex(i)] = f.Present
		}
	}
	return d
}

// each draws so many patients of every condition.
func (d *drawer) each(count int) []patient {
	patients := make([]patient, 0, count*len(d.release.Conditions))
	for c := range d.release.Conditions {
		for range count {
			patients = append(patients, d.draw(model.ConditionIndex(c)))
		}
	}
	return patients
}

// population draws patients as often as their conditions bring new episodes.
func (d *drawer) population(count int) []patient {
	weights := make([]float64, len(d.release.Conditions))
	for c := range weights {
		for sex := range 2 {
			for band := range model.AgeBands {
				weights[c] += d.release.Conditions[c].Prior[sex][band] * episodes[band]
			}
		}
	}
	patients := make([]patient, count)
	for i := range patients {
		patients[i] = d.draw(model.ConditionIndex(d.pick(weights)))
	}
	return patients
}

// episodes are the shares of new symptom episodes that the age bands of the
// model bring, from the visits of the National Ambulatory Medical Care Survey
// 2000 (hack/priors).
var episodes = [model.AgeBands]float64{0.007, 0.051, 0.047, 0.049, 0.049, 0.103, 0.187, 0.264, 0.125, 0.117}

// pick is a position, as often as its weight says.
func (d *drawer) pick(weights []float64) int {
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

// draw draws a patient of a condition who has something to say.
func (d *drawer) draw(c model.ConditionIndex) patient {
	for {
		p := patient{condition: c, present: map[model.ObservationIndex]bool{}, wrong: map[model.ObservationIndex]bool{}}
		d.drawAge(&p)
		d.drawObservations(&p)
		if d.drawOpening(&p); len(p.opening) > 0 {
			return p
		}
	}
}

const oldest = 95 * 12 // months

func (d *drawer) drawAge(p *patient) {
	c := &d.release.Conditions[p.condition]
	weights := make([]float64, 2*model.AgeBands)
	for i := range weights {
		weights[i] = c.Prior[i/model.AgeBands][i%model.AgeBands] * episodes[i%model.AgeBands]
	}
	at := d.pick(weights)
	band := at % model.AgeBands
	p.sex = model.Sex(at / model.AgeBands)
	from, to := model.AgeBandRange(band)
	from, to = max(int(c.AgeFrom), from), min(int(c.AgeTo), to, oldest)
	p.ageMonths = from + d.random.IntN(max(1, to-from+1))
}

// drawObservations draws what the patient has: risk factors one by one, findings
// parents first. Laboratory results are not theirs to tell.
func (d *drawer) drawObservations(p *patient) {
	illness := d.random.NormFloat64() // how fully the condition shows
	for i := range d.release.Observations {
		o := model.ObservationIndex(i)
		observation := &d.release.Observations[i]
		if !d.applies(p, o) || observation.Parent != model.None {
			continue
		}
		chance := observation.Leak
		switch observation.Kind {
		case model.RiskFactor:
			if multiplier, ok := d.factors[p.condition][o]; ok {
				chance = min(1, chance*multiplier)
			}
		case model.Symptom:
			if share, ok := d.shares[p.condition][o]; ok {
				chance = d.correlated(share, illness)
			}
		default:
			continue
		}
		if d.random.Float64() < chance {
			d.have(p, o)
		}
	}
	for i := range d.release.Observations {
		if d.random.Float64() < d.wrong {
			p.wrong[model.ObservationIndex(i)] = true
		}
	}
}

// correlated is the chance of a finding that patients have on the whole in some
// share, in a patient whose illness shows so far: a Gaussian copula with one
// factor.
func (d *drawer) correlated(share, illness float64) float64 {
	quantile := math.Sqrt2 * math.Erfinv(2*share-1)
	at := (quantile + math.Sqrt(d.correlation)*illness) / math.Sqrt(1-d.correlation)
	return (1 + math.Erf(at/math.Sqrt2)) / 2
}

// have gives the patient an observation and draws its children. Of an ordered
// group at most one item holds.
func (d *drawer) have(p *patient, o model.ObservationIndex) {
	p.present[o] = true
	ordered := map[model.GroupIndex]float64{} // what is left of the chance that decides
	for _, child := range model.Part(d.release.ChildRefs, d.release.Observations[o].Children) {
		if !d.applies(p, child) {
			continue
		}
		chance := d.share(p.condition, child) / d.share(p.condition, o)
		group := d.release.Observations[child].Group
		if group == model.None || !d.release.Groups[group].Ordered {
			if d.random.Float64() < chance {
				d.have(p, child)
			}
			continue
		}
		left, ok := ordered[group]
		if !ok {
			left = d.random.Float64()
		}
		if left >= 0 && left < chance {
			d.have(p, child)
		}
		ordered[group] = left - chance
	}
}

// share is how many patients with the condition have the observation.
func (d *drawer) share(c model.ConditionIndex, o model.ObservationIndex) float64 {
	if share, ok := d.shares[c][o]; ok {
		return share
	}
	return d.release.Observations[o].Leak
}

func (d *drawer) applies(p *patient, o model.ObservationIndex) bool {
	observation := &d.release.Observations[o]
	return observation.Sex.Admits(p.sex) && int(observation.AgeFrom) <= p.ageMonths && p.ageMonths <= int(observation.AgeTo)
}

// mostOpening is how many complaints a patient begins with.
const mostOpening = 2

// drawOpening chooses what the patient says first, among the findings of the
// condition that are there, the usual ones more often.
func (d *drawer) drawOpening(p *patient) {
	var candidates []model.ObservationIndex
	var weights []float64
	for _, link := range model.Part(d.release.LinksByCondition, d.release.Conditions[p.condition].Links) {
		o := model.ObservationIndex(link.Other)
		if p.present[o] && d.release.Observations[o].Kind == model.Symptom {
			candidates, weights = append(candidates, o), append(weights, link.Share)
		}
	}
	for range min(mostOpening, len(candidates)) {
		at := d.pick(weights)
		p.opening = append(p.opening, candidates[at])
		weights[at] = 0
	}
	for _, o := range p.opening {
		delete(p.wrong, o)
	}
}
