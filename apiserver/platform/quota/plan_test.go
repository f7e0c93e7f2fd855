// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewPlans(t *testing.T) {
	t.Parallel()
	hundred := Limits{Explain: new(int64(100)), Suggest: new(int64(100)), Rationale: new(int64(100)), Triage: new(int64(100))}
	for name, test := range map[string]struct {
		written map[string]Limits
		want    Plans
		problem string
	}{
		"nothing":               {nil, Plans{"trial": hundred}, ""},
		"another plan":          {map[string]Limits{"gold": {Triage: new(int64(5))}}, Plans{"trial": hundred, "gold": {Triage: new(int64(5))}}, ""},
		"trial as it is":        {map[string]Limits{"trial": {Explain: new(int64(7))}}, Plans{"trial": {Explain: new(int64(7))}}, ""},
		"trial without limits":  {map[string]Limits{"trial": {}}, Plans{"trial": {}}, ""},
		"no call at all":        {map[string]Limits{"trial": {Triage: new(int64(0))}}, Plans{"trial": {Triage: new(int64(0))}}, ""},
		"fewer than none":       {map[string]Limits{"gold": {Rationale: new(int64(-1))}}, nil, "gold.rationale is -1"},
		"a plan without a name": {map[string]Limits{"": {}}, nil, "plan name must not be empty"},
	} {
		plans, err := NewPlans(test.written)
		if (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: got %v, want a complaint about %q", name, err, test.problem)
		}
		if diff := cmp.Diff(test.want, plans); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

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
		t.Errorf("diagnosis is limited to %d", *got)
	}
}
