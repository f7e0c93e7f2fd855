// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

//go:embed work measure
var caseFiles embed.FS

// The parts of the cases: one to learn from, one only to measure on.
const (
	workPart    = "work"
	measurePart = "measure"
)

// A vignette is a patient as a clinician has written them down.
type vignette struct {
	ID         string   `json:"id"`
	Discipline string   `json:"discipline"`
	Age        age      `json:"age"`
	Sex        sex      `json:"sex"`
	Says       string   `json:"says"`    // the first words, as typed
	Present    []string `json:"present"` // what else is there, when asked
	Denied     []string `json:"denied"`  // what is not, when asked
	History    []string `json:"history"`
	Family     []string `json:"family"`
	Diagnosis  string   `json:"diagnosis"`
	ICD10      []string `json:"icd10"`  // prefixes of the codes that are right
	Triage     []level  `json:"triage"` // the levels that are right
	Atypical   bool     `json:"atypical"`
	Source     string   `json:"source"` // what the picture rests on

	file string
}

type age struct {
	Value int    `json:"value"`
	Unit  string `json:"unit"` // year or month
}

func (a age) months() int {
	if a.Unit == "month" {
		return a.Value
	}
	return 12 * a.Value
}

type sex struct{ model.Sex }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *sex) UnmarshalText(text []byte) (err error) {
	s.Sex, err = model.ParseSex(string(text))
	return err
}

type level struct{ model.TriageLevel }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *level) UnmarshalText(text []byte) (err error) {
	l.TriageLevel, err = model.ParseTriageLevel(string(text))
	return err
}

// lowest is the least urgent level that is right.
func (v *vignette) lowest() model.TriageLevel {
	lowest := model.EmergencyAmbulance
	for _, l := range v.Triage {
		lowest = min(lowest, l.TriageLevel)
	}
	return lowest
}

// emergency reports whether nothing less than an emergency department is right.
func (v *vignette) emergency() bool { return v.lowest() >= model.Emergency }

// readPart reads the cases of a part in the order of their files and lines.
func readPart(files fs.FS, part string) ([]vignette, error) {
	names, err := fs.Glob(files, path.Join(part, "*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("listing the cases: %w", err)
	}
	slices.Sort(names)
	var all []vignette
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("reading the cases: %w", err)
		}
		cases, err := decodeFile(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

func decodeFile(name string, text []byte) ([]vignette, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var all []vignette
	for {
		v := vignette{file: name}
		switch err := decoder.Decode(&v); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: case %d: %w", name, len(all)+1, err)
		}
		all = append(all, v)
	}
}
