// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// Triage says how urgent a case is.
type Triage struct {
	Level, RootCause string
	Serious          []Serious
}

// Serious is an observation that is serious, and how much so.
type Serious struct {
	Name
	Seriousness string
	IsEmergency bool
}

// DescribeTriage describes how urgent a case is. Its level is of the five or of
// the three that the options of the assessment asked for.
func DescribeTriage(r *model.Release, triage *engine.Triage) Triage {
	described := Triage{
		Level:     triage.Level.String(),
		RootCause: triage.RootCause.String(),
		Serious:   make([]Serious, len(triage.Serious)),
	}
	for i, serious := range triage.Serious {
		described.Serious[i] = Serious{
			Name:        ObservationName(r, serious.Observation),
			Seriousness: serious.Seriousness.String(),
			IsEmergency: serious.Seriousness >= model.SeriousnessEmergency,
		}
	}
	return described
}
