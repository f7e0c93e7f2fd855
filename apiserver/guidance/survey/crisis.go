// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// InCrisis says whether what was answered has to do with self-harm, suicide, violence or
// a mind out of control: as a symptom or a risk factor that is there, or in the patient's
// own words, which nobody else may read in time. How urgent it is does not matter.
func InCrisis(p Progress, w section.World) bool { return inCrisis(p.answered(w)) }

func inCrisis(c *section.Case) bool {
	for _, fact := range c.Facts() {
		if fact.ChoiceID == guidance.Present && fact.Observation != model.None && ofCrisis(c.Release, fact.Observation) {
			return true
		}
	}
	for _, said := range words(c) {
		if slices.ContainsFunc(c.Mentioned(said.Text), func(o model.ObservationIndex) bool { return ofCrisis(c.Release, o) }) {
			return true
		}
	}
	return false
}

// ofCrisis says whether an observation, or one that it is a detail of, is about a crisis.
func ofCrisis(r *model.Release, o model.ObservationIndex) bool {
	for ; o != model.None; o = r.Observations[o].Parent {
		if r.Observations[o].Topic == model.Crisis {
			return true
		}
	}
	return false
}
