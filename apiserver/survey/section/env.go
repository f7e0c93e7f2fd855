// SPDX-License-Identifier: Apache-2.0

package section

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// An Env holds what a survey needs besides its own data. It must not change while in
// use: the release is leased for the call.
type Env struct {
	Release  *model.Release
	Engine   *inference.Engine
	Texts    *i18n.Texts // in the survey's language
	Lists    Lists
	Features Features
}

// Features are the features that a tenant can turn on and off.
type Features struct {
	// Prefill allows surveys to be created with evidence.
	Prefill bool
	// PrefillConfirmation shows prefilled evidence to the patient for confirmation. If
	// unset, it is used without asking.
	PrefillConfirmation bool
	// PatientResults lets end users see the assessment. It does not affect the flow.
	PatientResults bool
}

// Lists are the knowledge lists, named in the language of the release.
type Lists interface {
	// Find looks up an ID in a list as filtered for one patient.
	Find(list record.SourceList, id string) (ListItem, bool)
}

// A ListItem is an entry of a knowledge list.
type ListItem struct {
	ID, Name string
	// RiskFactors are the IDs of the observations that this item implies.
	RiskFactors []string
}
