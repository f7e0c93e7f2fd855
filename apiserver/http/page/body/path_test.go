// SPDX-License-Identifier: Apache-2.0

package body

import (
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

type point struct{ x, y float64 }

// A polygon is a subpath with its curves approximated by straight lines.
type polygon []point

// bounds returns the top left and bottom right corners of the bounding box.
func (poly polygon) bounds() (from, to point) {
	from, to = poly[0], poly[0]
	for _, p := range poly {
		from = point{min(from.x, p.x), min(from.y, p.y)}
		to = point{max(to.x, p.x), max(to.y, p.y)}
	}
	return from, to
}

// pixels yields the centers of the pixels that the polygon covers.
func (poly polygon) pixels() iter.Seq[point] {
	return func(yield func(point) bool) {
		from, to := poly.bounds()
		for y := math.Floor(from.y) + 0.5; y < to.y; y++ {
			for x := math.Floor(from.x) + 0.5; x < to.x; x++ {
				if p := (point{x, y}); poly.contains(p) && !yield(p) {
					return
				}
			}
		}
	}
}

// contains reports whether the polygon contains a point, by ray casting.
func (poly polygon) contains(p point) bool {
	inside := false
	for i, a := range poly {
		b := poly[(i+1)%len(poly)]
		if (a.y > p.y) != (b.y > p.y) && p.x < a.x+(p.y-a.y)/(b.y-a.y)*(b.x-a.x) {
			inside = !inside
		}
	}
	return inside
}

// commandArity is the number of parameters of each path command used in the drawings. All but
// the start of a subpath are relative.
var commandArity = map[byte]int{'M': 2, 'l': 2, 'h': 1, 'v': 1, 'q': 4, 'c': 6, 'z': 0}

var (
	pathPattern    = regexp.MustCompile(`^(M(-?\d+) ?(-?\d+)([lhvqc][-\d ]+)*z?)+$`)
	commandPattern = regexp.MustCompile(`([Mlhvqc])([-\d ]+)`)
	numberPattern  = regexp.MustCompile(`-?\d+`)
)

// parsePath parses path data.
func parsePath(t testing.TB, path string) []polygon {
	t.Helper()
	if !pathPattern.MatchString(path) {
		t.Fatalf("path %q: expected parts of M and l, h, v, q, c, z with whole numbers", path)
	}
	var all []polygon
	for _, found := range commandPattern.FindAllStringSubmatch(path, -1) {
		name, given := found[1][0], parseNumbers(t, found[2])
		if len(given)%commandArity[name] != 0 {
			t.Fatalf("path %q: %q has %d numbers", path, found[0], len(given))
		}
		if name == 'M' {
			all = append(all, polygon{{given[0], given[1]}})
			continue
		}
		for step := range slices.Chunk(given, commandArity[name]) {
			last := &all[len(all)-1]
			*last = append(*last, commandPoints(name, step, (*last)[len(*last)-1])...)
		}
	}
	return all
}

func parseNumbers(t testing.TB, text string) []float64 {
	t.Helper()
	var all []float64
	for _, found := range numberPattern.FindAllString(text, -1) {
		value, err := strconv.ParseFloat(found, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, value)
	}
	return all
}

// commandPoints returns the points that a command adds.
func commandPoints(command byte, step []float64, from point) []point {
	switch command {
	case 'h':
		return []point{{from.x + step[0], from.y}}
	case 'v':
		return []point{{from.x, from.y + step[0]}}
	}
	curve := []point{from} // a Bézier curve of any degree; a line has degree 1
	for p := range slices.Chunk(step, 2) {
		curve = append(curve, point{from.x + p[0], from.y + p[1]})
	}
	var points []point
	const lines = 8
	for i := range lines {
		points = append(points, bezierPoint(curve, float64(i+1)/lines))
	}
	return points
}

// bezierPoint returns the point of a Bézier curve at t, by de Casteljau's algorithm.
func bezierPoint(curve []point, t float64) point {
	left := slices.Clone(curve)
	for n := len(left) - 1; n > 0; n-- {
		for i := range n {
			left[i] = point{left[i].x + t*(left[i+1].x-left[i].x), left[i].y + t*(left[i+1].y-left[i].y)}
		}
	}
	return left[0]
}
