// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
)

func testUsageTotals(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	on := func(days int, application, endpoint string, calls int64) usage.Count {
		counted := newCount(application, endpoint, calls)
		counted.Date = day.AddDays(days)
		return counted
	}
	addUsage(t, store,
		on(-1, "portal", "explain", 1000),
		on(0, "portal", "explain", 1), on(1, "portal", "explain", 2), on(2, "portal", "explain", 4),
		on(1, "portal", "Triage", 8), on(1, "portal", "diagnosis", 16), on(2, "Kiosk", "explain", 32),
		on(3, "portal", "explain", 1000))
	total := func(application, endpoint string, calls int64) usage.Total {
		return usage.Total{Application: application, Endpoint: endpoint, Calls: calls}
	}
	for _, test := range []struct {
		from, to  int
		endpoints string
		want      []usage.Total
	}{
		{0, 2, "explain Triage", []usage.Total{total("Kiosk", "explain", 32), total("portal", "Triage", 8), total("portal", "explain", 7)}},
		{0, 0, "explain explain Triage", []usage.Total{total("portal", "explain", 1)}},
		{0, 2, "never called", nil},
		{0, 2, "", nil},
		{2, 0, "explain", nil},
		{4, 9, "explain", nil},
	} {
		got, err := store.ListUsageTotals(t.Context(), day.AddDays(test.from), day.AddDays(test.to), strings.Fields(test.endpoints))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); len(test.want)+len(got) > 0 && diff != "" {
			t.Errorf("days %d to %d, endpoints %q (-want +got):\n%s", test.from, test.to, test.endpoints, diff)
		}
	}
}

// testUsageTotalsOverflow checks that a total exceeding int64 is an error.
func testUsageTotalsOverflow(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	full, next := newCount("portal", "explain", math.MaxInt64), newCount("portal", "explain", 1)
	next.Date = day.AddDays(1)
	addUsage(t, store, full, next)
	if totals, err := store.ListUsageTotals(t.Context(), day, day.AddDays(1), []string{"explain"}); err == nil {
		t.Errorf("got %v, want an error", totals)
	}
}
