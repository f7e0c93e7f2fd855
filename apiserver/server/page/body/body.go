// SPDX-License-Identifier: Apache-2.0

// Package body is the map of the body that patients point at to say where it hurts:
// the regions with the symptoms reported of each, their names in plain words, and
// drawings of a woman, a man and a child from the front and from behind. It is data
// with a reader that refuses what does not fit together, and it is pure: which of the
// symptoms apply to a patient, how a page shows the map and what follows from a
// choice are the business of others.
package body

import (
	"embed"
	"fmt"
	"io/fs"
)

// files has the regions, the drawings named by figure and side, and the names in a
// file for each language.
//
//go:embed regions.yaml drawings/*.svg names/*.yaml
var files embed.FS

// A Map is the regions with their names and drawings. It never changes, so that all
// who read it may share it.
type Map struct {
	regions  []Region
	places   map[string]int // in regions, by id
	names    map[string]map[string]string
	drawings map[view]Drawing
}

// Read reads the map that the program was built with. The error names what does not
// fit together. It is meant for the start of a program, which keeps what it gives.
func Read() (*Map, error) { return read(files) }

func read(from fs.FS) (*Map, error) {
	m := &Map{}
	for _, part := range []struct {
		what string
		read func(fs.FS) error
	}{
		{"regions", m.readRegions},
		{"names", m.readNames},
		{"drawings", m.readDrawings},
	} {
		if err := part.read(from); err != nil {
			return nil, fmt.Errorf("reading the %s of the body map: %w", part.what, err)
		}
	}
	return m, nil
}
