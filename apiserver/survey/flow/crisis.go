// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// InCrisis reports whether the answers indicate self-harm, suicide, violence or loss
// of control: by a present symptom or risk factor, or in the patient's own words,
// which might not be read in time. It does not depend on the triage level.
func InCrisis(p Progress, w section.Env) bool { return inCrisis(p.state(w)) }

func inCrisis(c *section.State) bool {
	for _, fact := range c.Facts() {
		if fact.ChoiceID == record.ChoicePresent && fact.Observation != model.None && isCrisisObservation(c.Release, fact.Observation) {
			return true
		}
	}
	for _, said := range freeTextQuotes(c) {
		if slices.ContainsFunc(c.MentionedObservations(said.Text), func(o model.ObservationIndex) bool { return isCrisisObservation(c.Release, o) }) {
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
