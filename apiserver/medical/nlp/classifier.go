// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"cmp"
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A classifier estimates the meaning of a few words from how often people use each of
// them for an observation: it is a naive Bayes classifier over the examples and
// wordings of a release. It ignores word order and punctuation.
type classifier struct {
	*matcher      // provides the release and its families
	applies       func(model.ObservationIndex) bool
	applicability []applicability // by observation, filled on demand
	// weights are log-odds by observation, relative to the factor that each word
	// contributes for all of them. absenceWeights are the same for the absence of the
	// observation.
	weights, absenceWeights    []float64
	weighted, weightedAbsences []model.ObservationIndex // observations with a weight, and with an absence weight
	nothingWeight              float64                  // log-odds that the words state nothing
	masses                     []float64                // by observation: its odds plus those of its descendants
	summed                     []model.ObservationIndex // observations with a mass
	stems                      []model.Span             // distinct word weights of the added words, one per stem
	remaining                  int                      // remaining budget of word weights to add up
}

const (
	// indicationsPerToken is the maximum number of word weights to add up per token.
	indicationsPerToken = 4000
	// nothingPrior is the prior log-odds that words state nothing rather than one given
	// observation.
	nothingPrior = 3.0
	// minChanceEmergency and minChanceAbsence are the minimum probabilities for an
	// emergency and for an absence.
	minChanceEmergency = 0.8
	minChanceAbsence   = 0.7
	// negligibleGap is the maximum difference in log-odds to the highest for which odds
	// are added up.
	negligibleGap = 12.0
)

// A classification is the possible meaning of a few words.
type classification struct {
	observation model.ObservationIndex // model.None if nothing known
	likeliest   model.ObservationIndex // the observation or its likeliest descendant
	absent      bool                   // the observation is absent
	// gain is how much likelier this meaning is than no meaning, as a logarithm.
	gain float64
}

// prepare sets the classifier up for the text of a matcher and for a patient.
func (w *classifier) prepare(m *matcher, applies func(model.ObservationIndex) bool) {
	w.matcher, w.applies, w.remaining = m, applies, indicationsPerToken*len(m.words)
	all := len(m.r.Observations)
	w.weights, w.absenceWeights, w.masses = resize(w.weights, all), resize(w.absenceWeights, all), resize(w.masses, all)
	w.applicability = resize(w.applicability, all)
	w.weighted, w.weightedAbsences = w.weighted[:0], w.weightedAbsences[:0]
}

// An applicability caches whether an observation applies to the patient.
type applicability uint8

const (
	unchecked applicability = iota
	applicable
	notApplicable
)

// isApplicable reports whether an observation applies. It caches the result, because
// many words refer to the same observation.
func (w *classifier) isApplicable(o model.ObservationIndex) bool {
	if w.applicability[o] == unchecked {
		w.applicability[o] = notApplicable
		if w.applies(o) {
			w.applicability[o] = applicable
		}
	}
	return w.applicability[o] == applicable
}

// release drops the references to the text and the patient.
func (w *classifier) release() { w.matcher, w.applies = nil, nil }

// reset removes all words.
func (w *classifier) reset() {
	for _, o := range w.weighted {
		w.weights[o] = 0
	}
	for _, o := range w.weightedAbsences {
		w.absenceWeights[o] = 0
	}
	w.weighted, w.weightedAbsences, w.stems, w.nothingWeight = w.weighted[:0], w.weightedAbsences[:0], w.stems[:0], 0
}

// addWord adds a word unless another word with the same stem was added.
func (w *classifier) addWord(s *model.Stem) {
	all := model.Span{Start: s.PresentWeights.Start, End: s.AbsentWeights.End}
	if all.Len() > 0 && slices.Contains(w.stems, all) {
		return
	}
	w.stems = append(w.stems, all)
	w.remaining -= all.Len()
	for _, indicated := range model.Slice(w.r.WordWeights, s.AbsentWeights) {
		if w.isApplicable(indicated.Observation) {
			w.weightedAbsences = addWeight(w.absenceWeights, w.weightedAbsences, indicated)
		}
	}
	for _, indicated := range model.Slice(w.r.WordWeights, s.PresentWeights) {
		switch o := indicated.Observation; {
		case o == model.None:
			w.nothingWeight += float64(indicated.Weight)
		case w.isApplicable(o):
			w.weighted = addWeight(w.weights, w.weighted, indicated)
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

// classify returns the most specific meaning of the words with a probability of at
// least enough: an observation, an ancestor if the words do not decide between its
// descendants, or the absence of an observation. Words never determine durations.
func (w *classifier) classify(enough float64) classification {
	best := classification{observation: model.None, likeliest: model.None}
	if len(w.weighted)+len(w.weightedAbsences) == 0 {
		return best
	}
	top := w.maxWeight()
	said, nothing := w.sumMasses(top)+w.sumAbsences(top), w.nothingOdds()*math.Exp(-top)
	best.observation = w.deepest(enough, said+nothing)
	w.clearMasses()
	if best.observation == model.None {
		best = w.classifyAbsence(math.Log(minChanceAbsence*(said+nothing)) + top)
	} else {
		best.likeliest = w.likeliestBelow(best.observation)
	}
	best.gain = math.Log1p(said / nothing)
	return best
}

// deepest returns the observation with enough of all odds that has the most ancestors,
// and of several the one with the highest mass. It returns model.None if no
// observation has enough.
func (w *classifier) deepest(enough, all float64) model.ObservationIndex {
	best, depth := model.ObservationIndex(model.None), uint8(0)
	for _, o := range w.summed {
		if w.masses[o] < enough*all { // true for nearly all
			continue
		}
		of := w.depth(o)
		better := best == model.None || of > depth || of == depth && w.masses[o] > w.masses[best]
		if better && w.masses[o] >= w.minChanceFor(o, enough)*all && w.r.Observations[o].DurationTo == 0 {
			best, depth = o, of
		}
	}
	return best
}

// maxWeight returns the highest weight.
func (w *classifier) maxWeight() float64 {
	top := math.Inf(-1)
	for _, o := range w.weighted {
		top = max(top, w.weights[o])
	}
	for _, o := range w.weightedAbsences {
		top = max(top, w.absenceWeights[o])
	}
	return top
}

// classifyAbsence returns the absence that the words state, if its probability is at
// least enough.
func (w *classifier) classifyAbsence(enough float64) classification {
	for _, o := range w.weightedAbsences {
		if w.absenceWeights[o] >= enough {
			return classification{observation: o, likeliest: o, absent: true}
		}
	}
	return classification{observation: model.None, likeliest: model.None}
}

// sumAbsences returns the sum of the odds of all absences, relative to the highest
// weight.
func (w *classifier) sumAbsences(top float64) (all float64) {
	for _, o := range w.weightedAbsences {
		if w.absenceWeights[o] >= top-negligibleGap {
			all += math.Exp(w.absenceWeights[o] - top)
		}
	}
	return all
}

// minChanceFor returns the minimum probability for an observation. An emergency must
// not be inferred from a few ambiguous words, and an interview works without a risk
// factor.
func (w *classifier) minChanceFor(o model.ObservationIndex, least float64) float64 {
	switch observation := &w.r.Observations[o]; {
	case observation.Seriousness >= model.SeriousnessEmergency:
		return max(least, minChanceEmergency)
	case observation.Kind == model.RiskFactor:
		return max(least, minChance)
	}
	return least
}

// nothingOdds returns the odds that the words state nothing: each by chance, as in
// texts without findings, or for observations that none of the words indicates.
func (w *classifier) nothingOdds() float64 {
	byChance := math.Exp(nothingPrior - float64(len(w.stems))*math.Log(1-model.WordMixtureWeight))
	return byChance + math.Exp(nothingPrior+w.nothingWeight) + float64(len(w.r.Observations)-len(w.weighted))
}

// sumMasses adds the odds of each observation to its own mass and to the masses of its
// ancestors, relative to the highest weight. It returns the sum of all odds.
func (w *classifier) sumMasses(top float64) (all float64) {
	for _, o := range w.weighted {
		if w.weights[o] < top-negligibleGap {
			continue
		}
		odds := math.Exp(w.weights[o] - top)
		all += odds
		for ; o != model.None; o = w.r.Observations[o].Parent {
			if w.masses[o] == 0 {
				w.summed = append(w.summed, o)
			}
			w.masses[o] += odds
		}
	}
	return all
}

func (w *classifier) clearMasses() {
	for _, o := range w.summed {
		w.masses[o] = 0
	}
	w.summed = w.summed[:0]
}

// likeliestBelow returns the observation with the highest weight among above and its
// descendants.
func (w *classifier) likeliestBelow(above model.ObservationIndex) model.ObservationIndex {
	best := model.ObservationIndex(model.None)
	for _, o := range w.weighted {
		if (best == model.None || w.weights[o] > w.weights[best]) && (o == above || w.isAncestor(above, o)) {
			best = o
		}
	}
	return best
}

// wordWeight returns the weight of a word for a classification.
func (w *classifier) wordWeight(s *model.Stem, r classification) float64 {
	all := model.Slice(w.r.WordWeights, s.PresentWeights)
	if r.absent {
		all = model.Slice(w.r.WordWeights, s.AbsentWeights)
	}
	at, ok := slices.BinarySearchFunc(all, r.likeliest, func(i model.WordWeight, o model.ObservationIndex) int { return cmp.Compare(i.Observation, o) })
	if !ok {
		return 0
	}
	return float64(all[at].Weight)
}
