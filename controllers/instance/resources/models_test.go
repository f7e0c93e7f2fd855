// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

func TestFormatModels(t *testing.T) {
	t.Parallel()
	for line, models := range map[string][]v1alpha1.Model{
		"":                                nil,
		"service-en":                      {{ID: "service-en"}},
		"service-en@2026-11-21T00:00:00Z": {{ID: "service-en", Version: "2026-11-21T00:00:00Z"}},
		"service-de@2026-11-21T00:00:00Z,service-en": {{ID: "service-de", Version: "2026-11-21T00:00:00Z"}, {ID: "service-en"}},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			if got := FormatModels(models); got != line {
				t.Errorf("FormatModels: got %q, want %q", got, line)
			}
			if diff := cmp.Diff(models, ParseModels(line)); diff != "" {
				t.Errorf("ParseModels (-want +got):\n%s", diff)
			}
		})
	}
}
