// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// An Alias is an additional public ID of an observation, for clients that use another
// ID. ObservationByID resolves aliases; lists do not contain them.
type Alias struct {
	// Number is the integer of the public ID. The prefix depends on the kind of the
	// observation.
	Number      uint32
	Observation ObservationIndex
}

// observationByAlias looks up an observation by its kind and the number of an alias.
func (r *Release) observationByAlias(kind ObservationKind, number uint32) (ObservationIndex, bool) {
	i, ok := slices.BinarySearchFunc(r.Aliases, number, func(a Alias, n uint32) int {
		return cmp.Or(cmp.Compare(r.Observations[a.Observation].Kind, kind), cmp.Compare(a.Number, n))
	})
	if !ok {
		return None, false
	}
	return r.Aliases[i].Observation, true
}

// encodeAliases sorts the aliases in the order that observationByAlias searches.
func (e *releaseEncoder) encodeAliases() {
	r := e.release
	for _, a := range e.draft.Aliases {
		index := ObservationIndex(mustIndex(e.observationAt, a.Observation))
		r.Aliases = append(r.Aliases, Alias{Number: a.Number, Observation: index})
	}
	slices.SortStableFunc(r.Aliases, r.compareAliases)
}

func (r *Release) compareAliases(a, b Alias) int {
	return cmp.Or(cmp.Compare(r.Observations[a.Observation].Kind, r.Observations[b.Observation].Kind), cmp.Compare(a.Number, b.Number))
}

// verifyAliases checks that aliases are sorted, refer to an observation, and differ
// from the IDs of all observations. It must run after verifyObservations.
func verifyAliases(r *Release) error {
	for i, a := range r.Aliases {
		if a.Observation < 0 || int(a.Observation) >= len(r.Observations) {
			return fmt.Errorf("alias %d: observation %d out of range [0,%d)", i, a.Observation, len(r.Observations))
		}
	}
	for i, a := range r.Aliases {
		if a.Number == 0 {
			return errors.New("invalid alias number 0: expected a positive number")
		}
		if i > 0 && r.compareAliases(r.Aliases[i-1], a) >= 0 {
			return fmt.Errorf("alias %d is out of order", i)
		}
		id := FormatID(r.Observations[a.Observation].Kind.Prefix(), a.Number)
		if at, _ := r.ObservationByID(id); at != a.Observation || r.ObservationID(at) == id {
			return fmt.Errorf("alias %s is already the ID of an observation", id)
		}
	}
	return nil
}
