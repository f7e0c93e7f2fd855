// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// An Alias is a further id of an observation: one that clients use for what has
// another id here. It is found by ObservationByID and stands in no list.
type Alias struct {
	// Number is the integer of the public id, whose prefix is that of the kind
	// of the observation.
	Number      uint32
	Observation ObservationIndex
}

// aliasOf finds the observation of a kind that has a number for an alias.
func (r *Release) aliasOf(kind ObservationKind, number uint32) (ObservationIndex, bool) {
	i, ok := slices.BinarySearchFunc(r.Aliases, number, func(a Alias, n uint32) int {
		return cmp.Or(cmp.Compare(r.Observations[a.Observation].Kind, kind), cmp.Compare(a.Number, n))
	})
	if !ok {
		return None, false
	}
	return r.Aliases[i].Observation, true
}

// layAliases puts the aliases in the order that aliasOf searches.
func (l *layout) layAliases() {
	r := l.release
	for _, a := range l.draft.Aliases {
		at := ObservationIndex(position(l.observationAt, a.Observation))
		r.Aliases = append(r.Aliases, Alias{Number: a.Number, Observation: at})
	}
	slices.SortStableFunc(r.Aliases, r.compareAliases)
}

func (r *Release) compareAliases(a, b Alias) int {
	return cmp.Or(cmp.Compare(r.Observations[a.Observation].Kind, r.Observations[b.Observation].Kind), cmp.Compare(a.Number, b.Number))
}

// verifyAliases checks that aliases are in order and lead to an observation,
// and that none is the id of one. It relies on verifyObservations.
func verifyAliases(r *Release) error {
	for i, a := range r.Aliases {
		if a.Observation < 0 || int(a.Observation) >= len(r.Observations) {
			return fmt.Errorf("alias %d is of observation %d of %d", i, a.Observation, len(r.Observations))
		}
	}
	for i, a := range r.Aliases {
		if a.Number == 0 {
			return errors.New("an alias has the number 0")
		}
		if i > 0 && r.compareAliases(r.Aliases[i-1], a) >= 0 {
			return fmt.Errorf("alias %d does not follow the one before", i)
		}
		id := FormatID(r.Observations[a.Observation].Kind.Prefix(), a.Number)
		if at, _ := r.ObservationByID(id); at != a.Observation || r.ObservationID(at) == id {
			return fmt.Errorf("the alias %s is the id of an observation", id)
		}
	}
	return nil
}
