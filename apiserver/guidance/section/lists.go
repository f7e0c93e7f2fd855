// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/catalogue"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// ReleaseLists are the lists of a release. Names are copies and may outlive the
// lease.
type ReleaseLists struct{ Release *model.Release }

// Find implements Lists.
func (l ReleaseLists) Find(list guidance.SourceList, id string) (ListItem, bool) {
	switch list.Name {
	case guidance.SymptomList:
		return l.symptom(list, id)
	case guidance.SpecialistList:
		return l.specialist(id)
	case guidance.ChronicDiseaseList:
		return l.chronicDisease(id)
	case guidance.HospitalizationList:
		return l.hospitalization(list, id)
	case guidance.DrugList:
		return l.drug(id)
	}
	return ListItem{}, false
}

// symptom finds a symptom or a risk factor that applies to the patient.
func (l ReleaseLists) symptom(list guidance.SourceList, id string) (ListItem, bool) {
	o, ok := l.Release.ObservationByID(id)
	if !ok || l.Release.Observations[o].Kind == model.LabResult || !Applies(l.Release, o, list.Sex, list.Age) {
		return ListItem{}, false
	}
	return ListItem{ID: id, Name: strings.Clone(assessment.ItemName(l.Release, o))}, true
}

func (l ReleaseLists) chronicDisease(id string) (ListItem, bool) {
	position, ok := l.Release.ChronicDiseaseByID(id)
	if !ok {
		return ListItem{}, false
	}
	disease := l.Release.ChronicDiseases[position]
	return ListItem{ID: id, Name: strings.Clone(l.Release.Text(disease.Name)), RiskFactors: l.ids(l.Release.DiseaseFactors, disease.Factors)}, true
}

// hospitalization finds a risk factor that people are in hospital for, which is what
// it means.
func (l ReleaseLists) hospitalization(list guidance.SourceList, id string) (ListItem, bool) {
	o, ok := l.Release.ObservationByID(id)
	if !ok || !slices.Contains(l.Release.Hospitalizations, o) {
		return ListItem{}, false
	}
	item, ok := l.symptom(list, id)
	item.RiskFactors = []string{id}
	return item, ok
}

func (l ReleaseLists) drug(id string) (ListItem, bool) {
	position, ok := l.Release.DrugByID(id)
	if !ok {
		return ListItem{}, false
	}
	drug := l.Release.Drugs[position]
	return ListItem{ID: id, Name: strings.Clone(l.Release.Text(drug.Name)), RiskFactors: l.ids(l.Release.DrugFactors, drug.Factors)}, true
}

// ids are those of a span of observations.
func (l ReleaseLists) ids(of []model.ObservationIndex, span model.Span) []string {
	ids := make([]string, 0, span.Len())
	for _, o := range of[span.Start:span.End] {
		ids = append(ids, l.Release.ObservationID(o))
	}
	return ids
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
