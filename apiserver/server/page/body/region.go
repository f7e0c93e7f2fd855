// SPDX-License-Identifier: Apache-2.0

package body

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"
)

// A Region is a part of the body as lay people name it, or a matter of the whole of
// it, such as sleep, which no drawing can show.
type Region struct {
	ID string // a word in small letters, such as lower_leg
	// Symptoms are the ids, such as s_21, of what patients report there, the most
	// usual first. None is a kind of another: what kind it is, the interview asks.
	Symptoms []string
	// Front and Back say in which drawings the region is; what is in neither is
	// chosen from a list.
	Front, Back bool
}

// On reports whether the region is in the drawings of a side.
func (r *Region) On(side Side) bool {
	if side == Front {
		return r.Front
	}
	return r.Back
}

// Regions are all regions from head to foot, and then those that are in no drawing.
// They are shared: read only.
func (m *Map) Regions() []Region { return m.regions }

// ByID is the region with an id.
func (m *Map) ByID(id string) (Region, bool) {
	place, ok := m.places[id]
	if !ok {
		return Region{}, false
	}
	return m.regions[place], true
}

// wellFormed are the ids of regions, which become names of fields and of styles.
var wellFormed = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// written is a region as the file has it.
type written struct {
	ID       string   `yaml:"id"`
	Sides    []Side   `yaml:"sides"`
	Symptoms []string `yaml:"symptoms"`
}

func (m *Map) readRegions(from fs.FS) error {
	content, err := fs.ReadFile(from, "regions.yaml")
	if err != nil {
		return err
	}
	var all []written
	if err := yaml.UnmarshalWithOptions(content, &all, yaml.Strict()); err != nil {
		return err
	}
	m.places = map[string]int{}
	for i, w := range all {
		if err := w.check(); err != nil {
			return fmt.Errorf("region %q: %w", w.ID, err)
		}
		if _, twice := m.places[w.ID]; twice {
			return fmt.Errorf("region %q: expected it once", w.ID)
		}
		m.places[w.ID] = i
		m.regions = append(m.regions, w.region())
	}
	return nil
}

func (w *written) region() Region {
	return Region{
		ID: w.ID, Symptoms: w.Symptoms,
		Front: slices.Contains(w.Sides, Front), Back: slices.Contains(w.Sides, Back),
	}
}

func (w *written) check() error {
	if !wellFormed.MatchString(w.ID) {
		return fmt.Errorf("expected an id in small letters, such as lower_leg")
	}
	for _, side := range w.Sides {
		if side != Front && side != Back {
			return fmt.Errorf("side %q: expected %s or %s", side, Front, Back)
		}
	}
	if len(w.Symptoms) == 0 {
		return fmt.Errorf("expected symptoms")
	}
	for i, id := range w.Symptoms {
		if slices.Contains(w.Symptoms[:i], id) {
			return fmt.Errorf("symptom %s: expected it once", id)
		}
	}
	return nil
}
