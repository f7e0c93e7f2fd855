// SPDX-License-Identifier: Apache-2.0

// Package dataset reads evaluation data sets: JSON objects in .jsonl files, with one directory
// per set. The evaluations define the fields of the objects and the metrics.
package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// The directories of the sets. The held-out set is for measurement only.
const (
	Development = "work"
	Holdout     = "measure"
)

// An Age is the age of a patient.
type Age struct {
	Value int    `json:"value"`
	Unit  string `json:"unit"` // year or month
}

// Months returns the age in months.
func (a Age) Months() int {
	if a.Unit == "month" {
		return a.Value
	}
	return 12 * a.Value
}

// ReadFiles returns the content of the .jsonl files in a directory, by name.
func ReadFiles(files fs.FS, directory string) (map[string][]byte, error) {
	names, err := fs.Glob(files, path.Join(directory, "*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", directory, err)
	}
	contents := make(map[string][]byte, len(names))
	for _, name := range names {
		if contents[name], err = fs.ReadFile(files, name); err != nil {
			return nil, fmt.Errorf("reading the files of %s: %w", directory, err)
		}
	}
	return contents, nil
}

// Read reads the objects in a directory, ordered by file and line. It rejects unknown fields.
// newObject returns the initial value of the objects in a file.
func Read[T any](files fs.FS, directory string, newObject func(file string) (T, error)) ([]T, error) {
	contents, err := ReadFiles(files, directory)
	if err != nil {
		return nil, err
	}
	var all []T
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		initial, err := newObject(name)
		if err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(bytes.NewReader(contents[name]))
		decoder.DisallowUnknownFields()
		objects, err := Decode(decoder, name, initial)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

// Decode decodes the objects of a file, each into a copy of the initial value.
func Decode[T any](decoder *json.Decoder, file string, initial T) ([]T, error) {
	var all []T
	for {
		object := initial
		switch err := decoder.Decode(&object); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("reading object %d of %s: %w", len(all)+1, file, err)
		}
		all = append(all, object)
	}
}
