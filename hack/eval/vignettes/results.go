// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/anamnesis-dev/anamnesis/client/enginev3"
	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

// A result is the runner's result for one patient, limited to the fields that explain
// misses.
type result struct {
	Line      int // line in the vignettes file, from 1
	Diagnosis string
	Age       enginev3.Age
	Sex       enginev3.Sex
	InCatalog bool `json:"in_catalogue"`
	Initial   []string
	Asked     []json.RawMessage
	Rank      *int              // rank of the diagnosis; nil if not rankedCondition
	Top5      []rankedCondition // top of the ranking
	Errors    []string
}

// A rankedCondition is a condition in the ranking, encoded as a list of ID, name,
// probability and codes.
type rankedCondition struct{ name string }

// UnmarshalJSON implements json.Unmarshaler.
func (r *rankedCondition) UnmarshalJSON(content []byte) error {
	var id string
	return json.Unmarshal(content, &[]any{&id, &r.name})
}

// A vignette holds the fields of a vignette that contain the complaint.
type vignette struct {
	ChiefComplaints string `json:"chief_complaints"`
	Presentation    string
	CaseDescription string `json:"case_description"`
}

// complaint returns the patient's complaints, or else the first sentence of the
// presentation.
func (v vignette) complaint() string {
	if v.ChiefComplaints != "" {
		return v.ChiefComplaints
	}
	first, _, _ := strings.Cut(cmp.Or(v.Presentation, v.CaseDescription), ". ")
	return first
}

func readResults(path string) ([]result, error) {
	return readJSONLines[result](path)
}

// readComplaints reads the complaints of the patients in a file, in order of lines.
func readComplaints(path string) ([]string, error) {
	vignettes, err := readJSONLines[vignette](path)
	complaints := make([]string, len(vignettes))
	for i, v := range vignettes {
		complaints[i] = v.complaint()
	}
	return complaints, err
}

// readJSONLines reads a sequence of JSON objects.
func readJSONLines[T any](path string) (list []T, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var initial T
	return dataset.Decode(json.NewDecoder(file), path, initial)
}
