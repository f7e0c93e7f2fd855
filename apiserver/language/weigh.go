// SPDX-License-Identifier: Apache-2.0

package language

import (
	"cmp"
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A weigher says what a few words mean by how often those use each of them who
// mean it: naive Bayes over the examples and wordings of a release. It knows
// neither the order of the words nor what stands between them.
type weigher struct {
	*matcher // for the release and its families
	applies  func(model.ObservationIndex) bool
	verdicts []verdict // by observation: what it says, once it was asked
	// weights are the logarithms of odds by observation, without what each word
	// takes from all of them; denials the same for its absence.
	weights, denials []float64
	touched, denied  []model.ObservationIndex // those with a weight, and with a denial
	nothing          float64                  // the weight of saying nothing
	masses           []float64                // by observation: its odds, with those below it
	summed           []model.ObservationIndex // those with a mass
	stems            []model.Span             // the indications of the words, each form once
	left             int                      // how many indications may be added up yet
}

const (
	// weighingPerToken bounds how many indications are added up for every token.
	weighingPerToken = 4000
	// usuallyNothing is how much likelier words are to say nothing than to say one
	// observation, before they are known, as a logarithm.
	usuallyNothing = 3.0
	// enoughSerious is the least chance of an emergency that is enough, and
	// enoughAbsent that of an absence.
	enoughSerious = 0.8
	enoughAbsent  = 0.7
	// negligible is how far odds may be below the highest, as a logarithm, to be
	// added up.
	negligible = 12.0
)

// A reading is what words may mean.
type reading struct {
	observation model.ObservationIndex // model.None: nothing that is known
	likeliest   model.ObservationIndex // the observation, or the likeliest one below it
	absent      bool                   // they mean that it is absent
	// gain is how much likelier the words are for what they may mean than for
	// meaning nothing, as a logarithm.
	gain float64
}

// use prepares for the text of a matcher and a patient.
func (w *weigher) use(m *matcher, applies func(model.ObservationIndex) bool) {
	w.matcher, w.applies, w.left = m, applies, weighingPerToken*len(m.words)
	all := len(m.r.Observations)
	w.weights, w.denials, w.masses = resized(w.weights, all), resized(w.denials, all), resized(w.masses, all)
	w.verdicts = resized(w.verdicts, all)
	w.touched, w.denied = w.touched[:0], w.denied[:0]
}

// A verdict is whether an observation applies.
type verdict uint8

const (
	unasked verdict = iota
	admitted
	refused
)

// admits reports whether an observation applies. Each is that of many words.
func (w *weigher) admits(o model.ObservationIndex) bool {
	if w.verdicts[o] == unasked {
		w.verdicts[o] = refused
		if w.applies(o) {
			w.verdicts[o] = admitted
		}
	}
	return w.verdicts[o] == admitted
}

// end lets go of the text.
func (w *weigher) end() { w.matcher, w.applies = nil, nil }

// begin forgets the words.
func (w *weigher) begin() {
	for _, o := range w.touched {
		w.weights[o] = 0
	}
	for _, o := range w.denied {
		w.denials[o] = 0
	}
	w.touched, w.denied, w.stems, w.nothing = w.touched[:0], w.denied[:0], w.stems[:0], 0
}

// add adds a word, unless another form of it was added.
func (w *weigher) add(s *model.Stem) {
	all := model.Span{Start: s.Indications.Start, End: s.Denials.End}
	if all.Len() > 0 && slices.Contains(w.stems, all) {
		return
	}
	w.stems = append(w.stems, all)
	w.left -= all.Len()
	for _, indicated := range model.Part(w.r.Indications, s.Denials) {
		if w.admits(indicated.Observation) {
			w.denied = addWeight(w.denials, w.denied, indicated)
		}
	}
	for _, indicated := range model.Part(w.r.Indications, s.Indications) {
		switch o := indicated.Observation; {
		case o == model.None:
			w.nothing += float64(indicated.Weight)
		case w.admits(o):
			w.touched = addWeight(w.weights, w.touched, indicated)
		}
	}
}

// addWeight adds an indication to the weights, and its observation to those that
// have one.
func addWeight(weights []float64, touched []model.ObservationIndex, i model.Indication) []model.ObservationIndex {
	if weights[i.Observation] == 0 {
		touched = append(touched, i.Observation)
	}
	weights[i.Observation] += float64(i.Weight)
	return touched
}

// read is the most that the words mean with a chance of at least enough: an
// observation, or the one above it where it is open which of those below it, or
// else that one is absent. How long something has lasted is no matter of words.
func (w *weigher) read(enough float64) reading {
	best := reading{observation: model.None, likeliest: model.None}
	if len(w.touched)+len(w.denied) == 0 {
		return best
	}
	top := w.heaviest()
	said, nothing := w.sumMasses(top)+w.sumDenials(top), w.oddsOfNothing()*math.Exp(-top)
	best.observation = w.deepest(enough, said+nothing)
	w.clearMasses()
	if best.observation == model.None {
		best = w.readDenial(math.Log(enoughAbsent*(said+nothing)) + top)
	} else {
		best.likeliest = w.likeliestOf(best.observation)
	}
	best.gain = math.Log1p(said / nothing)
	return best
}

// deepest is the observation of the highest mass among those with the most
// ancestors that have enough of all odds; model.None when none has.
func (w *weigher) deepest(enough, all float64) model.ObservationIndex {
	best, depth := model.ObservationIndex(model.None), uint8(0)
	for _, o := range w.summed {
		if w.masses[o] < enough*all { // as nearly all
			continue
		}
		of := w.depth(o)
		better := best == model.None || of > depth || of == depth && w.masses[o] > w.masses[best]
		if better && w.masses[o] >= w.enoughFor(o, enough)*all && w.r.Observations[o].LastsTo == 0 {
			best, depth = o, of
		}
	}
	return best
}

// heaviest is the highest weight.
func (w *weigher) heaviest() float64 {
	top := math.Inf(-1)
	for _, o := range w.touched {
		top = max(top, w.weights[o])
	}
	for _, o := range w.denied {
		top = max(top, w.denials[o])
	}
	return top
}

// readDenial is the absence that the words mean with a weight of at least enough.
func (w *weigher) readDenial(enough float64) reading {
	for _, o := range w.denied {
		if w.denials[o] >= enough {
			return reading{observation: o, likeliest: o, absent: true}
		}
	}
	return reading{observation: model.None, likeliest: model.None}
}

// sumDenials adds up the odds of the absences, beside the highest weight.
func (w *weigher) sumDenials(top float64) (all float64) {
	for _, o := range w.denied {
		if w.denials[o] >= top-negligible {
			all += math.Exp(w.denials[o] - top)
		}
	}
	return all
}

// enoughFor is the chance that is enough for an observation. What calls for an
// ambulance is not to be taken from a few words that might mean it, and without a
// risk factor there is an interview all the same.
func (w *weigher) enoughFor(o model.ObservationIndex, least float64) float64 {
	switch observation := &w.r.Observations[o]; {
	case observation.Seriousness >= model.SeriousnessEmergency:
		return max(least, enoughSerious)
	case observation.Kind == model.RiskFactor:
		return max(least, enough)
	}
	return least
}

// oddsOfNothing are those of all words together saying nothing, each by chance or
// as one says who has nothing to say, or saying what none of them speaks for.
func (w *weigher) oddsOfNothing() float64 {
	byChance := math.Exp(usuallyNothing - float64(len(w.stems))*math.Log(1-model.SaidOf))
	return byChance + math.Exp(usuallyNothing+w.nothing) + float64(len(w.r.Observations)-len(w.touched))
}

// sumMasses adds up the odds of each observation and those below it, beside the
// highest weight, and returns those of all.
func (w *weigher) sumMasses(top float64) (all float64) {
	for _, o := range w.touched {
		if w.weights[o] < top-negligible {
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

func (w *weigher) clearMasses() {
	for _, o := range w.summed {
		w.masses[o] = 0
	}
	w.summed = w.summed[:0]
}

// likeliestOf is the observation of the highest weight among one and those below
// it.
func (w *weigher) likeliestOf(above model.ObservationIndex) model.ObservationIndex {
	best := model.ObservationIndex(model.None)
	for _, o := range w.touched {
		if (best == model.None || w.weights[o] > w.weights[best]) && (o == above || w.isAncestor(above, o)) {
			best = o
		}
	}
	return best
}

// weightOf is how much a word speaks for what a reading says.
func (w *weigher) weightOf(s *model.Stem, r reading) float64 {
	all := model.Part(w.r.Indications, s.Indications)
	if r.absent {
		all = model.Part(w.r.Indications, s.Denials)
	}
	at, ok := slices.BinarySearchFunc(all, r.likeliest, func(i model.Indication, o model.ObservationIndex) int { return cmp.Compare(i.Observation, o) })
	if !ok {
		return 0
	}
	return float64(all[at].Weight)
}
