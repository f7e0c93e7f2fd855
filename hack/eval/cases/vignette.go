// SPDX-License-Identifier: Apache-2.0

package main

import (
	"embed"
	"io/fs"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

//go:embed work measure
var caseFiles embed.FS

// A vignette is a patient as described by a clinician.
type vignette struct {
	ID             string        `json:"id"`
	Discipline     string        `json:"discipline"`
	Age            dataset.Age   `json:"age"`
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

// minTriageLevel returns the least urgent of the correct levels.
func (v *vignette) minTriageLevel() model.TriageLevel {
	lowest := model.EmergencyAmbulance
	for _, l := range v.Triage {
		lowest = min(lowest, l.TriageLevel)
	}
	return lowest
}

// isEmergency reports whether all correct levels require an emergency department.
func (v *vignette) isEmergency() bool { return v.minTriageLevel() >= model.Emergency }

// readSet reads the cases of a set, ordered by file and line.
func readSet(files fs.FS, set string) ([]vignette, error) {
	return dataset.Read(files, set, func(file string) (vignette, error) { return vignette{file: file}, nil })
}
