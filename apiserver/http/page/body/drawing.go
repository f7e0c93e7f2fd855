// SPDX-License-Identifier: Apache-2.0

package body

import (
	"encoding/xml"
	"fmt"
	"io/fs"
	"slices"
)

// A Figure is a type of drawn body.
type Figure string

// All figures.
const (
	Woman Figure = "woman"
	Man   Figure = "man"
	Child Figure = "child"
)

// adultFigureAge is the age in years from which a patient is drawn as a woman or a man.
// Bodies of younger patients differ little by sex.
const adultFigureAge = 12

// FigureFor returns the figure for a patient. The sex is female or male.
func FigureFor(sex string, ageYears int) Figure {
	switch {
	case ageYears < adultFigureAge:
		return Child
	case sex == "female":
		return Woman
	default:
		return Man
	}
}

// A Side is the side from which a figure is seen.
type Side string

// Both sides.
const (
	Front Side = "front"
	Back  Side = "back"
)

// A Drawing is a figure seen from one side. The front view additionally contains an enlarged
// head, because the parts of the face are too small to point at. All drawings have the same
// scale; lengths are CSS pixels if a drawing is shown at the width of its view box.
type Drawing struct {
	ViewBox string // viewBox attribute of the svg element
	Outline string // path data, stroked but not filled
	Areas   []Area // from head to foot
}

// An Area is the part of a drawing that a region covers, left and right together.
type Area struct {
	Region string // region ID
	Path   string // path data, closed
}

// view is the key of a drawing.
type view struct {
	figure Figure
	side   Side
}

func (v view) path() string { return fmt.Sprintf("drawings/%s-%s.svg", v.figure, v.side) }

// Drawing returns the drawing of a figure from one side. Its areas are shared and must not
// be modified.
func (m *Map) Drawing(figure Figure, side Side) Drawing { return m.drawings[view{figure, side}] }

func (m *Map) readDrawings(from fs.FS) error {
	m.drawings = map[view]Drawing{}
	for _, figure := range []Figure{Woman, Man, Child} {
		for _, side := range []Side{Front, Back} {
			v := view{figure, side}
			content, err := fs.ReadFile(from, v.path())
			if err != nil {
				return err
			}
			if m.drawings[v], err = m.parseDrawing(content, side); err != nil {
				return fmt.Errorf("%s: %w", v.path(), err)
			}
		}
	}
	return nil
}

// svgFile is the file format of a drawing, an SVG that browsers can show. The path without
// a region is the outline.
type svgFile struct {
	XMLName xml.Name `xml:"svg"`
	ViewBox string   `xml:"viewBox,attr"`
	Paths   []struct {
		Region string `xml:"data-region,attr"`
		Data   string `xml:"d,attr"`
	} `xml:"path"`
}

// parseDrawing parses a drawing, which must have an area for each region on its side.
func (m *Map) parseDrawing(content []byte, side Side) (Drawing, error) {
	var file svgFile
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
	return drawing, m.validateDrawing(drawing, side)
}

func (m *Map) validateDrawing(d Drawing, side Side) error {
	if d.ViewBox == "" || d.Outline == "" {
		return fmt.Errorf("missing viewBox or outline")
	}
	for i, area := range d.Areas {
		region, ok := m.ByID(area.Region)
		if !ok || !region.VisibleFrom(side) {
			return fmt.Errorf("region %q is unknown or not visible from the %s", area.Region, side)
		}
		if area.Path == "" {
			return fmt.Errorf("region %q: missing path", area.Region)
		}
		if slices.ContainsFunc(d.Areas[:i], func(a Area) bool { return a.Region == area.Region }) {
			return fmt.Errorf("region %q is listed twice", area.Region)
		}
	}
	for _, region := range m.regions {
		if region.VisibleFrom(side) && !slices.ContainsFunc(d.Areas, func(a Area) bool { return a.Region == region.ID }) {
			return fmt.Errorf("missing area for region %q", region.ID)
		}
	}
	return nil
}
