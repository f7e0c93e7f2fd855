// SPDX-License-Identifier: Apache-2.0

package body

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestByID(t *testing.T) {
	t.Parallel()
	m := mustRead(t)
	for _, want := range m.Regions() {
		if got, ok := m.ByID(want.ID); !ok || !cmp.Equal(got, want) {
			t.Errorf("ByID(%q) = %+v, %v", want.ID, got, ok)
		}
	}
	if got, ok := m.ByID("tail"); ok {
		t.Errorf("unknown region: got %+v", got)
	}
}

func TestVisibleFrom(t *testing.T) {
	t.Parallel()
	m := mustRead(t)
	for id, want := range map[string][2]bool{
		"head": {true, true}, "eyes": {true, false}, "buttocks": {false, true}, "sleep": {false, false},
	} {
		region, _ := m.ByID(id)
		if got := [2]bool{region.VisibleFrom(Front), region.VisibleFrom(Back)}; got != want {
			t.Errorf("%s: visible from front and back: %v, want %v", id, got, want)
		}
	}
}
