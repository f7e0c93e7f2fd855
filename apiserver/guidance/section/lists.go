// SPDX-License-Identifier: Apache-2.0

package section

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/catalogue"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// ReleaseLists are the lists that a release has by itself, symptoms and
// specialists; all others are those of Others, which may be nil. Names are copies
// and may outlive the lease.
type ReleaseLists struct {
	Release *model.Release
	Others  Lists
}

// Find implements Lists.
func (l ReleaseLists) Find(list guidance.SourceList, id string) (ListItem, bool) {
	switch list.Name {
	case guidance.SymptomList:
		return l.symptom(list, id)
	case guidance.SpecialistList:
		return l.specialist(id)
	}
	if l.Others == nil {
		return ListItem{}, false
	}
	return l.Others.Find(list, id)
}

// symptom finds a symptom or a risk factor that applies to the patient.
func (l ReleaseLists) symptom(list guidance.SourceList, id string) (ListItem, bool) {
	o, ok := l.Release.ObservationByID(id)
	if !ok || l.Release.Observations[o].Kind == model.LabResult || !Applies(l.Release, o, list.Sex, list.Age) {
		return ListItem{}, false
	}
	return ListItem{ID: id, Name: strings.Clone(assessment.ItemName(l.Release, o))}, true
}

func (l ReleaseLists) specialist(id string) (ListItem, bool) {
	position, ok := catalogue.SpecialistByID(l.Release, id)
	if !ok {
		return ListItem{}, false
	}
	return ListItem{ID: id, Name: strings.Clone(assessment.SpecialistName(l.Release, position).Name)}, true
}

// Applies reports whether an observation can apply to a patient, as far as sex and
// age are known.
func Applies(r *model.Release, i model.ObservationIndex, sex string, age guidance.Age) bool {
	o := &r.Observations[i]
	if known, err := model.ParseSex(sex); err == nil && !o.Sex.Admits(known) {
		return false
	}
	months := age.Months()
	return !age.Known() || int(o.AgeFrom) <= months && months <= int(o.AgeTo)
}
