// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

const (
	// firstVisitShare is the share of office visits that are the first visit for a new
	// problem; the others are follow-ups, check-ups and visits for chronic illness. The
	// survey classifies about half of its visits as first visits.
	firstVisitShare = 0.5
	// minSampledVisits is the minimum number of visits in a band for a separate
	// comparison. Smaller bands are pooled with their neighbors.
	minSampledVisits = 30
)

// A comparison compares the prior of a condition with the survey. Rates are per 10,000
// new episodes.
type comparison struct {
	diagnosis
	visits int // sampled visits
	rate   pair
	women  pair // fraction of episodes in women
	bands  []bandRate
}

// A pair holds a figure from the survey (observed) and from the content (expected).
type pair struct{ observed, expected float64 }

// ratio returns the content's figure divided by the survey's.
func (p pair) ratio() float64 { return p.expected / p.observed }

// foldDifference returns the factor between the figures, at least 1.
func (p pair) foldDifference() float64 { return math.Exp(math.Abs(math.Log(p.ratio()))) }

// A bandRate is the rate in one age band or several pooled ones.
type bandRate struct {
	name   string
	visits int
	rate   pair
}

// compareAll compares the priors of the content in the source tree with the survey.
func compareAll() ([]comparison, error) {
	visits, err := readVisitData(namcs2000CSV)
	if err != nil {
		return nil, err
	}
	diagnoses, err := readDiagnoses(diagnosesYAML)
	if err != nil {
		return nil, err
	}
	var problems source.Problems
	core, err := source.ReadCore(content.FS, &problems)
	if err != nil {
		return nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	priors := map[string]prior{}
	for _, c := range core.Conditions {
		priors[c.Slug.Text] = computePrior(c)
	}
	var all []comparison
	for _, d := range diagnoses {
		p, ok := priors[d.Condition]
		if !ok {
			return nil, fmt.Errorf("comparing %s: unknown condition", d.Condition)
		}
		all = append(all, compare(visits, d, p))
	}
	slices.SortFunc(all, func(a, b comparison) int {
		return cmp.Or(cmp.Compare(b.rate.foldDifference(), a.rate.foldDifference()), cmp.Compare(a.Condition, b.Condition))
	})
	return all, nil
}

// A prior holds the number of episodes of a condition per 10,000 new episodes, by sex and
// age band of the survey.
type prior [2][]float64

func computePrior(c *source.Condition) (p prior) {
	for sex := range p {
		p[sex] = make([]float64, len(ageBands))
		name := model.Sex(sex).String()
		if c.Sex.Text != "" && c.Sex.Text != name {
			continue
		}
		base := c.Prior.Per10000.Value * multiplier(c.Prior.Sex, name)
		for i, band := range ageBands {
			for part, share := range band.shares {
				p[sex][i] += share * base * multiplier(c.Prior.Ages, model.AgeBandNames[part])
			}
		}
	}
	return p
}

// multiplier returns the multiplier with the given name, or 1 if it is unset.
func multiplier(multipliers map[source.Scalar]source.Number, name string) float64 {
	for key, number := range multipliers {
		if key.Text == name {
			return number.Value
		}
	}
	return 1
}

func compare(visits *visitData, d diagnosis, p prior) comparison {
	grids := comparer{matched: visits.sumByPrefixes(d.ICD9), all: visits.all, prior: p, episodesPerVisit: 1 / (d.VisitsPerEpisode * firstVisitShare)}
	everyone, women := grids.sum(0, len(ageBands), 0, 1), grids.sum(0, len(ageBands), int(model.Female))
	c := comparison{
		diagnosis: d,
		visits:    everyone.sampled,
		rate:      everyone.rate(),
		women:     pair{women.observed / everyone.observed, women.expected / everyone.expected},
	}
	for from := 0; from < len(ageBands); {
		to := grids.poolEnd(from)
		pooled := grids.sum(from, to, 0, 1)
		c.bands = append(c.bands, bandRate{bandName(from, to), pooled.sampled, pooled.rate()})
		from = to
	}
	return c
}

// bandName returns the name of a range of bands, such as "18-64" for the bands 18-29,
// 30-44 and 45-64.
func bandName(from, to int) string {
	first, _, _ := strings.Cut(ageBands[from].name, "-")
	_, last, _ := strings.Cut(ageBands[to-1].name, "-")
	return first + "-" + last
}

// A comparer holds the inputs for the comparison of one condition.
type comparer struct {
	matched          visitGrid // visits for the condition
	all              visitGrid
	prior            prior
	episodesPerVisit float64 // episodes that one visit represents
}

// A total holds sums over sexes and age bands: sampled visits for the condition, weighted
// visits for all conditions, and the episodes according to the survey and the content.
type total struct {
	sampled, all       int
	observed, expected float64
}

func (c *comparer) sum(from, to int, sexes ...int) (t total) {
	for _, sex := range sexes {
		for band := from; band < to; band++ {
			all := c.all[sex][band].weighted
			t.sampled += c.matched[sex][band].sampled
			t.all += all
			t.observed += c.episodesPerVisit * float64(c.matched[sex][band].weighted)
			t.expected += c.prior[sex][band] / 10_000 * float64(all)
		}
	}
	return t
}

func (t total) rate() pair {
	return pair{10_000 * t.observed / float64(t.all), 10_000 * t.expected / float64(t.all)}
}

// poolEnd returns the end of the smallest range of bands from the given start that has
// enough visits. The range includes the remaining bands if these are too small for a
// range of their own.
func (c *comparer) poolEnd(from int) (to int) {
	for to = from + 1; to < len(ageBands); to++ {
		if c.sum(from, to, 0, 1).sampled >= minSampledVisits && c.sum(to, len(ageBands), 0, 1).sampled >= minSampledVisits {
			return to
		}
	}
	return to
}
