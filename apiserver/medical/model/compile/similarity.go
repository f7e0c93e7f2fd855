// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// maxOverlap is the highest overlap at which patients' answers still distinguish two
// conditions. At 0.5, choosing the likelier of two equally frequent conditions with all
// answers known is wrong in 7 to 25 of 100 cases.
const maxOverlap = 0.5

// checkSimilarConditions records the pairs of conditions that patients' answers do not
// distinguish and that the content does not declare with a reason. It rejects declared
// pairs that can be distinguished.
func (c *compiler) checkSimilarConditions(r *model.Release) {
	declared := c.declaredSimilarPairs()
	profiles := newProfiles(r)
	for a := range r.Conditions {
		for b := a + 1; b < len(r.Conditions); b++ {
			slugs := [2]string{c.conditionSlug(a), c.conditionSlug(b)}
			overlap := profiles.overlap(a, b)
			switch pair := declared[slugs]; {
			case pair == nil && overlap > maxOverlap:
				c.indistinguishable = append(c.indistinguishable, fmt.Sprintf("%s and %s overlap by %.2f", slugs[0], slugs[1], overlap))
			case pair != nil && overlap <= maxOverlap:
				c.reportAt(pair.File, pair.Conditions[0].Line).errorf("%s overlap by only %.2f: remove the pair", pairSlugs(pair), overlap)
			}
		}
	}
}

// declaredSimilarPairs returns the declared pairs by their slugs, in release order.
func (c *compiler) declaredSimilarPairs() map[[2]string]*source.SimilarPair {
	order := map[string]int{}
	for i, condition := range c.draft.Conditions {
		order[c.conditionsByDraft[condition].source.Slug.Text] = i
	}
	declared := map[[2]string]*source.SimilarPair{}
	for _, s := range c.core.SimilarPairs {
		if len(s.Conditions) != 2 {
			c.reportAt(s.File, s.Reason.Line).errorf("alike entry has %d conditions: expected two", len(s.Conditions))
			continue
		}
		p := c.reportAt(s.File, s.Conditions[0].Line)
		c.requiredText(s.File, "reason of alike "+pairSlugs(s), s.Reason)
		for _, w := range s.Conditions {
			if c.conditions[w.Text] == nil {
				p.errorf("unknown condition %s", w.Text)
			}
		}
		pair := [2]string{s.Conditions[0].Text, s.Conditions[1].Text}
		if order[pair[0]] > order[pair[1]] {
			pair[0], pair[1] = pair[1], pair[0]
		}
		if declared[pair] != nil {
			p.errorf("%s are listed twice", pairSlugs(s))
		}
		declared[pair] = s
	}
	return declared
}

func pairSlugs(a *source.SimilarPair) string {
	return a.Conditions[0].Text + " and " + a.Conditions[1].Text
}

// profiles holds the answer frequencies of patients with each condition.
type profiles struct {
	baseline     []float64               // by observation: frequency in the population
	reported     [][]reportedObservation // by condition: observations with a different frequency, sorted
	demographics [][]float64
}

// A reportedObservation is an observation and the share of patients who report it.
type reportedObservation struct {
	observation model.ObservationIndex
	probability float64
}

// newProfiles returns the profiles without laboratory results, which patients cannot
// report.
func newProfiles(r *model.Release) *profiles {
	p := &profiles{reported: make([][]reportedObservation, len(r.Conditions))}
	for i := range r.Observations {
		o := &r.Observations[i]
		p.baseline = append(p.baseline, o.Leak)
		if o.Kind == model.LabResult {
			continue
		}
		shares := map[int]float64{}
		for _, link := range model.Slice(r.LinksByObservation, o.Links) {
			shares[int(link.Other)] = link.Probability
		}
		for _, f := range model.Slice(r.Factors, o.Factors) {
			shares[int(f.Condition)] = probabilityUnderFactor(o.Leak, f)
		}
		for condition, share := range shares {
			p.reported[condition] = append(p.reported[condition], reportedObservation{model.ObservationIndex(i), share})
		}
	}
	for i := range r.Conditions {
		p.demographics = append(p.demographics, demographics(&r.Conditions[i]))
	}
	return p
}

// probabilityUnderFactor returns the share of patients with a condition who have an
// observation with a factor for it, given its baseline share in the population.
func probabilityUnderFactor(baseline float64, f model.Factor) float64 {
	present, absent := baseline*f.Present, (1-baseline)*f.Absent
	return present / (present + absent)
}

// demographics returns the shares of a condition's patients by sex and age band.
func demographics(c *model.Condition) []float64 {
	shares := slices.Concat(c.Prior[0][:], c.Prior[1][:])
	sum := 0.0
	for _, prior := range shares {
		sum += prior
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

// overlap returns the Bhattacharyya coefficient of the answers of patients with two
// conditions: 1 if no answer distinguishes them, 0 if an answer distinguishes them with
// certainty. It treats observations as independent, like the ranking.
func (p *profiles) overlap(a, b int) float64 {
	coefficient := 0.0
	for i, share := range p.demographics[a] {
		coefficient += math.Sqrt(share * p.demographics[b][i])
	}
	first, second := p.reported[a], p.reported[b]
	for len(first) > 0 || len(second) > 0 {
		o, inFirst, inSecond := nextObservation(first, second)
		x, y := p.baseline[o], p.baseline[o]
		if inFirst {
			x, first = first[0].probability, first[1:]
		}
		if inSecond {
			y, second = second[0].probability, second[1:]
		}
		coefficient *= math.Sqrt(x*y) + math.Sqrt((1-x)*(1-y))
	}
	return coefficient
}

// nextObservation returns the next observation of two sorted lists and which of them
// contain it.
func nextObservation(first, second []reportedObservation) (o model.ObservationIndex, inFirst, inSecond bool) {
	switch {
	case len(second) == 0 || len(first) > 0 && first[0].observation < second[0].observation:
		return first[0].observation, true, false
	case len(first) == 0 || second[0].observation < first[0].observation:
		return second[0].observation, false, true
	}
	return first[0].observation, true, true
}
