// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// encodeNameRanks sorts the names at build time, because clients request sorted lists
// often.
func (e *releaseEncoder) encodeNameRanks() {
	d, r := e.draft, e.release
	r.NameRanks = appendRanks(r.NameRanks, d.Observations, func(o *DraftObservation) string { return o.CommonName })
	r.NameRanks = appendRanks(r.NameRanks, d.Conditions, func(c *DraftCondition) string { return c.CommonName })
	r.NameRanks = appendRanks(r.NameRanks, d.Drugs, func(d *DraftDrug) string { return d.Name })
	r.NameRanks = appendRanks(r.NameRanks, d.Specialists, func(s *DraftNamedItem) string { return s.Name })
	r.NameRanks = appendRanks(r.NameRanks, d.ChronicDiseases, (*DraftChronicDisease).displayName)
}

// appendRanks appends the ranks of concepts by folded name. Concepts with equal names
// keep their list order.
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

// verifyNameRanks checks the number of ranks. It does not check that the ranks match
// the names, because a wrong order is harmless.
func verifyNameRanks(r *Release) error {
	if concepts := len(r.Observations) + len(r.Conditions) + len(r.Drugs) + len(r.Specialists) + len(r.ChronicDiseases); len(r.NameRanks) != concepts {
		return fmt.Errorf("found %d name ranks: expected %d, one for each observation, condition, drug, specialist and chronic disease", len(r.NameRanks), concepts)
	}
	return nil
}

// ObservationNameRank returns the rank of the observation's common name among all
// observations.
func (r *Release) ObservationNameRank(i ObservationIndex) uint32 { return r.NameRanks[i] }

// ConditionNameRank returns the rank of the condition's common name among all conditions.
func (r *Release) ConditionNameRank(i ConditionIndex) uint32 {
	return r.NameRanks[len(r.Observations)+int(i)]
}

// DrugNameRank returns the rank of the name of the drug at position i of Drugs among all
// drugs.
func (r *Release) DrugNameRank(i int) uint32 {
	return r.NameRanks[len(r.Observations)+len(r.Conditions)+i]
}

// SpecialistNameRank returns the rank of the name of the specialist at position i of
// Specialists among all specialists.
func (r *Release) SpecialistNameRank(i int) uint32 {
	return r.NameRanks[len(r.Observations)+len(r.Conditions)+len(r.Drugs)+i]
}

// ChronicDiseaseNameRank returns the rank of the name of the chronic disease at position
// i of ChronicDiseases among all chronic diseases.
func (r *Release) ChronicDiseaseNameRank(i int) uint32 {
	return r.NameRanks[len(r.Observations)+len(r.Conditions)+len(r.Drugs)+len(r.Specialists)+i]
}
