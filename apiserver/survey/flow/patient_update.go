// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// A PatientUpdate holds data from a survey that the patient's record may lack. Fields
// that the survey did not ask for are empty.
type PatientUpdate struct {
	Sex string
	Age record.Age
}

// FillMissing fills the empty fields of a patient record, and reports whether it
// changed any.
func (l PatientUpdate) FillMissing(patient record.Patient) (filled record.Patient, changed bool) {
	if patient.Sex == "" && l.Sex != "" {
		patient.Sex, changed = l.Sex, true
	}
	if !patient.Age.Known() && !patient.BirthDate.IsValid() && l.Age.Known() {
		patient.Age, changed = l.Age, true
	}
	return patient, changed
}

// Demographics returns the patient's sex and age, as known at the start of the survey
// or as answered since.
func Demographics(p Progress, w section.Env) (sex string, age record.Age) {
	c := p.state(w)
	return c.Sex(), c.Age()
}

// patientUpdate returns the sex and age that were unknown at the start of the survey.
func (p *Progress) patientUpdate(w section.Env) PatientUpdate {
	var l PatientUpdate
	c := p.state(w)
	if p.Survey.Sex == "" {
		l.Sex = c.Sex()
	}
	if !p.Survey.Age.Known() {
		l.Age = c.Age()
	}
	return l
}
