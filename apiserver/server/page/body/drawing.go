// SPDX-License-Identifier: Apache-2.0

package body

import (
	"encoding/xml"
	"fmt"
	"io/fs"
	"slices"
)

// A Figure is a body that is drawn.
type Figure string

// The figures.
const (
	Woman Figure = "woman"
	Man   Figure = "man"
	Child Figure = "child"
)

// grownUp is the age in years from which a patient is drawn as a woman or a man: the
// figure of those who are younger differs little by sex.
const grownUp = 12

// FigureOf is the figure in which a patient sees themselves. The sex is female or
// male.
func FigureOf(sex string, ageYears int) Figure {
	switch {
	case ageYears < grownUp:
		return Child
	case sex == "female":
		return Woman
	default:
		return Man
	}
}

// A Side is one that a figure is seen from.
type Side string

// The sides.
const (
	Front Side = "front"
	Back  Side = "back"
)

// A Drawing is a figure seen from a side; from the front it has the head once more,
// larger, as the parts of the face are too small to be pointed at in the figure. All
// drawings have one scale, and lengths are CSS pixels where a drawing is shown as wide
// as its view box.
type Drawing struct {
	ViewBox string // as the attribute of svg
	Outline string // path data, a line without a filling
	Areas   []Area // from head to foot
}

// An Area is where a region is in a drawing: its left and right parts are one.
type Area struct {
	Region string // its id
	Path   string // path data, closed
}

// view says which drawing is meant.
type view struct {
	figure Figure
	side   Side
}

func (v view) file() string { return fmt.Sprintf("drawings/%s-%s.svg", v.figure, v.side) }

// Drawing is the drawing of a figure, seen from a side. Its areas are shared: read
// only.
func (m *Map) Drawing(figure Figure, side Side) Drawing { return m.drawings[view{figure, side}] }

func (m *Map) readDrawings(from fs.FS) error {
	m.drawings = map[view]Drawing{}
	for _, figure := range []Figure{Woman, Man, Child} {
		for _, side := range []Side{Front, Back} {
			v := view{figure, side}
			content, err := fs.ReadFile(from, v.file())
			if err != nil {
				return err
			}
			if m.drawings[v], err = m.parse(content, side); err != nil {
				return fmt.Errorf("%s: %w", v.file(), err)
			}
		}
	}
	return nil
}

// drawn is a drawing as a file has it: a picture that a browser shows as it is. The
// path without a region is the outline.
type drawn struct {
	XMLName xml.Name `xml:"svg"`
	ViewBox string   `xml:"viewBox,attr"`
	Paths   []struct {
		Region string `xml:"data-region,attr"`
		Data   string `xml:"d,attr"`
	} `xml:"path"`
}

// parse reads a drawing, which has an area for each region on its side.
func (m *Map) parse(content []byte, side Side) (Drawing, error) {
	var file drawn
	if err := xml.Unmarshal(content, &file); err != nil {
		return Drawing{}, err
	}
	drawing := Drawing{ViewBox: file.ViewBox}
	for _, path := range file.Paths {
		if path.Region == "" {
			drawing.Outline += path.Data
		} else {
			drawing.Areas = append(drawing.Areas, Area{Region: path.Region, Path: path.Data})
		}
	}
	return drawing, m.check(drawing, side)
}

func (m *Map) check(d Drawing, side Side) error {
	if d.ViewBox == "" || d.Outline == "" {
		return fmt.Errorf("expected a viewBox and an outline")
	}
	for i, area := range d.Areas {
		region, ok := m.ByID(area.Region)
		if !ok || !region.On(side) {
			return fmt.Errorf("region %q: expected one that is seen from the %s", area.Region, side)
		}
		if area.Path == "" || slices.ContainsFunc(d.Areas[:i], func(a Area) bool { return a.Region == area.Region }) {
			return fmt.Errorf("region %q: expected one path with data", area.Region)
		}
	}
	for _, region := range m.regions {
		if region.On(side) && !slices.ContainsFunc(d.Areas, func(a Area) bool { return a.Region == region.ID }) {
			return fmt.Errorf("expected an area of region %q", region.ID)
		}
	}
	return nil
}
