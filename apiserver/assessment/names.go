// SPDX-License-Identifier: Apache-2.0

package assessment

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// A Name is what an observation or a condition is called, by professionals and by
// patients.
type Name struct{ ID, Name, CommonName string }

// ObservationName names an observation.
func ObservationName(r *model.Release, i model.ObservationIndex) Name {
	o := &r.Observations[i]
	return Name{r.ObservationID(i), r.Text(o.Name), r.Text(o.CommonName)}
}

// ConditionName names a condition.
func ConditionName(r *model.Release, i model.ConditionIndex) Name {
	c := &r.Conditions[i]
	return Name{r.ConditionID(i), r.Text(c.Name), r.Text(c.CommonName)}
}

// A Specialist is whom to see.
type Specialist struct{ ID, Name string }

// SpecialistName names the specialist at a position of a release.
func SpecialistName(r *model.Release, i uint32) Specialist {
	return Specialist{r.SpecialistID(i), r.Text(r.Specialists[i].Name)}
}
