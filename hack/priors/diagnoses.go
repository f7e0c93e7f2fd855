// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	_ "embed"
	"fmt"

	"go.yaml.in/yaml/v3"
)

//go:embed diagnoses.yaml
var diagnosesFile []byte

// A diagnosis says under which codes of the survey a condition is found.
type diagnosis struct {
	Condition string   `yaml:"condition"` // a slug
	ICD9      []string `yaml:"icd9"`      // prefixes of codes, without the point
	// VisitsPerEpisode is how many visits an episode of the condition leads to,
	// the first among them.
	VisitsPerEpisode float64 `yaml:"visits_per_episode"`
	// Apart is why the prior may be far from the survey; left out where it
	// should not be.
	Apart string `yaml:"apart"`
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
			return nil, fmt.Errorf("reading the diagnoses: %s stands there twice", d.Condition)
		case len(d.ICD9) == 0 || d.VisitsPerEpisode < 1:
			return nil, fmt.Errorf("reading the diagnoses: %s has no codes, or not a visit for each episode", d.Condition)
		}
		seen[d.Condition] = true
	}
	return all, nil
}
