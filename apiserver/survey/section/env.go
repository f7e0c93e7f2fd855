// SPDX-License-Identifier: Apache-2.0

package section

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// An Env is the environment of a survey. It must not change while in use; the release is
// leased for the duration of a call.
type Env struct {
	Release  *model.Release
	Engine   *inference.Engine
	Texts    *i18n.Texts // in the survey's language
	Lists    Lists
	Features Features
}

// Features are the optional features of a tenant.
type Features struct {
	// Prefill allows surveys to be created with evidence.
	Prefill bool
	// PrefillConfirmation asks the patient to confirm prefilled evidence. If unset, the
	// evidence is used without confirmation.
	PrefillConfirmation bool
	// PatientResults allows end users to see the assessment. It does not affect the flow.
	PatientResults bool
}

// Lists are the knowledge lists, named in the language of the release.
type Lists interface {
	// Find looks up an ID in a list, filtered for one patient.
	Find(list record.SourceList, id string) (ListItem, bool)
}

// A ListItem is an entry of a knowledge list.
type ListItem struct {
	ID, Name string
	// RiskFactors are the IDs of the observations implied by the item.
	RiskFactors []string
}
