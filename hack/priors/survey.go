// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The survey: visits of the National Ambulatory Medical Care Survey 2000 of the
// United States, a public use file of the National Center for Health
// Statistics, by ICD-9-CM code, sex and age band: how many were sampled, and
// how many visits of the country they stand for.
//
//go:embed namcs2000.csv
var survey2000 []byte

// An ageBand of the survey holds bands of the model, each for a share of its
// years.
type ageBand struct {
	name   string
	shares map[int]float64 // by model.AgeBand
}

// bands are those of the survey, the youngest first.
var bands = []ageBand{
	{"0-1", map[int]float64{0: 3.0 / 24, 1: 21.0 / 24}},
	{"2-5", map[int]float64{2: 1}},
	{"6-11", map[int]float64{3: 1}},
	{"12-17", map[int]float64{4: 1}},
	{"18-29", map[int]float64{5: 1}},
	{"30-44", map[int]float64{6: 1}},
	{"45-64", map[int]float64{7: 1}},
	{"65-74", map[int]float64{8: 1}},
	{"75-120", map[int]float64{9: 1}},
}

// visits are those of one sex and age band, or several.
type visits struct {
	sampled  int
	weighted int
}

func (v visits) plus(w visits) visits { return visits{v.sampled + w.sampled, v.weighted + w.weighted} }

// A grid has visits by sex (model.Female, model.Male) and age band.
type grid [2][]visits

func newGrid() (g grid) {
	for sex := range g {
		g[sex] = make([]visits, len(bands))
	}
	return g
}

func (g *grid) add(other *grid) {
	for sex := range g {
		for band := range g[sex] {
			g[sex][band] = g[sex][band].plus(other[sex][band])
		}
	}
}

// A survey has visits by ICD-9-CM code without its point, and those of all.
type survey struct {
	codes map[string]*grid
	all   grid
}

func readSurvey(file []byte) (*survey, error) {
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reading the survey: %w", err)
	}
	s := &survey{codes: map[string]*grid{}, all: newGrid()}
	for i, row := range rows[1:] {
		if err := s.addRow(row); err != nil {
			return nil, fmt.Errorf("reading line %d of the survey: %w", i+2, err)
		}
	}
	return s, nil
}

// addRow adds the columns icd9, sex, age_band, n and weighted.
func (s *survey) addRow(row []string) error {
	sex := slices.Index([]string{"F", "M"}, row[1])
	band := slices.IndexFunc(bands, func(b ageBand) bool { return b.name == row[2] })
	sampled, err := strconv.Atoi(row[3])
	if sex < 0 || band < 0 || err != nil {
		return fmt.Errorf("%q: expected the sex F or M, an age band and a number of visits", row)
	}
	weighted, err := strconv.Atoi(row[4])
	if err != nil {
		return fmt.Errorf("%q: expected a weight: %w", row, err)
	}
	g := s.codes[row[0]]
	if g == nil {
		empty := newGrid()
		g = &empty
		s.codes[row[0]] = g
	}
	v := visits{sampled, weighted}
	g[sex][band] = g[sex][band].plus(v)
	s.all[sex][band] = s.all[sex][band].plus(v)
	return nil
}

// of adds up the visits whose code begins with one of the prefixes.
func (s *survey) of(prefixes []string) grid {
	sum := newGrid()
	for code, g := range s.codes {
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(code, prefix) }) {
			sum.add(g)
		}
	}
	return sum
}
