// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A ChronicDisease is a condition that patients name when they are asked which
// illnesses they live with. It goes by the id of the condition, and by a name of its
// own: a condition is what brings people to a doctor, such as an epileptic fit, and a
// disease what they live with, epilepsy.
type ChronicDisease struct {
	Condition ConditionIndex
	Name      StringRef
	// Factors, of DiseaseFactors and in order of index, are the risk factors
	// that whoever has the disease has: the answer to their question is yes.
	Factors Span
}

// ChronicDiseaseByID finds the position in ChronicDiseases of a condition by its
// public id, such as c_21.
func (r *Release) ChronicDiseaseByID(id string) (int, bool) {
	condition, ok := r.ConditionByID(id)
	if !ok {
		return None, false
	}
	i, ok := slices.BinarySearchFunc(r.ChronicDiseases, condition, func(d ChronicDisease, c ConditionIndex) int {
		return cmp.Compare(d.Condition, c)
	})
	if !ok {
		return None, false
	}
	return i, true
}

func (l *layout) layChronicDiseases() {
	r := l.release
	conditionAt := positions(l.draft.Conditions)
	slices.SortStableFunc(l.draft.ChronicDiseases, func(a, b *DraftChronicDisease) int {
		return cmp.Compare(position(conditionAt, a.Condition), position(conditionAt, b.Condition))
	})
	for _, d := range l.draft.ChronicDiseases {
		r.ChronicDiseases = append(r.ChronicDiseases, ChronicDisease{
			Condition: ConditionIndex(position(conditionAt, d.Condition)),
			Name:      l.text(d.label()),
			Factors:   appendSpan(&r.DiseaseFactors, l.sortedIndexes(d.Factors)...),
		})
	}
	r.Hospitalizations = l.indexes(l.draft.Hospitalizations)
}

// label is what patients know the disease by.
func (d *DraftChronicDisease) label() string {
	return cmp.Or(d.Name, d.Condition.CommonName, d.Condition.Name)
}

// sortedIndexes are those of observations, in order.
func (l *layout) sortedIndexes(list []*DraftObservation) []ObservationIndex {
	indexes := l.indexes(list)
	slices.Sort(indexes)
	return indexes
}

func verifyChronicDiseases(r *Release) error {
	factors := tiling{section: "disease factors", length: len(r.DiseaseFactors)}
	last := ConditionIndex(None)
	for i, d := range r.ChronicDiseases {
		if d.Condition <= last || int(d.Condition) >= len(r.Conditions) {
			return fmt.Errorf("chronic disease %d is condition %d behind %d, where there are %d", i, d.Condition, last, len(r.Conditions))
		}
		last = d.Condition
		if d.Name.Length == 0 {
			return fmt.Errorf("chronic disease %s: no name", r.ConditionID(d.Condition))
		}
		if err := errors.Join(checkTexts(r, d.Name), factors.take(d.Factors), verifyFactorRefs(r, r.DiseaseFactors, d.Factors)); err != nil {
			return fmt.Errorf("chronic disease %s: %w", r.ConditionID(d.Condition), err)
		}
	}
	return factors.done()
}

func verifyHospitalizations(r *Release) error {
	listed := map[ObservationIndex]bool{}
	for i, o := range r.Hospitalizations {
		if o < 0 || int(o) >= len(r.Observations) || r.Observations[o].Kind != RiskFactor || listed[o] {
			return fmt.Errorf("hospitalization %d is observation %d: no risk factor, or listed before", i, o)
		}
		listed[o] = true
	}
	return nil
}
