// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/catalog"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// ReleaseLists are the knowledge lists of a release. The names in list items are copies that
// outlive the lease.
type ReleaseLists struct{ Release *model.Release }

// Find implements Lists.
func (l ReleaseLists) Find(list record.SourceList, id string) (ListItem, bool) {
	switch list.Name {
	case record.SymptomList:
		return l.findSymptom(list, id)
	case record.SpecialistList:
		return l.findSpecialist(id)
	case record.ChronicDiseaseList:
		return l.findChronicDisease(id)
	case record.HospitalizationList:
		return l.findHospitalization(list, id)
	case record.DrugList:
		return l.findDrug(id)
	}
	return ListItem{}, false
}

// findSymptom finds a symptom or risk factor that applies to the patient.
func (l ReleaseLists) findSymptom(list record.SourceList, id string) (ListItem, bool) {
	o, ok := l.Release.ObservationByID(id)
	if !ok || l.Release.Observations[o].Kind == model.LabResult || !Applies(l.Release, o, list.Sex, list.Age) {
		return ListItem{}, false
	}
	return ListItem{ID: id, Name: strings.Clone(assessment.ItemName(l.Release, o))}, true
}

func (l ReleaseLists) findChronicDisease(id string) (ListItem, bool) {
	position, ok := l.Release.ChronicDiseaseByID(id)
	if !ok {
		return ListItem{}, false
	}
	disease := l.Release.ChronicDiseases[position]
	return ListItem{ID: id, Name: strings.Clone(l.Release.Text(disease.Name)), RiskFactors: l.observationIDs(l.Release.DiseaseRiskFactors, disease.RiskFactors)}, true
}

// findHospitalization finds a risk factor that is a reason for a hospital stay. The item
// implies this risk factor.
func (l ReleaseLists) findHospitalization(list record.SourceList, id string) (ListItem, bool) {
	o, ok := l.Release.ObservationByID(id)
	if !ok || !slices.Contains(l.Release.Hospitalizations, o) {
		return ListItem{}, false
	}
	item, ok := l.findSymptom(list, id)
	item.RiskFactors = []string{id}
	return item, ok
}

func (l ReleaseLists) findDrug(id string) (ListItem, bool) {
	position, ok := l.Release.DrugByID(id)
	if !ok {
		return ListItem{}, false
	}
	drug := l.Release.Drugs[position]
	return ListItem{ID: id, Name: strings.Clone(l.Release.Text(drug.Name)), RiskFactors: l.observationIDs(l.Release.DrugRiskFactors, drug.RiskFactors)}, true
}

// observationIDs returns the IDs of a span of observations.
func (l ReleaseLists) observationIDs(observations []model.ObservationIndex, span model.Span) []string {
	ids := make([]string, 0, span.Len())
	for _, o := range observations[span.Start:span.End] {
		ids = append(ids, l.Release.ObservationID(o))
	}
	return ids
}

func (l ReleaseLists) findSpecialist(id string) (ListItem, bool) {
	position, ok := catalog.SpecialistByID(l.Release, id)
	if !ok {
		return ListItem{}, false
	}
	return ListItem{ID: id, Name: strings.Clone(assessment.SpecialistName(l.Release, position).Name)}, true
}

// Applies reports whether an observation can apply to a patient. An unknown sex or age does
// not exclude it.
func Applies(r *model.Release, i model.ObservationIndex, sex string, age record.Age) bool {
	o := &r.Observations[i]
	if known, err := model.ParseSex(sex); err == nil && !o.Sex.Includes(known) {
		return false
	}
	months := age.Months()
	return !age.Known() || int(o.AgeFrom) <= months && months <= int(o.AgeTo)
}
