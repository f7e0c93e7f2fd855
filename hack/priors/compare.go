// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile/source"
)

const (
	// firstVisits is the share of office visits that are the first for a new
	// problem; the others are follow-up, check-ups and chronic illness. The
	// survey itself counts about half of its visits so.
	firstVisits = 0.5
	// leastSampled is how many visits a band must have to be looked at alone;
	// smaller ones are pooled with their neighbours.
	leastSampled = 30
)

// A comparison holds the prior of a condition against the survey. Rates are
// episodes of 10,000 new ones.
type comparison struct {
	diagnosis
	visits int // sampled
	rate   pair
	women  pair // their share of the episodes
	bands  []bandRate
}

// A pair is a figure of the survey and that of the content.
type pair struct{ survey, content float64 }

// ratio is how many times the figure of the survey that of the content is.
func (p pair) ratio() float64 { return p.content / p.survey }

// off is by which factor the figures are apart, in either direction.
func (p pair) off() float64 { return math.Exp(math.Abs(math.Log(p.ratio()))) }

// A bandRate is the rate in one age band, or in several that are pooled.
type bandRate struct {
	name   string
	visits int
	rate   pair
}

// compareAll compares the priors of the content in the tree with the survey.
func compareAll() ([]comparison, error) {
	s, err := readSurvey(survey2000)
	if err != nil {
		return nil, err
	}
	diagnoses, err := readDiagnoses(diagnosesFile)
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
		priors[c.Slug.Text] = priorOf(c)
	}
	var all []comparison
	for _, d := range diagnoses {
		p, ok := priors[d.Condition]
		if !ok {
			return nil, fmt.Errorf("comparing %s: the catalogue has no such condition", d.Condition)
		}
		all = append(all, compare(s, d, p))
	}
	slices.SortFunc(all, func(a, b comparison) int {
		return cmp.Or(cmp.Compare(b.rate.off(), a.rate.off()), cmp.Compare(a.Condition, b.Condition))
	})
	return all, nil
}

// A prior is how many of 10,000 new episodes of one sex and age band of the
// survey are the condition.
type prior [2][]float64

func priorOf(c *source.Condition) (p prior) {
	for sex := range p {
		p[sex] = make([]float64, len(bands))
		name := model.Sex(sex).String()
		if c.Sex.Text != "" && c.Sex.Text != name {
			continue
		}
		of := c.Prior.Per10000.Value * multiplier(c.Prior.Sex, name)
		for i, band := range bands {
			for part, share := range band.shares {
				p[sex][i] += share * of * multiplier(c.Prior.Ages, model.AgeBandNames[part])
			}
		}
	}
	return p
}

// multiplier is that of a name, 1 where none is given.
func multiplier(given map[source.Word]source.Number, name string) float64 {
	for word, number := range given {
		if word.Text == name {
			return number.Value
		}
	}
	return 1
}

func compare(s *survey, d diagnosis, p prior) comparison {
	f := field{found: s.of(d.ICD9), all: s.all, prior: p, episodes: 1 / (d.VisitsPerEpisode * firstVisits)}
	everybody, women := f.sum(0, len(bands), 0, 1), f.sum(0, len(bands), int(model.Female))
	c := comparison{
		diagnosis: d,
		visits:    everybody.sampled,
		rate:      everybody.rate(),
		women:     pair{women.survey / everybody.survey, women.content / everybody.content},
	}
	for from := 0; from < len(bands); {
		to := f.pool(from)
		pooled := f.sum(from, to, 0, 1)
		c.bands = append(c.bands, bandRate{bandName(from, to), pooled.sampled, pooled.rate()})
		from = to
	}
	return c
}

// bandName is "18-64" for the bands 18-29, 30-44 and 45-64.
func bandName(from, to int) string {
	first, _, _ := strings.Cut(bands[from].name, "-")
	_, last, _ := strings.Cut(bands[to-1].name, "-")
	return first + "-" + last
}

// A field is the ground on which the prior of a condition meets the survey.
type field struct {
	found    grid // the visits for the condition
	all      grid
	prior    prior
	episodes float64 // that a visit stands for
}

// A total is of some sexes and bands: how many visits the condition has, and
// how many episodes the survey and the content expect among all visits.
type total struct {
	sampled, all    int
	survey, content float64
}

func (f *field) sum(from, to int, sexes ...int) (t total) {
	for _, sex := range sexes {
		for band := from; band < to; band++ {
			all := f.all[sex][band].weighted
			t.sampled += f.found[sex][band].sampled
			t.all += all
			t.survey += f.episodes * float64(f.found[sex][band].weighted)
			t.content += f.prior[sex][band] / 10_000 * float64(all)
		}
	}
	return t
}

func (t total) rate() pair {
	return pair{10_000 * t.survey / float64(t.all), 10_000 * t.content / float64(t.all)}
}

// pool is the end of the bands from one on that have enough visits together.
// What is left at the end and too small by itself goes with them.
func (f *field) pool(from int) (to int) {
	for to = from + 1; to < len(bands); to++ {
		if f.sum(from, to, 0, 1).sampled >= leastSampled && f.sum(to, len(bands), 0, 1).sampled >= leastSampled {
			return to
		}
	}
	return to
}
