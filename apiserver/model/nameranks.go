// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
)

// layNameRanks sorts names once, as lists of them are asked for often.
func (l *layout) layNameRanks() {
	d, r := l.draft, l.release
	r.NameRanks = appendRanks(r.NameRanks, d.Observations, func(o *DraftObservation) string { return o.CommonName })
	r.NameRanks = appendRanks(r.NameRanks, d.Conditions, func(c *DraftCondition) string { return c.CommonName })
	r.NameRanks = appendRanks(r.NameRanks, d.Drugs, func(d *DraftDrug) string { return d.Name })
	r.NameRanks = appendRanks(r.NameRanks, d.Specialists, func(s *DraftNamed) string { return s.Name })
	r.NameRanks = appendRanks(r.NameRanks, d.ChronicDiseases, (*DraftChronicDisease).label)
}

// appendRanks adds the ranks of concepts in order of their folded names, equal
// ones in order of the list.
func appendRanks[T any](ranks []uint32, list []T, name func(T) string) []uint32 {
	folded, order := make([]string, len(list)), make([]int, len(list))
	for i, entry := range list {
		folded[i], order[i] = strings.Join(slices.Collect(token.Words(name(entry))), " "), i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(strings.Compare(folded[a], folded[b]), cmp.Compare(a, b)) })
	first := len(ranks)
	ranks = append(ranks, make([]uint32, len(list))...)
	for rank, i := range order {
		ranks[first+i] = uint32(rank)
	}
	return ranks
}

// verifyNameRanks checks that each concept has one. That the order is that of the
// names it takes on trust: another one does no harm.
func verifyNameRanks(r *Release) error {
	if concepts := len(r.Observations) + len(r.Conditions) + len(r.Drugs) + len(r.Specialists) + len(r.ChronicDiseases); len(r.NameRanks) != concepts {
		return fmt.Errorf("%d name ranks of %d observations, conditions, drugs, specialists and chronic diseases", len(r.NameRanks), concepts)
	}
	return nil
}

// ObservationRank is where the common name of an observation stands among those
// of all observations.
func (r *Release) ObservationRank(i ObservationIndex) uint32 { return r.NameRanks[i] }

// ConditionRank is where the common name of a condition stands among those of all
// conditions.
func (r *Release) ConditionRank(i ConditionIndex) uint32 {
	return r.NameRanks[len(r.Observations)+int(i)]
}

// DrugRank is where the name of the drug at a position of Drugs stands among
// those of all drugs.
func (r *Release) DrugRank(i int) uint32 {
	return r.NameRanks[len(r.Observations)+len(r.Conditions)+i]
}

// SpecialistRank is where the name of the specialist at a position of Specialists
// stands among those of all specialists.
func (r *Release) SpecialistRank(i int) uint32 {
	return r.NameRanks[len(r.Observations)+len(r.Conditions)+len(r.Drugs)+i]
}

// ChronicDiseaseRank is where the name of the chronic disease at a position of
// ChronicDiseases stands among those of all chronic diseases.
func (r *Release) ChronicDiseaseRank(i int) uint32 {
	return r.NameRanks[len(r.Observations)+len(r.Conditions)+len(r.Drugs)+len(r.Specialists)+i]
}
