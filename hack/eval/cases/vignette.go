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

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

//go:embed work measure
var caseFiles embed.FS

// The sets of cases: one for development, one held out for measurement only.
const (
	developmentSet = "work"
	holdoutSet     = "measure"
)

// A vignette is a patient as described by a clinician.
type vignette struct {
	ID             string        `json:"id"`
	Discipline     string        `json:"discipline"`
	Age            age           `json:"age"`
	Sex            sex           `json:"sex"`
	ChiefComplaint string        `json:"says"`    // chief complaint, as typed
	Present        []string      `json:"present"` // further findings, reported when asked
	Denied         []string      `json:"denied"`  // absent findings, denied when asked
	History        []string      `json:"history"`
	Family         []string      `json:"family"`
	Diagnosis      string        `json:"diagnosis"`
	ICD10          []string      `json:"icd10"`  // prefixes of the correct codes
	Triage         []triageLevel `json:"triage"` // the correct levels
	Atypical       bool          `json:"atypical"`
	Source         string        `json:"source"` // source of the clinical picture

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

type triageLevel struct{ model.TriageLevel }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *triageLevel) UnmarshalText(text []byte) (err error) {
	l.TriageLevel, err = model.ParseTriageLevel(string(text))
	return err
}

// minTriageLevel returns the least urgent correct level.
func (v *vignette) minTriageLevel() model.TriageLevel {
	lowest := model.EmergencyAmbulance
	for _, l := range v.Triage {
		lowest = min(lowest, l.TriageLevel)
	}
	return lowest
}

// isEmergency reports whether no level below an emergency department is correct.
func (v *vignette) isEmergency() bool { return v.minTriageLevel() >= model.Emergency }

// readSet reads the cases of a set in order of files and lines.
func readSet(files fs.FS, part string) ([]vignette, error) {
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
