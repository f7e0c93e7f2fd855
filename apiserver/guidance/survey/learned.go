// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
)

// Learned is what a survey came to know that a patient's record may lack. What is
// empty was not asked.
type Learned struct {
	Sex string
	Age guidance.Age
}

// Fill completes a record where it is empty, and says whether it was.
func (l Learned) Fill(patient guidance.Patient) (filled guidance.Patient, changed bool) {
	if patient.Sex == "" && l.Sex != "" {
		patient.Sex, changed = l.Sex, true
	}
	if !patient.Age.Known() && !patient.BirthDate.Valid() && l.Age.Known() {
		patient.Age, changed = l.Age, true
	}
	return patient, changed
}

// Whom is whom a survey is about: sex and age as they were known when it began, or as
// they were answered since.
func Whom(p Progress, w section.World) (sex string, age guidance.Age) {
	c := p.answered(w)
	return c.Sex(), c.Age()
}

// learned is what was asked because it was not known.
func (p *Progress) learned(w section.World) Learned {
	var l Learned
	c := p.answered(w)
	if p.Survey.Sex == "" {
		l.Sex = c.Sex()
	}
	if !p.Survey.Age.Known() {
		l.Age = c.Age()
	}
	return l
}
