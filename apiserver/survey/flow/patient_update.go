// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// A PatientUpdate holds data from a survey that may be missing in the patient's record.
// Fields that the survey did not ask for are empty.
type PatientUpdate struct {
	Sex string
	Age record.Age
}

// FillMissing fills the empty fields of a patient record, and reports whether it
// changed any.
func (u PatientUpdate) FillMissing(patient record.Patient) (filled record.Patient, changed bool) {
	if patient.Sex == "" && u.Sex != "" {
		patient.Sex, changed = u.Sex, true
	}
	if !patient.Age.Known() && !patient.BirthDate.IsValid() && u.Age.Known() {
		patient.Age, changed = u.Age, true
	}
	return patient, changed
}

// Demographics returns the patient's sex and age, either known at the start of the survey or
// answered since then.
func Demographics(p Progress, env section.Env) (sex string, age record.Age) {
	state := p.state(env)
	return state.Sex(), state.Age()
}

// patientUpdate returns the sex and age that were unknown at the start of the survey.
func (p *Progress) patientUpdate(env section.Env) PatientUpdate {
	var update PatientUpdate
	state := p.state(env)
	if p.Survey.Sex == "" {
		update.Sex = state.Sex()
	}
	if !p.Survey.Age.Known() {
		update.Age = state.Age()
	}
	return update
}
