// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"cmp"
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A classifier estimates the meaning of a few words from how often people use each word
// for an observation. It is a naive Bayes classifier over the examples and wordings of
// a release. It ignores word order and punctuation.
type classifier struct {
	*matcher      // provides the release and its families
	applies       func(model.ObservationIndex) bool
	applicability []applicability // by observation, filled on demand
	// weights are log-odds by observation, relative to the factor that each word
	// contributes to all observations. absenceWeights are the log-odds of the absence of
	// each observation.
	weights, absenceWeights    []float64
	weighted, weightedAbsences []model.ObservationIndex // observations with a weight, and with an absence weight
	nothingWeight              float64                  // log-odds that the words state nothing
	masses                     []float64                // by observation: its odds plus the odds of its descendants
	summed                     []model.ObservationIndex // observations with a mass
	stems                      []model.Span             // distinct word weights of the added words, one per stem
	remaining                  int                      // budget left for adding word weights
}

const (
	// indicationsPerToken is the maximum number of word weights to add up per token.
	indicationsPerToken = 4000
	// nothingPrior is the prior log-odds that words state nothing rather than a given
	// observation.
	nothingPrior = 3.0
	// minChanceEmergency and minChanceAbsence are the minimum probabilities for an
	// emergency and for an absence.
	minChanceEmergency = 0.8
	minChanceAbsence   = 0.7
	// negligibleGap is the distance in log-odds below the highest weight beyond which odds
	// are ignored.
	negligibleGap = 12.0
)

// A classification is the possible meaning of a few words.
type classification struct {
	observation model.ObservationIndex // model.None if the words have no known meaning
	likeliest   model.ObservationIndex // the observation or its likeliest descendant
	absent      bool                   // the observation is absent
	// gain is the log-odds of this meaning relative to no meaning.
	gain float64
}

// prepare sets the classifier up for the text of a matcher and for a patient.
func (c *classifier) prepare(m *matcher, applies func(model.ObservationIndex) bool) {
	c.matcher, c.applies, c.remaining = m, applies, indicationsPerToken*len(m.words)
	all := len(m.r.Observations)
	c.weights, c.absenceWeights, c.masses = resize(c.weights, all), resize(c.absenceWeights, all), resize(c.masses, all)
	c.applicability = resize(c.applicability, all)
	c.weighted, c.weightedAbsences = c.weighted[:0], c.weightedAbsences[:0]
}

// An applicability caches whether an observation applies to the patient.
type applicability uint8

const (
	unchecked applicability = iota
	applicable
	notApplicable
)

// isApplicable reports whether an observation applies to the patient. It caches the
// result, because many words refer to the same observation.
func (c *classifier) isApplicable(o model.ObservationIndex) bool {
	if c.applicability[o] == unchecked {
		c.applicability[o] = notApplicable
		if c.applies(o) {
			c.applicability[o] = applicable
		}
	}
	return c.applicability[o] == applicable
}

// release drops the references to the text and the patient.
func (c *classifier) release() { c.matcher, c.applies = nil, nil }

// reset removes all words.
func (c *classifier) reset() {
	for _, o := range c.weighted {
		c.weights[o] = 0
	}
	for _, o := range c.weightedAbsences {
		c.absenceWeights[o] = 0
	}
	c.weighted, c.weightedAbsences, c.stems, c.nothingWeight = c.weighted[:0], c.weightedAbsences[:0], c.stems[:0], 0
}

// addWord adds a word unless another word with the same stem was added.
func (c *classifier) addWord(s *model.Stem) {
	all := model.Span{Start: s.PresentWeights.Start, End: s.AbsentWeights.End}
	if all.Len() > 0 && slices.Contains(c.stems, all) {
		return
	}
	c.stems = append(c.stems, all)
	c.remaining -= all.Len()
	for _, weight := range model.Slice(c.r.WordWeights, s.AbsentWeights) {
		if c.isApplicable(weight.Observation) {
			c.weightedAbsences = addWeight(c.absenceWeights, c.weightedAbsences, weight)
		}
	}
	for _, weight := range model.Slice(c.r.WordWeights, s.PresentWeights) {
		switch o := weight.Observation; {
		case o == model.None:
			c.nothingWeight += float64(weight.Weight)
		case c.isApplicable(o):
			c.weighted = addWeight(c.weights, c.weighted, weight)
		}
	}
}

// addWeight adds a word weight, and appends its observation to touched if it had no
// weight before.
func addWeight(weights []float64, touched []model.ObservationIndex, i model.WordWeight) []model.ObservationIndex {
	if weights[i.Observation] == 0 {
		touched = append(touched, i.Observation)
	}
	weights[i.Observation] += float64(i.Weight)
	return touched
}

// classify returns the most specific meaning of the words with at least the given
// probability: an observation, an ancestor if the words do not decide between its
// descendants, or the absence of an observation. Words never determine durations.
func (c *classifier) classify(minProbability float64) classification {
	best := classification{observation: model.None, likeliest: model.None}
	if len(c.weighted)+len(c.weightedAbsences) == 0 {
		return best
	}
	top := c.maxWeight()
	stated, nothing := c.sumMasses(top)+c.sumAbsences(top), c.nothingOdds()*math.Exp(-top)
	best.observation = c.deepest(minProbability, stated+nothing)
	c.clearMasses()
	if best.observation == model.None {
		best = c.classifyAbsence(math.Log(minChanceAbsence*(stated+nothing)) + top)
	} else {
		best.likeliest = c.likeliestBelow(best.observation)
	}
	best.gain = math.Log1p(stated / nothing)
	return best
}

// deepest returns the observation with the most ancestors whose share of the total odds
// is at least minProbability. Ties go to the highest mass. It returns model.None if no
// observation qualifies.
func (c *classifier) deepest(minProbability, totalOdds float64) model.ObservationIndex {
	best, depth := model.ObservationIndex(model.None), uint8(0)
	for _, o := range c.summed {
		if c.masses[o] < minProbability*totalOdds { // true for nearly all
			continue
		}
		d := c.depth(o)
		better := best == model.None || d > depth || d == depth && c.masses[o] > c.masses[best]
		if better && c.masses[o] >= c.minChanceFor(o, minProbability)*totalOdds && c.r.Observations[o].DurationTo == 0 {
			best, depth = o, d
		}
	}
	return best
}

// maxWeight returns the highest weight.
func (c *classifier) maxWeight() float64 {
	top := math.Inf(-1)
	for _, o := range c.weighted {
		top = max(top, c.weights[o])
	}
	for _, o := range c.weightedAbsences {
		top = max(top, c.absenceWeights[o])
	}
	return top
}

// classifyAbsence returns the absence whose weight is at least minWeight, if any.
func (c *classifier) classifyAbsence(minWeight float64) classification {
	for _, o := range c.weightedAbsences {
		if c.absenceWeights[o] >= minWeight {
			return classification{observation: o, likeliest: o, absent: true}
		}
	}
	return classification{observation: model.None, likeliest: model.None}
}

// sumAbsences returns the sum of the odds of all absences, relative to the highest
// weight.
func (c *classifier) sumAbsences(top float64) (total float64) {
	for _, o := range c.weightedAbsences {
		if c.absenceWeights[o] >= top-negligibleGap {
			total += math.Exp(c.absenceWeights[o] - top)
		}
	}
	return total
}

// minChanceFor returns the minimum probability for an observation. It is higher for
// emergencies, which must not be inferred from a few ambiguous words, and for risk
// factors, without which an interview also works.
func (c *classifier) minChanceFor(o model.ObservationIndex, minProbability float64) float64 {
	switch observation := &c.r.Observations[o]; {
	case observation.Seriousness >= model.SeriousnessEmergency:
		return max(minProbability, minChanceEmergency)
	case observation.Kind == model.RiskFactor:
		return max(minProbability, minChance)
	}
	return minProbability
}

// nothingOdds returns the odds that the words state nothing: they occur by chance, as
// in texts without findings, or for an observation that no word indicates.
func (c *classifier) nothingOdds() float64 {
	byChance := math.Exp(nothingPrior - float64(len(c.stems))*math.Log(1-model.WordMixtureWeight))
	return byChance + math.Exp(nothingPrior+c.nothingWeight) + float64(len(c.r.Observations)-len(c.weighted))
}

// sumMasses adds the odds of each observation to its own mass and to the masses of its
// ancestors, relative to the highest weight. It returns the sum of all odds.
func (c *classifier) sumMasses(top float64) (total float64) {
	for _, o := range c.weighted {
		if c.weights[o] < top-negligibleGap {
			continue
		}
		odds := math.Exp(c.weights[o] - top)
		total += odds
		for ; o != model.None; o = c.r.Observations[o].Parent {
			if c.masses[o] == 0 {
				c.summed = append(c.summed, o)
			}
			c.masses[o] += odds
		}
	}
	return total
}

func (c *classifier) clearMasses() {
	for _, o := range c.summed {
		c.masses[o] = 0
	}
	c.summed = c.summed[:0]
}

// likeliestBelow returns the observation with the highest weight among an ancestor and
// its descendants.
func (c *classifier) likeliestBelow(ancestor model.ObservationIndex) model.ObservationIndex {
	best := model.ObservationIndex(model.None)
	for _, o := range c.weighted {
		if (best == model.None || c.weights[o] > c.weights[best]) && (o == ancestor || c.isAncestor(ancestor, o)) {
			best = o
		}
	}
	return best
}

// wordWeight returns the weight of a word for a classification.
func (c *classifier) wordWeight(s *model.Stem, r classification) float64 {
	weights := model.Slice(c.r.WordWeights, s.PresentWeights)
	if r.absent {
		weights = model.Slice(c.r.WordWeights, s.AbsentWeights)
	}
	index, ok := slices.BinarySearchFunc(weights, r.likeliest, func(weight model.WordWeight, o model.ObservationIndex) int { return cmp.Compare(weight.Observation, o) })
	if !ok {
		return 0
	}
	return float64(weights[index].Weight)
}
