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

// namcs2000CSV contains the visits of the US National Ambulatory Medical Care Survey 2000
// by ICD-9-CM code, sex and age band, tabulated from the public use file of the National
// Center for Health Statistics. n is the number of sampled visits, weighted the number of
// visits nationwide that they represent.
//
//go:embed namcs2000.csv
var namcs2000CSV []byte

// An ageBand is an age band of the survey. It consists of age bands of the model, each
// with the fraction of years that it contributes.
type ageBand struct {
	name   string
	shares map[int]float64 // by model.AgeBand
}

// ageBands are the age bands of the survey, youngest first.
var ageBands = []ageBand{
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

// visitCount is the number of visits of one or more sexes and age bands.
type visitCount struct {
	sampled  int
	weighted int
}

func (v visitCount) add(w visitCount) visitCount {
	return visitCount{v.sampled + w.sampled, v.weighted + w.weighted}
}

// A visitGrid holds visits by sex (model.Female, model.Male) and age band.
type visitGrid [2][]visitCount

func newVisitGrid() (g visitGrid) {
	for sex := range g {
		g[sex] = make([]visitCount, len(ageBands))
	}
	return g
}

func (g *visitGrid) add(other *visitGrid) {
	for sex := range g {
		for band := range g[sex] {
			g[sex][band] = g[sex][band].add(other[sex][band])
		}
	}
}

// visitData holds visits by ICD-9-CM code, without the dot, and the total of all
// visits.
type visitData struct {
	byCode map[string]*visitGrid
	all    visitGrid
}

func readVisitData(file []byte) (*visitData, error) {
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reading the survey: %w", err)
	}
	data := &visitData{byCode: map[string]*visitGrid{}, all: newVisitGrid()}
	for i, row := range rows[1:] {
		if err := data.addRow(row); err != nil {
			return nil, fmt.Errorf("reading line %d of the survey: %w", i+2, err)
		}
	}
	return data, nil
}

// addRow adds a row with the columns icd9, sex, age_band, n and weighted.
func (d *visitData) addRow(row []string) error {
	sex := slices.Index([]string{"F", "M"}, row[1])
	band := slices.IndexFunc(ageBands, func(b ageBand) bool { return b.name == row[2] })
	sampled, err := strconv.Atoi(row[3])
	if sex < 0 || band < 0 || err != nil {
		return fmt.Errorf("invalid row %q: expected sex F or M, an age band and a number of visits", row)
	}
	weighted, err := strconv.Atoi(row[4])
	if err != nil {
		return fmt.Errorf("invalid row %q: expected an integer weight: %w", row, err)
	}
	g := d.byCode[row[0]]
	if g == nil {
		empty := newVisitGrid()
		g = &empty
		d.byCode[row[0]] = g
	}
	v := visitCount{sampled, weighted}
	g[sex][band] = g[sex][band].add(v)
	d.all[sex][band] = d.all[sex][band].add(v)
	return nil
}

// sumByPrefixes returns the sum of visits whose code starts with one of the prefixes.
func (d *visitData) sumByPrefixes(prefixes []string) visitGrid {
	sum := newVisitGrid()
	for code, g := range d.byCode {
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(code, prefix) }) {
			sum.add(g)
		}
	}
	return sum
}
