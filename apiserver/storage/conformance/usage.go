// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

func testAddUsage(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	expectUsage(t, store)
	addUsage(t, store)
	expectUsage(t, store)
	addUsage(t, store, newCount("portal", "POST /v3/diagnosis", 3))
	addUsage(t, store, newCount("portal", "POST /v3/diagnosis", 4), newCount("portal", "POST /v3/triage", 1))
	addUsage(t, store, newCount("kiosk", "POST /v3/diagnosis", 1), newCount("kiosk", "POST /v3/diagnosis", 1))
	expectUsage(t, store,
		newCount("kiosk", "POST /v3/diagnosis", 2),
		newCount("portal", "POST /v3/diagnosis", 7),
		newCount("portal", "POST /v3/triage", 1))
}

// testUsageOrder checks that results are ordered bytewise, regardless of the database's
// collation.
func testUsageOrder(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	names := []string{"Zebra", "a", "a b", "a-b", "a_b", "ab", "b", "é", "日本", "🙂"}
	want := make([]usage.Count, 0, 3*len(names)*len(names))
	for _, date := range []civil.Date{day.AddDays(-1), day, day.AddDays(1)} {
		for _, application := range names {
			for _, endpoint := range names {
				want = append(want, usage.Count{Date: date, Application: application, Endpoint: endpoint, Calls: 1})
			}
		}
	}
	backwards := slices.Clone(want)
	slices.Reverse(backwards)
	addUsage(t, store, backwards...)
	expectUsage(t, store, want...)
}

func testUsageRange(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	on := func(date string) usage.Count {
		parsed, err := civil.ParseDate(date)
		if err != nil {
			t.Fatal(err)
		}
		return usage.Count{Date: parsed, Application: "portal", Endpoint: "GET /v3/info", Calls: 1}
	}
	first, leap, march, last := on("0001-01-01"), on("2024-02-29"), on("2024-03-01"), on("9999-12-31")
	addUsage(t, store, last, march, leap, first)
	for _, test := range []struct {
		from, to string
		want     []usage.Count
	}{
		{"0001-01-01", "9999-12-31", []usage.Count{first, leap, march, last}},
		{"0001-01-01", "0001-01-01", []usage.Count{first}},
		{"9999-12-31", "9999-12-31", []usage.Count{last}},
		{"2024-02-29", "2024-03-01", []usage.Count{leap, march}},
		{"2024-02-28", "2024-02-29", []usage.Count{leap}},
		{"2024-03-01", "2024-03-02", []usage.Count{march}},
		{"2024-03-02", "9999-12-30", nil},
		{"2024-03-01", "2024-02-29", nil},
	} {
		t.Run(test.from+" to "+test.to, func(t *testing.T) {
			expectCounts(t, listUsage(t, store, on(test.from).Date, on(test.to).Date), test.want)
		})
	}
}

// testUsageText checks that names round-trip unchanged.
func testUsageText(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	names := []string{
		"'; DROP TABLE usage_counts; --", `"quoted"`, `back\slash`, `{1,"2",NULL}`, "NULL", "%s", "$1", "?",
		" leading", "trailing ", "tab\there", "line\nbreak", "e\u0301", "\u00e9", "\u202e", "\ufffd", strings.Repeat("long", 500),
	}
	want := make([]usage.Count, 0, len(names))
	for _, name := range names {
		want = append(want, newCount(name, name, 1))
	}
	addUsage(t, store, want...)
	slices.SortFunc(want, compareCounts)
	expectUsage(t, store, want...)
}

func testInvalidUsage(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	good := newCount("portal", "GET /v3/info", 1)
	for name, bad := range map[string]usage.Count{
		"no date":                 {Application: "portal", Endpoint: "GET /v3/info", Calls: 1},
		"no such date":            {Date: civil.Date{Year: 2026, Month: 2, Day: 30}, Application: "portal", Endpoint: "GET /v3/info", Calls: 1},
		"no application":          newCount("", "GET /v3/info", 1),
		"no endpoint":             newCount("portal", "", 1),
		"NUL in the application":  newCount("por\x00tal", "GET /v3/info", 1),
		"NUL in the endpoint":     newCount("portal", "\x00", 1),
		"application not UTF-8":   newCount("\xff", "GET /v3/info", 1),
		"endpoint not UTF-8":      newCount("portal", "a\xc3", 1),
		"no calls":                newCount("portal", "GET /v3/info", 0),
		"fewer than no calls":     newCount("portal", "GET /v3/info", -1),
		"as few calls as can be":  newCount("portal", "GET /v3/info", math.MinInt64),
		"a surrogate, not UTF-8":  newCount("\xed\xa0\x80", "GET /v3/info", 1),
		"a year that is too late": {Date: civil.Date{Year: 10000, Month: 1, Day: 1}, Application: "portal", Endpoint: "GET /v3/info", Calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			for _, counts := range [][]usage.Count{{bad}, {good, bad}, {bad, good}} {
				if err := store.AddUsage(t.Context(), newBatch(counts...)); !errors.Is(err, usage.ErrInvalid) {
					t.Errorf("adding %v: got error %v, want ErrInvalid", counts, err)
				}
			}
			expectUsage(t, store)
		})
	}
}

// testUsageOverflow checks that a sum exceeding int64 fails the whole batch and changes
// nothing.
func testUsageOverflow(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	full := newCount("portal", "m", math.MaxInt64)
	addUsage(t, store, full)
	for _, counts := range [][]usage.Count{
		{newCount("portal", "m", 1)},
		{newCount("portal", "a", 1), newCount("portal", "m", 1), newCount("portal", "z", 1)},
		{newCount("portal", "z", math.MaxInt64), newCount("portal", "z", 1)},
	} {
		if err := store.AddUsage(t.Context(), newBatch(counts...)); err == nil {
			t.Errorf("adding %v to %v: got no error, want one", counts, full)
		}
		expectUsage(t, store, full)
	}
	addUsage(t, store, newCount("portal", "z", 1))
	expectUsage(t, store, full, newCount("portal", "z", 1))
}

// testUsageModel compares the store with an in-memory map of sums under random batches,
// including reopening.
func testUsageModel(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	store := openStore(t, url)
	sums := map[usage.Count]int64{} // keyed by counts with zero calls
	name := rapid.SampledFrom([]string{"a", "B", "c-d", "é"})
	drawn := rapid.Custom(func(t *rapid.T) usage.Count {
		return usage.Count{
			Date:        day.AddDays(rapid.IntRange(-3, 3).Draw(t, "day")),
			Application: name.Draw(t, "application"),
			Endpoint:    name.Draw(t, "endpoint"),
			Calls:       rapid.Int64Range(1, 1000).Draw(t, "calls"),
		}
	})
	rapid.Check(t, func(r *rapid.T) {
		counts := rapid.SliceOfN(drawn, 0, 40).Draw(r, "counts")
		if rapid.IntRange(0, 9).Draw(r, "reopen") == 0 {
			store = openStore(t, url)
		}
		addUsage(t, store, counts...)
		for _, added := range counts {
			calls := added.Calls
			added.Calls = 0
			sums[added] += calls
		}
		from, to := day.AddDays(rapid.IntRange(-4, 4).Draw(r, "from")), day.AddDays(rapid.IntRange(-4, 4).Draw(r, "to"))
		expectCounts(t, listUsage(t, store, from, to), expectedUsage(sums, from, to))
	})
}

func expectedUsage(sums map[usage.Count]int64, from, to civil.Date) []usage.Count {
	var counts []usage.Count
	for _, key := range slices.SortedFunc(maps.Keys(sums), compareCounts) {
		if key.Date.Compare(from) >= 0 && key.Date.Compare(to) <= 0 {
			key.Calls = sums[key]
			counts = append(counts, key)
		}
	}
	return counts
}

func compareCounts(a, b usage.Count) int {
	return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.Application, b.Application), cmp.Compare(a.Endpoint, b.Endpoint))
}

func testReopen(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	for i := range 3 {
		store := openStore(t, url)
		addUsage(t, store, newCount("portal", fmt.Sprint("endpoint ", i), 1), newCount("portal", "every time", 1))
	}
	expectUsage(t, openStore(t, url),
		newCount("portal", "endpoint 0", 1), newCount("portal", "endpoint 1", 1), newCount("portal", "endpoint 2", 1),
		newCount("portal", "every time", 3))
}
