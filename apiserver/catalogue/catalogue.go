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
	var list []model.ObservationIndex
	for _, i := range model.Part(r.ChildRefs, r.Observations[parent].Children) {
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
