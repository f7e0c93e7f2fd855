// SPDX-License-Identifier: Apache-2.0

package config

import "github.com/anamnesis-dev/anamnesis/apiserver/survey/section"

// featuresYAML is the tenant's features as written in the file.
type featuresYAML struct {
	Prefill struct {
		Enabled bool `yaml:"enabled"`
		Confirm bool `yaml:"confirm"`
	} `yaml:"prefill"`
	PatientResults *bool `yaml:"patientResults"`
}

// toSectionFeatures converts the features for surveys. Showing results defaults to on.
func (f featuresYAML) toSectionFeatures() section.Features {
	return section.Features{
		Prefill: f.Prefill.Enabled, PrefillConfirmation: f.Prefill.Confirm,
		PatientResults: f.PatientResults == nil || *f.PatientResults,
	}
}
