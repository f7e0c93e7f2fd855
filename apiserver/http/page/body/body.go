// SPDX-License-Identifier: Apache-2.0

// Package body contains the body map, on which patients point to the location of their
// symptoms: regions with their symptoms, plain-language names, and drawings of a woman, a man
// and a child from the front and the back. It validates its embedded data when reading it and
// has no side effects. Other packages decide which symptoms apply to a patient, how a page
// shows the map, and what follows from a selection.
package body

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
)

// files contains the regions, and the drawings named by figure and side.
//
//go:embed regions.yaml drawings/*.svg
var files embed.FS

// A Map holds the regions with their names and drawings. It is immutable and can be shared.
type Map struct {
	regions  []Region
	index    map[string]int // index into regions by ID
	names    *i18n.Catalog
	drawings map[view]Drawing
}

// Read reads the embedded map. The error describes inconsistencies. Call it once at startup
// and keep the result.
func Read() (*Map, error) { return readFrom(files, content.Texts) }

func readFrom(from, texts fs.FS) (*Map, error) {
	m := &Map{}
	for _, part := range []struct {
		what string
		read func(fs.FS) error
	}{
		{"regions", m.readRegions},
		{"drawings", m.readDrawings},
	} {
		if err := part.read(from); err != nil {
			return nil, fmt.Errorf("reading body map %s: %w", part.what, err)
		}
	}
	if err := m.readNames(texts); err != nil {
		return nil, fmt.Errorf("reading body map names: %w", err)
	}
	return m, nil
}
