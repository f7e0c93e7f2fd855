// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"fmt"

	"go.yaml.in/yaml/v3"
)

//go:embed diagnoses.yaml
var diagnosesYAML []byte

// A diagnosis maps a condition to its codes in the survey.
type diagnosis struct {
	Condition string   `yaml:"condition"` // slug
	ICD9      []string `yaml:"icd9"`      // code prefixes, without the dot
	// VisitsPerEpisode is the number of visits per episode of the condition, including the
	// first.
	VisitsPerEpisode float64 `yaml:"visits_per_episode"`
	// DeviationReason explains why the prior deviates from the survey. It is empty if the
	// prior must match the survey.
	DeviationReason string `yaml:"apart"`
}

func readDiagnoses(file []byte) ([]diagnosis, error) {
	var all []diagnosis
	decoder := yaml.NewDecoder(bytes.NewReader(file))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("reading the diagnoses: %w", err)
	}
	seen := map[string]bool{}
	for _, d := range all {
		switch {
		case seen[d.Condition]:
			return nil, fmt.Errorf("reading the diagnoses: duplicate condition %s", d.Condition)
		case len(d.ICD9) == 0 || d.VisitsPerEpisode < 1:
			return nil, fmt.Errorf("reading the diagnoses: invalid diagnosis %s: expected at least one code and visits_per_episode of at least 1", d.Condition)
		}
		seen[d.Condition] = true
	}
	return all, nil
}
