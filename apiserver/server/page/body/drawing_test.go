// SPDX-License-Identifier: Apache-2.0

package body

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFigureOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sex  string
		age  int
		want Figure
	}{
		{"female", 0, Child},
		{"male", 11, Child},
		{"female", 12, Woman},
		{"male", 12, Man},
		{"female", 90, Woman},
		{"male", 90, Man},
	} {
		if got := FigureOf(test.sex, test.age); got != test.want {
			t.Errorf("a patient who is %s and %d years old is drawn as a %s, not as a %s", test.sex, test.age, got, test.want)
		}
	}
}

// views are all drawings, by their files.
func views() []view {
	var all []view
	for _, figure := range []Figure{Woman, Man, Child} {
		all = append(all, view{figure, Front}, view{figure, Back})
	}
	return all
}

// A page shows two drawings, on slow lines too.
func TestDrawingsAreSmall(t *testing.T) {
	t.Parallel()
	for _, v := range views() {
		if data, err := files.ReadFile(v.file()); err != nil || len(data) > 3<<10 {
			t.Errorf("%s has %d bytes, expected at most 3 kB: %v", v.file(), len(data), err)
		}
	}
}

// finger is what WCAG 2.2 wants a target to measure at least, in CSS pixels.
const finger = 24

func TestEveryAreaIsHitByAFinger(t *testing.T) {
	t.Parallel()
	m := theMap(t)
	for _, v := range views() {
		for _, area := range m.Drawing(v.figure, v.side).Areas {
			for _, part := range parts(t, area.Path) {
				from, to := part.bounds()
				if w, h := to.x-from.x, to.y-from.y; w < finger || h < finger {
					t.Errorf("%s: a part of %s measures %.0f by %.0f", v.file(), area.Region, w, h)
				}
			}
		}
	}
}

func TestAreasLieInTheViewBox(t *testing.T) {
	t.Parallel()
	m := theMap(t)
	for _, v := range views() {
		drawing := m.Drawing(v.figure, v.side)
		var left, top, width, height float64
		if _, err := fmt.Sscanf(drawing.ViewBox, "%g %g %g %g", &left, &top, &width, &height); err != nil {
			t.Fatalf("%s: view box %q: %v", v.file(), drawing.ViewBox, err)
		}
		for _, path := range append([]Area{{"the outline", drawing.Outline}}, drawing.Areas...) {
			for _, p := range slices.Concat(parts(t, path.Path)...) {
				if p.x < left || p.y < top || p.x > left+width || p.y > top+height {
					t.Errorf("%s: %s reaches %v", v.file(), path.Region, p)
				}
			}
		}
	}
}

// What is pointed at is one region: areas share no more than their borders, which
// are rounded to whole pixels.
func TestAreasDoNotOverlap(t *testing.T) {
	t.Parallel()
	m := theMap(t)
	for _, v := range views() {
		covered, shared := 0, map[string]int{}
		hits := m.Drawing(v.figure, v.side).hits(t)
		for _, regions := range hits {
			covered++
			if len(regions) > 1 {
				shared[strings.Join(regions, " and ")]++
			}
		}
		for regions, points := range shared {
			if points > covered/200 {
				t.Errorf("%s: %s share %d of %d points", v.file(), regions, points, covered)
			}
		}
	}
}

// hits are the regions at each point, the middle of a pixel, that is in any.
func (d Drawing) hits(t testing.TB) map[point][]string {
	t.Helper()
	hits := map[point][]string{}
	for _, area := range d.Areas {
		for _, part := range parts(t, area.Path) {
			for p := range part.pixels() {
				hits[p] = append(hits[p], area.Region)
			}
		}
	}
	return hits
}

// FuzzParse: whatever is read names each region of the side, once, and no other.
func FuzzParse(f *testing.F) {
	m := theMap(f)
	for _, v := range views() {
		data, err := files.ReadFile(v.file())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, v.side == Front)
	}
	f.Add([]byte(`<svg viewBox="0 0 1 1"><path d="M0 0"/></svg>`), true)
	f.Fuzz(func(t *testing.T, data []byte, front bool) {
		side := Back
		if front {
			side = Front
		}
		drawing, err := m.parse(data, side)
		if err != nil {
			return
		}
		var got, want []string
		for _, area := range drawing.Areas {
			got = append(got, area.Region)
		}
		for _, region := range m.Regions() {
			if region.On(side) {
				want = append(want, region.ID)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || drawing.ViewBox == "" || drawing.Outline == "" {
			t.Errorf("read %v from %q", got, data)
		}
	})
}
