// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A ChronicDisease is a condition that patients report when asked about chronic
// illnesses. It has the ID of the condition but its own name. The condition is the
// reason for a consultation, such as an epileptic seizure, and the disease is the
// patient's permanent illness, such as epilepsy.
type ChronicDisease struct {
	Condition ConditionIndex
	Name      StringRef
	// RiskFactors is a span of DiseaseRiskFactors, sorted by index: the risk factors of
	// every patient with the disease. Their questions are answered with yes.
	RiskFactors Span
}

// ChronicDiseaseByID returns the position in ChronicDiseases of the condition with a
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

func (e *releaseEncoder) encodeChronicDiseases() {
	r := e.release
	conditionAt := indexByValue(e.draft.Conditions)
	slices.SortStableFunc(e.draft.ChronicDiseases, func(a, b *DraftChronicDisease) int {
		return cmp.Compare(mustIndex(conditionAt, a.Condition), mustIndex(conditionAt, b.Condition))
	})
	for _, d := range e.draft.ChronicDiseases {
		r.ChronicDiseases = append(r.ChronicDiseases, ChronicDisease{
			Condition:   ConditionIndex(mustIndex(conditionAt, d.Condition)),
			Name:        e.internText(d.displayName()),
			RiskFactors: appendSpan(&r.DiseaseRiskFactors, e.sortedObservationIndexes(d.RiskFactors)...),
		})
	}
	r.Hospitalizations = e.observationIndexes(e.draft.Hospitalizations)
}

// displayName returns the name by which patients know the disease.
func (d *DraftChronicDisease) displayName() string {
	return cmp.Or(d.Name, d.Condition.CommonName, d.Condition.Name)
}

// sortedObservationIndexes returns the indexes of observations, sorted.
func (e *releaseEncoder) sortedObservationIndexes(list []*DraftObservation) []ObservationIndex {
	indexes := e.observationIndexes(list)
	slices.Sort(indexes)
	return indexes
}

func verifyChronicDiseases(r *Release) error {
	factors := spanChecker{section: "disease factors", length: len(r.DiseaseRiskFactors)}
	last := ConditionIndex(None)
	for i, d := range r.ChronicDiseases {
		if d.Condition <= last || int(d.Condition) >= len(r.Conditions) {
			return fmt.Errorf("chronic disease %d: condition %d after %d: out of order or out of range [0,%d)", i, d.Condition, last, len(r.Conditions))
		}
		last = d.Condition
		if d.Name.Length == 0 {
			return fmt.Errorf("chronic disease %s: missing name", r.ConditionID(d.Condition))
		}
		if err := errors.Join(verifyTexts(r, d.Name), factors.check(d.RiskFactors), verifyRiskFactorRefs(r, r.DiseaseRiskFactors, d.RiskFactors)); err != nil {
			return fmt.Errorf("chronic disease %s: %w", r.ConditionID(d.Condition), err)
		}
	}
	return factors.checkComplete()
}

func verifyHospitalizations(r *Release) error {
	listed := map[ObservationIndex]bool{}
	for i, o := range r.Hospitalizations {
		if o < 0 || int(o) >= len(r.Observations) || r.Observations[o].Kind != RiskFactor || listed[o] {
			return fmt.Errorf("hospitalization %d: observation %d is not a risk factor or is listed twice", i, o)
		}
		listed[o] = true
	}
	return nil
}
