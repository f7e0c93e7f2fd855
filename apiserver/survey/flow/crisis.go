// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// InCrisis reports whether the answers indicate self-harm, suicide, violence or loss of
// control, either by a present symptom or risk factor, or in free text, which staff may not read
// in time. It does not depend on the triage level.
func InCrisis(p Progress, env section.Env) bool { return inCrisis(p.state(env)) }

func inCrisis(state *section.State) bool {
	for _, fact := range state.Facts() {
		if fact.ChoiceID == record.ChoicePresent && fact.Observation != model.None && isCrisisObservation(state.Release, fact.Observation) {
			return true
		}
	}
	for _, quote := range freeTextQuotes(state) {
		if slices.ContainsFunc(state.MentionedObservations(quote.Text), func(o model.ObservationIndex) bool { return isCrisisObservation(state.Release, o) }) {
			return true
		}
	}
	return false
}

// isCrisisObservation reports whether an observation or one of its ancestors has the
// crisis topic.
func isCrisisObservation(r *model.Release, o model.ObservationIndex) bool {
	for ; o != model.None; o = r.Observations[o].Parent {
		if r.Observations[o].Topic == model.Crisis {
			return true
		}
	}
	return false
}
