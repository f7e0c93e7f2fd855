// SPDX-License-Identifier: Apache-2.0

// Package catalog lists the concepts of a release that apply at a given age, sorted by
// name. Like package model, it is pure: it does no I/O and keeps no state. Encoding
// concepts for clients is the responsibility of the API packages.
package catalog

import (
	"cmp"
	"slices"

	"golang.org/x/text/cases"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// Conditions returns the conditions that occur at an age in months, sorted by name.
func Conditions(r *model.Release, ageMonths int) []model.ConditionIndex {
	var list []model.ConditionIndex
	for i := range r.Conditions {
		if c := &r.Conditions[i]; ageInRange(c.AgeFrom, c.AgeTo, ageMonths) {
			list = append(list, model.ConditionIndex(i))
		}
	}
	return sortByName(list, func(i model.ConditionIndex) (name, id string) {
		return r.Text(r.Conditions[i].Name), r.ConditionID(i)
	})
}

// Observations returns the observations of a kind that apply at an age in months,
// sorted by name.
func Observations(r *model.Release, kind model.ObservationKind, ageMonths int) []model.ObservationIndex {
	var list []model.ObservationIndex
	from, to := r.ObservationsOfKind(kind)
	for i := from; i < to; i++ {
		if o := &r.Observations[i]; ageInRange(o.AgeFrom, o.AgeTo, ageMonths) {
			list = append(list, i)
		}
	}
	return sortByName(list, func(i model.ObservationIndex) (name, id string) {
		return r.Text(r.Observations[i].Name), r.ObservationID(i)
	})
}

// Children returns the children of an observation that apply at an age in months, in
// the order of their questions.
func Children(r *model.Release, parent model.ObservationIndex, ageMonths int) []model.ObservationIndex {
	return filterByAge(r, model.Slice(r.ChildRefs, r.Observations[parent].Children), ageMonths)
}

// LabTests returns the positions of the laboratory tests with at least one result that
// applies at an age in months, sorted by name.
func LabTests(r *model.Release, ageMonths int) []int {
	var list []int
	for i := range r.LabTests {
		if len(LabResults(r, i, ageMonths)) > 0 {
			list = append(list, i)
		}
	}
	return sortByName(list, func(i int) (name, id string) { return r.Text(r.LabTests[i].Name), r.LabTestID(i) })
}

// LabResults returns the results of a laboratory test that apply at an age in months,
// from lowest to highest.
func LabResults(r *model.Release, test, ageMonths int) []model.ObservationIndex {
	return filterByAge(r, model.Slice(r.LabResultRefs, r.LabTests[test].Results), ageMonths)
}

// LabTestByID returns the position of the laboratory test with the given public ID.
// The ID of one of its results also matches.
func LabTestByID(r *model.Release, id string) (position int, ok bool) {
	if position, ok = r.LabTestByID(id); ok {
		return position, true
	}
	result, ok := r.ObservationByID(id)
	if !ok {
		return model.None, false
	}
	position = slices.IndexFunc(r.LabTests, func(t model.LabTest) bool {
		return slices.Contains(model.Slice(r.LabResultRefs, t.Results), result)
	})
	return position, position >= 0
}

// SpecialistByID returns the position of the specialist with the given public ID.
func SpecialistByID(r *model.Release, id string) (position uint32, ok bool) {
	number, ok := model.ParseID(model.SpecialistPrefix, id)
	if !ok {
		return 0, false
	}
	i := slices.IndexFunc(r.Specialists, func(s model.NamedItem) bool { return s.Number == number })
	return uint32(max(i, 0)), i >= 0
}

// filterByAge returns the observations that apply at an age in months.
func filterByAge(r *model.Release, observations []model.ObservationIndex, ageMonths int) []model.ObservationIndex {
	var list []model.ObservationIndex
	for _, i := range observations {
		if o := &r.Observations[i]; ageInRange(o.AgeFrom, o.AgeTo, ageMonths) {
			list = append(list, i)
		}
	}
	return list
}

func ageInRange(from, to uint16, ageMonths int) bool {
	return int(from) <= ageMonths && ageMonths <= int(to)
}

// sortByName sorts by case-folded name, code point by code point, and then by ID.
// Comparing UTF-8 bytes is equivalent to comparing code points.
func sortByName[T any](list []T, describe func(T) (name, id string)) []T {
	type entry struct {
		folded, id string
		item       T
	}
	fold := cases.Fold()
	entries := make([]entry, len(list))
	for i, item := range list {
		name, id := describe(item)
		entries[i] = entry{fold.String(name), id, item}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.folded, b.folded), cmp.Compare(a.id, b.id))
	})
	for i := range entries {
		list[i] = entries[i].item
	}
	return list
}
