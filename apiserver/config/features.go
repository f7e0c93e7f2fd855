// SPDX-License-Identifier: Apache-2.0

package config

import "github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"

// features is how the file says what a tenant turned on and off.
type features struct {
	Prefill struct {
		Enabled bool `yaml:"enabled"`
		Confirm bool `yaml:"confirm"`
	} `yaml:"prefill"`
	PatientResults *bool `yaml:"patientResults"`
}

// section are the features as surveys have them. Patients see results unless the
// tenant says otherwise.
func (f features) section() section.Features {
	return section.Features{
		Prefill: f.Prefill.Enabled, PrefillConfirmation: f.Prefill.Confirm,
		PatientResults: f.PatientResults == nil || *f.PatientResults,
	}
}
