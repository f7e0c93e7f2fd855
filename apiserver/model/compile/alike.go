// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"math"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

// mostOverlap is the overlap of two conditions up to which patients are told
// apart by what they can tell. At 0.5 whoever knows all of it and takes the
// likelier of two equally frequent conditions is wrong in 7 to 25 of 100.
const mostOverlap = 0.5

// checkAlike notes the pairs of conditions that what patients can tell does not
// separate and the content does not list with a reason, and refuses what it lists
// without need.
func (c *compiler) checkAlike(r *model.Release) {
	listed := c.listedAlike()
	profiles := newProfiles(r)
	for a := range r.Conditions {
		for b := a + 1; b < len(r.Conditions); b++ {
			slugs := [2]string{c.slugOfCondition(a), c.slugOfCondition(b)}
			overlap := profiles.overlap(a, b)
			switch alike := listed[slugs]; {
			case alike == nil && overlap > mostOverlap:
				c.unseparated = append(c.unseparated, fmt.Sprintf("%s and %s overlap by %.2f", slugs[0], slugs[1], overlap))
			case alike != nil && overlap <= mostOverlap:
				c.at(alike.File, alike.Conditions[0].Line).add("%s overlap by %.2f only: the pair need not be listed", slugsOfPair(alike), overlap)
			}
		}
	}
}

// listedAlike are the pairs that are listed, by their slugs in the order of the
// release.
func (c *compiler) listedAlike() map[[2]string]*source.Alike {
	order := map[string]int{}
	for i, condition := range c.draft.Conditions {
		order[c.conditionOf[condition].source.Slug.Text] = i
	}
	listed := map[[2]string]*source.Alike{}
	for _, s := range c.core.Alike {
		if len(s.Conditions) != 2 {
			c.at(s.File, s.Reason.Line).add("alike has %d conditions, expected two", len(s.Conditions))
			continue
		}
		p := c.at(s.File, s.Conditions[0].Line)
		c.text(s.File, "reason of alike "+slugsOfPair(s), s.Reason)
		for _, w := range s.Conditions {
			if c.conditions[w.Text] == nil {
				p.add("unknown condition %s", w.Text)
			}
		}
		pair := [2]string{s.Conditions[0].Text, s.Conditions[1].Text}
		if order[pair[0]] > order[pair[1]] {
			pair[0], pair[1] = pair[1], pair[0]
		}
		if listed[pair] != nil {
			p.add("%s are listed twice", slugsOfPair(s))
		}
		listed[pair] = s
	}
	return listed
}

func slugsOfPair(a *source.Alike) string {
	return a.Conditions[0].Text + " and " + a.Conditions[1].Text
}

// profiles are what patients with each condition tell of themselves.
type profiles struct {
	usual []float64 // by observation: how often anybody reports it
	told  [][]told  // by condition: what is reported more or less often, in order
	who   [][]float64
}

// A told is how often an observation is reported.
type told struct {
	observation model.ObservationIndex
	share       float64
}

// newProfiles leaves out what only laboratories tell.
func newProfiles(r *model.Release) *profiles {
	p := &profiles{told: make([][]told, len(r.Conditions))}
	for i := range r.Observations {
		o := &r.Observations[i]
		p.usual = append(p.usual, o.Leak)
		if o.Kind == model.LabResult {
			continue
		}
		shares := map[int]float64{}
		for _, link := range model.Part(r.LinksByObservation, o.Links) {
			shares[int(link.Other)] = link.Share
		}
		for _, f := range model.Part(r.Factors, o.Factors) {
			shares[int(f.Condition)] = underFactor(o.Leak, f)
		}
		for condition, share := range shares {
			p.told[condition] = append(p.told[condition], told{model.ObservationIndex(i), share})
		}
	}
	for i := range r.Conditions {
		p.who = append(p.who, demographics(&r.Conditions[i]))
	}
	return p
}

// underFactor is how many patients have what multiplies the odds of their
// condition by a factor and is usual in some share.
func underFactor(usual float64, f model.Factor) float64 {
	present, absent := usual*f.Present, (1-usual)*f.Absent
	return present / (present + absent)
}

// demographics are the shares of the patients of each sex and age band.
func demographics(c *model.Condition) []float64 {
	all := slices.Concat(c.Prior[0][:], c.Prior[1][:])
	sum := 0.0
	for _, prior := range all {
		sum += prior
	}
	for i := range all {
		all[i] /= sum
	}
	return all
}

// overlap is the Bhattacharyya coefficient of what patients with two conditions
// tell: 1 where nothing separates them, 0 where anything does for certain.
// Observations count as independent, as the ranking has them.
func (p *profiles) overlap(a, b int) float64 {
	coefficient := 0.0
	for i, share := range p.who[a] {
		coefficient += math.Sqrt(share * p.who[b][i])
	}
	first, second := p.told[a], p.told[b]
	for len(first) > 0 || len(second) > 0 {
		o, inFirst, inSecond := nextOf(first, second)
		x, y := p.usual[o], p.usual[o]
		if inFirst {
			x, first = first[0].share, first[1:]
		}
		if inSecond {
			y, second = second[0].share, second[1:]
		}
		coefficient *= math.Sqrt(x*y) + math.Sqrt((1-x)*(1-y))
	}
	return coefficient
}

// nextOf is the next observation of two lists, and in which of them it stands.
func nextOf(first, second []told) (o model.ObservationIndex, inFirst, inSecond bool) {
	switch {
	case len(second) == 0 || len(first) > 0 && first[0].observation < second[0].observation:
		return first[0].observation, true, false
	case len(first) == 0 || second[0].observation < first[0].observation:
		return second[0].observation, false, true
	}
	return first[0].observation, true, true
}
