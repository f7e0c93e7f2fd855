// SPDX-License-Identifier: Apache-2.0

package quota

import "testing"

func TestLimitsFor(t *testing.T) {
	t.Parallel()
	limits := Limits{Explain: new(int64(1)), Suggest: new(int64(2)), Rationale: new(int64(3)), Triage: new(int64(4))}
	for service, want := range map[Operation]int64{Explain: 1, Suggest: 2, Rationale: 3, Triage: 4} {
		if got := limits.For(service); got == nil || *got != want {
			t.Errorf("%s: got %v, want %d", service, got, want)
		}
		if got := (Limits{}).For(service); got != nil {
			t.Errorf("%s is limited to %d, want no limit if unset", service, *got)
		}
	}
	if got := limits.For("diagnosis"); got != nil {
		t.Errorf("diagnosis is limited to %d calls, want no limit", *got)
	}
}
