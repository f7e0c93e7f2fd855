// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// The prefixes of public ids. An id is a prefix followed by a positive decimal integer
// without leading zeros.
const (
	ConditionPrefix  = "c_"
	SymptomPrefix    = "s_"
	RiskFactorPrefix = "p_"
	LabResultPrefix  = "lt_"
	SpecialistPrefix = "sp_"
	CategoryPrefix   = "cc_"
	LabTestPrefix    = "lab_"
	DrugPrefix       = "d_"
)

var observationPrefixes = [...]string{Symptom: SymptomPrefix, RiskFactor: RiskFactorPrefix, LabResult: LabResultPrefix}

// Prefix returns the id prefix of this kind of observation.
func (v ObservationKind) Prefix() string { return observationPrefixes[v] }

// FormatID returns the public id with a prefix and a number.
func FormatID(prefix string, number uint32) string {
	return prefix + strconv.FormatUint(uint64(number), 10)
}

// ParseID parses a public id with the given prefix. It returns false for anything that
// FormatID cannot return, including the number zero.
func ParseID(prefix, id string) (number uint32, ok bool) {
	digits, ok := strings.CutPrefix(id, prefix)
	if !ok || digits == "" || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	return uint32(n), err == nil
}

// ConditionID returns the public id of a condition, such as c_12.
func (r *Release) ConditionID(i ConditionIndex) string {
	return FormatID(ConditionPrefix, r.Conditions[i].Number)
}

// ObservationID returns the public id of an observation, such as s_98, p_7 or lt_3.
func (r *Release) ObservationID(i ObservationIndex) string {
	o := &r.Observations[i]
	return FormatID(o.Kind.Prefix(), o.Number)
}

// SpecialistID returns the public id, such as sp_1, of the specialist at position i of
// Specialists.
func (r *Release) SpecialistID(i uint32) string {
	return FormatID(SpecialistPrefix, r.Specialists[i].Number)
}

// CategoryID returns the public id, such as cc_1, of the category at position i of
// Categories.
func (r *Release) CategoryID(i uint32) string {
	return FormatID(CategoryPrefix, r.Categories[i].Number)
}

// LabTestID returns the public id, such as lab_3, of the laboratory test at position i of
// LabTests.
func (r *Release) LabTestID(i int) string {
	return FormatID(LabTestPrefix, r.LabTests[i].Number)
}

// LabTestByID returns the position of the laboratory test with a public id.
func (r *Release) LabTestByID(id string) (int, bool) {
	number, ok := ParseID(LabTestPrefix, id)
	if !ok {
		return None, false
	}
	i, ok := slices.BinarySearchFunc(r.LabTests, number, func(t LabTest, n uint32) int {
		return cmp.Compare(t.Number, n)
	})
	if !ok {
		return None, false
	}
	return i, true
}

// ConditionByID looks up a condition by its public id.
func (r *Release) ConditionByID(id string) (ConditionIndex, bool) {
	number, ok := ParseID(ConditionPrefix, id)
	if !ok {
		return None, false
	}
	i, ok := slices.BinarySearchFunc(r.Conditions, number, func(c Condition, n uint32) int {
		return cmp.Compare(c.Number, n)
	})
	if !ok {
		return None, false
	}
	return ConditionIndex(i), true
}

// ObservationByID looks up an observation by its public id or an alias.
func (r *Release) ObservationByID(id string) (ObservationIndex, bool) {
	for kind, prefix := range observationPrefixes {
		number, ok := ParseID(prefix, id)
		if !ok {
			continue
		}
		from, to := r.ObservationsOfKind(ObservationKind(kind))
		i, ok := slices.BinarySearchFunc(r.Observations[from:to], number, func(o Observation, n uint32) int {
			return cmp.Compare(o.Number, n)
		})
		if ok {
			return from + ObservationIndex(i), true
		}
		return r.observationByAlias(ObservationKind(kind), number)
	}
	return None, false
}

// ObservationsOfKind returns the half-open index range of the observations of a kind.
func (r *Release) ObservationsOfKind(kind ObservationKind) (from, to ObservationIndex) {
	start := sort.Search(len(r.Observations), func(i int) bool { return r.Observations[i].Kind >= kind })
	end := sort.Search(len(r.Observations), func(i int) bool { return r.Observations[i].Kind > kind })
	return ObservationIndex(start), ObservationIndex(end)
}
