// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestPause(t *testing.T) {
	t.Parallel()
	v := &Visit{Began: noon}
	if v.Pause() != 0 {
		t.Error("nothing was asked for")
	}
	v.LookAgainAt(noon.Add(time.Hour))
	v.LookAgainAt(noon.Add(time.Minute))
	v.LookAgainAt(noon.Add(2 * time.Hour))
	if v.Pause() != time.Minute {
		t.Errorf("pause %s, want the earliest", v.Pause())
	}
	v.LookAgainAt(noon.Add(-time.Hour))
	if v.Pause() <= 0 {
		t.Error("a visit that was due must still take place")
	}
}
