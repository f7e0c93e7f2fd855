// SPDX-License-Identifier: Apache-2.0

// Package catalogue lists the concepts of a release as clients see them: those
// of an age, in the order of their names. It is pure, as the model is. How a
// concept is written down for a client is not its business.
package catalogue

import (
	"cmp"
	"slices"

	"golang.org/x/text/cases"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// Conditions are the conditions that occur at an age in months, by name.
func Conditions(r *model.Release, ageMonths int) []model.ConditionIndex {
	var list []model.ConditionIndex
	for i := range r.Conditions {
		if c := &r.Conditions[i]; occurs(c.AgeFrom, c.AgeTo, ageMonths) {
			list = append(list, model.ConditionIndex(i))
		}
	}
	return byName(list, func(i model.ConditionIndex) (name, id string) {
		return r.Text(r.Conditions[i].Name), r.ConditionID(i)
	})
}

// Observations are the observations of a kind that apply at an age in months,
// by name.
func Observations(r *model.Release, kind model.ObservationKind, ageMonths int) []model.ObservationIndex {
	var list []model.ObservationIndex
	from, to := r.ObservationsOfKind(kind)
	for i := from; i < to; i++ {
		if o := &r.Observations[i]; occurs(o.AgeFrom, o.AgeTo, ageMonths) {
			list = append(list, i)
		}
	}
	return byName(list, func(i model.ObservationIndex) (name, id string) {
		return r.Text(r.Observations[i].Name), r.ObservationID(i)
	})
}

// Children are the children of an observation that apply at an age in months,
// in the order in which they are asked.
func Children(r *model.Release, parent model.ObservationIndex, ageMonths int) []model.ObservationIndex {
	return applicable(r, model.Part(r.ChildRefs, r.Observations[parent].Children), ageMonths)
}

// LabTests are the positions of the laboratory tests that have a result which
// applies at an age in months, by name.
func LabTests(r *model.Release, ageMonths int) []int {
	var list []int
	for i := range r.LabTests {
		if len(LabResults(r, i, ageMonths)) > 0 {
			list = append(list, i)
		}
	}
	return byName(list, func(i int) (name, id string) { return r.Text(r.LabTests[i].Name), r.LabTestID(i) })
}

// LabResults are the results of a laboratory test that apply at an age in
// months, from the lowest.
func LabResults(r *model.Release, test, ageMonths int) []model.ObservationIndex {
	return applicable(r, model.Part(r.LabResultRefs, r.LabTests[test].Results), ageMonths)
}

// LabTestByID finds the position of a laboratory test by its public id or by
// that of one of its results.
func LabTestByID(r *model.Release, id string) (position int, ok bool) {
	if position, ok = r.LabTestByID(id); ok {
		return position, true
	}
	result, ok := r.ObservationByID(id)
	if !ok {
		return model.None, false
	}
	position = slices.IndexFunc(r.LabTests, func(t model.LabTest) bool {
		return slices.Contains(model.Part(r.LabResultRefs, t.Results), result)
	})
	return position, position >= 0
}

// SpecialistByID finds the position of a specialist by its public id.
func SpecialistByID(r *model.Release, id string) (position uint32, ok bool) {
	number, ok := model.ParseID(model.SpecialistPrefix, id)
	if !ok {
		return 0, false
	}
	i := slices.IndexFunc(r.Specialists, func(s model.Named) bool { return s.Number == number })
	return uint32(max(i, 0)), i >= 0
}

// applicable are those observations of a list that apply at an age in months.
func applicable(r *model.Release, observations []model.ObservationIndex, ageMonths int) []model.ObservationIndex {
	var list []model.ObservationIndex
	for _, i := range observations {
		if o := &r.Observations[i]; occurs(o.AgeFrom, o.AgeTo, ageMonths) {
			list = append(list, i)
		}
	}
	return list
}

func occurs(from, to uint16, ageMonths int) bool {
	return int(from) <= ageMonths && ageMonths <= int(to)
}

// byName sorts by case-folded name, code point by code point, and then by id.
// Comparing the bytes of UTF-8 compares its code points.
func byName[T any](list []T, describe func(T) (name, id string)) []T {
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
