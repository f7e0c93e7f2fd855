// SPDX-License-Identifier: Apache-2.0

package section

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A World is what a survey needs beside its data. It must not change while it is
// used: the release is leased for the call.
type World struct {
	Release  *model.Release
	Engine   *engine.Engine
	Words    *Words // in the survey's language
	Lists    Lists
	Features Features
}

// Features are what a tenant may turn on and off.
type Features struct {
	// Prefill lets surveys be created with evidence.
	Prefill bool
	// PrefillConfirmation shows what was prefilled for the patient to confirm;
	// else it is not asked for.
	PrefillConfirmation bool
	// PatientResults lets end users see the assessment. It changes nothing in the
	// flow.
	PatientResults bool
}

// Lists are the knowledge lists in the words of the release.
type Lists interface {
	// Find looks an id up in a list as it is for one patient.
	Find(list guidance.SourceList, id string) (ListItem, bool)
}

// A ListItem is an entry of a knowledge list.
type ListItem struct {
	ID, Name string
	// RiskFactors are the ids of the observations that who takes or has it has.
	RiskFactors []string
}
