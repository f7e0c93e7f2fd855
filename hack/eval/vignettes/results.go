// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/anamnesis-dev/anamnesis/client/enginev3"
)

// A result is what the runner noted of one patient, as far as it tells what
// went wrong.
type result struct {
	Line        int // of the file of vignettes, from 1
	Diagnosis   string
	Age         enginev3.Age
	Sex         enginev3.Sex
	InCatalogue bool `json:"in_catalogue"`
	Initial     []string
	Asked       []json.RawMessage
	Rank        *int     // of the diagnosis; nil when it is not in the ranking
	Top5        []ranked // the first of the ranking
	Errors      []string
}

// A ranked condition is a list of id, name, probability and codes.
type ranked struct{ name string }

// UnmarshalJSON implements json.Unmarshaler.
func (r *ranked) UnmarshalJSON(content []byte) error {
	var id string
	return json.Unmarshal(content, &[]any{&id, &r.name})
}

// A vignette is a patient, as far as it is read here.
type vignette struct {
	ChiefComplaints string `json:"chief_complaints"`
	Presentation    string
	CaseDescription string `json:"case_description"`
}

// complaint is what the patient says first: the complaints, or the first
// sentence of the presentation.
func (v vignette) complaint() string {
	if v.ChiefComplaints != "" {
		return v.ChiefComplaints
	}
	first, _, _ := strings.Cut(cmp.Or(v.Presentation, v.CaseDescription), ". ")
	return first
}

func readResults(path string) ([]result, error) {
	return readLines[result](path)
}

// readComplaints reads what each patient of a file says first, by line from 0.
func readComplaints(path string) ([]string, error) {
	vignettes, err := readLines[vignette](path)
	complaints := make([]string, len(vignettes))
	for i, v := range vignettes {
		complaints[i] = v.complaint()
	}
	return complaints, err
}

// readLines reads JSON objects, one after the other.
func readLines[T any](path string) (list []T, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	decoder := json.NewDecoder(file)
	for {
		var item T
		switch err := decoder.Decode(&item); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("reading object %d of %s: %w", len(list)+1, path, err)
		}
		list = append(list, item)
	}
}
