// SPDX-License-Identifier: Apache-2.0

package body

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// A Region is a part of the body in lay terms, or a concern of the whole body, such as sleep,
// that cannot be drawn.
type Region struct {
	ID string // a lower-case word such as lower_leg
	// Symptoms are the IDs, such as s_21, of symptoms reported in the region, most common
	// first. No symptom is a child of another; the interview asks for details.
	Symptoms []string
	// Front and Back report which drawings show the region. A region in neither drawing is
	// selected from a list.
	Front, Back bool
}

// VisibleFrom reports whether the drawings of a side show the region.
func (r *Region) VisibleFrom(side Side) bool {
	if side == Front {
		return r.Front
	}
	return r.Back
}

// Regions returns all regions from head to foot, followed by the regions without a drawing.
// The slice is shared and must not be modified.
func (m *Map) Regions() []Region { return m.regions }

// ByID returns the region with an ID.
func (m *Map) ByID(id string) (Region, bool) {
	index, ok := m.index[id]
	if !ok {
		return Region{}, false
	}
	return m.regions[index], true
}

// regionIDPattern matches region IDs, which are used in field names and CSS classes.
var regionIDPattern = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// regionYAML is a region as written in the file.
type regionYAML struct {
	ID       string   `yaml:"id"`
	Sides    []Side   `yaml:"sides"`
	Symptoms []string `yaml:"symptoms"`
}

func (m *Map) readRegions(from fs.FS) error {
	content, err := fs.ReadFile(from, "regions.yaml")
	if err != nil {
		return err
	}
	var all []regionYAML
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		return err
	}
	m.index = map[string]int{}
	for i, w := range all {
		if err := w.validate(); err != nil {
			return fmt.Errorf("region %q: %w", w.ID, err)
		}
		if _, exists := m.index[w.ID]; exists {
			return fmt.Errorf("duplicate region %q", w.ID)
		}
		m.index[w.ID] = i
		m.regions = append(m.regions, w.toRegion())
	}
	return nil
}

func (r *regionYAML) toRegion() Region {
	return Region{
		ID: r.ID, Symptoms: r.Symptoms,
		Front: slices.Contains(r.Sides, Front), Back: slices.Contains(r.Sides, Back),
	}
}

func (r *regionYAML) validate() error {
	if !regionIDPattern.MatchString(r.ID) {
		return fmt.Errorf("invalid id: expected a lowercase word, such as lower_leg")
	}
	for _, side := range r.Sides {
		if side != Front && side != Back {
			return fmt.Errorf("invalid side %q: expected %s or %s", side, Front, Back)
		}
	}
	if len(r.Symptoms) == 0 {
		return fmt.Errorf("missing symptoms")
	}
	for i, id := range r.Symptoms {
		if slices.Contains(r.Symptoms[:i], id) {
			return fmt.Errorf("duplicate symptom %s", id)
		}
	}
	return nil
}
