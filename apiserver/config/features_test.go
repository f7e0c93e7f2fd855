// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

func TestParseFeatures(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]section.Features{
		"":                                     {PatientResults: true},
		"features:":                            {PatientResults: true},
		"features: {patientResults: false}":    {},
		"features: {prefill: {enabled: true}}": {Prefill: true, PatientResults: true},
		"features: {prefill: {confirm: true, enabled: true}}": {Prefill: true, PrefillConfirmation: true, PatientResults: true},
	} {
		parsed, warning, err := Parse([]byte(file))
		if diff := cmp.Diff(want, parsed.Features); diff != "" || warning != "" || err != nil {
			t.Errorf("%q: %s, %v (-want +got):\n%s", file, warning, err, diff)
		}
	}
}
