// SPDX-License-Identifier: Apache-2.0

package assessment

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// A Name holds the ID of an observation or a condition, its professional name and its
// common name for patients.
type Name struct{ ID, Name, CommonName string }

// ObservationName returns the name of an observation.
func ObservationName(r *model.Release, i model.ObservationIndex) Name {
	o := &r.Observations[i]
	return Name{r.ObservationID(i), r.Text(o.Name), r.Text(o.CommonName)}
}

// ConditionName returns the name of a condition.
func ConditionName(r *model.Release, i model.ConditionIndex) Name {
	c := &r.Conditions[i]
	return Name{r.ConditionID(i), r.Text(c.Name), r.Text(c.CommonName)}
}

// A Specialist is a medical specialist to consult.
type Specialist struct{ ID, Name string }

// SpecialistName returns the specialist at position i of the release.
func SpecialistName(r *model.Release, i uint32) Specialist {
	return Specialist{r.SpecialistID(i), r.Text(r.Specialists[i].Name)}
}
