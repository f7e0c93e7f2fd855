// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// Triage describes how urgent a case is.
type Triage struct {
	Level, RootCause string
	Serious          []SeriousObservation
}

// SeriousObservation is a serious observation and its seriousness.
type SeriousObservation struct {
	Name
	Seriousness string
	IsEmergency bool
}

// DescribeTriage describes how urgent a case is. Its level is on the five-level or the
// three-level scale, depending on the options of the assessment.
func DescribeTriage(r *model.Release, triage *inference.Triage) Triage {
	described := Triage{
		Level:     triage.Level.String(),
		RootCause: triage.RootCause.String(),
		Serious:   make([]SeriousObservation, len(triage.Serious)),
	}
	for i, serious := range triage.Serious {
		described.Serious[i] = SeriousObservation{
			Name:        ObservationName(r, serious.Observation),
			Seriousness: serious.Seriousness.String(),
			IsEmergency: serious.Seriousness >= model.SeriousnessEmergency,
		}
	}
	return described
}
