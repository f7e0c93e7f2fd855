// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// Findings are those that conditions may have brought, each once.
func TestFindings(t *testing.T) {
	t.Parallel()
	r := familyRelease(t)
	for words, want := range map[string]int{
		"":                           0,
		"s_1":                        1,
		"s_1 s_1":                    1,
		"s_1 s_3 p_1":                1, // a parent, its grandchild, a risk factor
		"s_1 s_31! -s_32":            2,
		"-s_1 ?s_31 p_1":             0,
		"s_31 s_32 s_3 s_22 p_1 s_1": 3, // s_32 is of children
	} {
		p, err := NewPatient(r, model.Female, 360, evidence(words))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, p.Findings()); diff != "" {
			t.Errorf("%q (-want +got)\n%s", words, diff)
		}
	}
}
