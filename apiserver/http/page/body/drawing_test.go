// SPDX-License-Identifier: Apache-2.0

package body

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestFigureFor(t *testing.T) {
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
		if got := FigureFor(test.sex, test.age); got != test.want {
			t.Errorf("FigureFor(%q, %d) = %s, want %s", test.sex, test.age, got, test.want)
		}
	}
}

// allViews returns all drawings.
func allViews() []view {
	var all []view
	for _, figure := range []Figure{Woman, Man, Child} {
		all = append(all, view{figure, Front}, view{figure, Back})
	}
	return all
}

// A page shows two drawings, even on slow connections.
func TestDrawingsAreSmall(t *testing.T) {
	t.Parallel()
	for _, v := range allViews() {
		if data, err := files.ReadFile(v.path()); err != nil || len(data) > 3<<10 {
			t.Errorf("%s has %d bytes, expected at most 3 kB: %v", v.path(), len(data), err)
		}
	}
}

// minTargetSize is the minimum target size of WCAG 2.2, in CSS pixels.
const minTargetSize = 24

func TestAreasMeetMinimumTargetSize(t *testing.T) {
	t.Parallel()
	m := mustRead(t)
	for _, v := range allViews() {
		for _, area := range m.Drawing(v.figure, v.side).Areas {
			for _, part := range parsePath(t, area.Path) {
				from, to := part.bounds()
				if w, h := to.x-from.x, to.y-from.y; w < minTargetSize || h < minTargetSize {
					t.Errorf("%s: part of %s is %.0f by %.0f pixels", v.path(), area.Region, w, h)
				}
			}
		}
	}
}

func TestAreasAreInsideViewBox(t *testing.T) {
	t.Parallel()
	m := mustRead(t)
	for _, v := range allViews() {
		drawing := m.Drawing(v.figure, v.side)
		var left, top, width, height float64
		if _, err := fmt.Sscanf(drawing.ViewBox, "%g %g %g %g", &left, &top, &width, &height); err != nil {
			t.Fatalf("%s: view box %q: %v", v.path(), drawing.ViewBox, err)
		}
		for _, path := range append([]Area{{"the outline", drawing.Outline}}, drawing.Areas...) {
			for _, p := range slices.Concat(parsePath(t, path.Path)...) {
				if p.x < left || p.y < top || p.x > left+width || p.y > top+height {
					t.Errorf("%s: %s extends to %v", v.path(), path.Region, p)
				}
			}
		}
	}
}

// A point belongs to one region: areas share at most their borders, which are rounded to whole
// pixels.
func TestAreasDoNotOverlap(t *testing.T) {
	t.Parallel()
	m := mustRead(t)
	for _, v := range allViews() {
		covered, shared := 0, map[string]int{}
		hits := m.Drawing(v.figure, v.side).regionsByPixel(t)
		for _, regions := range hits {
			covered++
			if len(regions) > 1 {
				shared[strings.Join(regions, " and ")]++
			}
		}
		for regions, points := range shared {
			if points > covered/200 {
				t.Errorf("%s: %s share %d of %d points", v.path(), regions, points, covered)
			}
		}
	}
}

// regionsByPixel returns the regions at each pixel center.
func (d Drawing) regionsByPixel(t testing.TB) map[point][]string {
	t.Helper()
	hits := map[point][]string{}
	for _, area := range d.Areas {
		for _, part := range parsePath(t, area.Path) {
			for p := range part.pixels() {
				hits[p] = append(hits[p], area.Region)
			}
		}
	}
	return hits
}

// FuzzParse checks that a parsed drawing has each region of the side exactly once, and no other.
func FuzzParse(f *testing.F) {
	m := mustRead(f)
	for _, v := range allViews() {
		data, err := files.ReadFile(v.path())
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
		drawing, err := m.parseDrawing(data, side)
		if err != nil {
			return
		}
		var got, want []string
		for _, area := range drawing.Areas {
			got = append(got, area.Region)
		}
		for _, region := range m.Regions() {
			if region.VisibleFrom(side) {
				want = append(want, region.ID)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || drawing.ViewBox == "" || drawing.Outline == "" {
			t.Errorf("parsed regions %v from %q", got, data)
		}
	})
}
