// SPDX-License-Identifier: Apache-2.0

package civil

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDateOf(t *testing.T) {
	t.Parallel()
	east, west := time.FixedZone("east", 14*3600), time.FixedZone("west", -12*3600)
	for _, test := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), "2026-11-21"},
		{time.Date(2026, 11, 21, 23, 59, 59, 999999999, time.UTC), "2026-11-21"},
		{time.Date(2026, 11, 21, 13, 59, 0, 0, east), "2026-11-20"},
		{time.Date(2026, 11, 21, 12, 0, 0, 0, west), "2026-11-22"},
		{time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC), "2024-02-29"},
		{time.Unix(0, 0), "1970-01-01"},
	} {
		if got := DateOf(test.at).String(); got != test.want {
			t.Errorf("DateOf(%v) = %s, want %s", test.at, got, test.want)
		}
	}
}

func TestParseDate(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"0001-01-01", "2024-02-29", "2026-11-21", "9999-12-31"} {
		date, err := ParseDate(good)
		if err != nil || date.String() != good || !date.IsValid() {
			t.Errorf("ParseDate(%q) = %v, %v", good, date, err)
		}
	}
	for _, bad := range []string{
		"", "today", "2026", "2026-11", "2026-11-31", "2025-02-29", "2026-13-01", "2026-00-01", "2026-01-00", "0000-01-01",
		"10000-01-01", "-001-01-01", "26-11-21", "2026-1-1", "2026/11/21", "2026-11-21T00:00:00Z", " 2026-11-21", "2026-11-21 ", "２０２６-11-21",
	} {
		if date, err := ParseDate(bad); err == nil {
			t.Errorf("ParseDate(%q) = %v, want an error", bad, date)
		}
	}
}

func FuzzParseDate(f *testing.F) {
	for _, seed := range []string{"2026-11-21", "2024-02-29", "0000-00-00", "9999-12-31", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		date, err := ParseDate(text)
		if err == nil && (date.String() != text || !date.IsValid()) {
			t.Errorf("ParseDate(%q) = %v", text, date)
		}
	})
}

func TestInvalidDates(t *testing.T) {
	t.Parallel()
	for _, date := range []Date{
		{}, {2026, 2, 29}, {2026, 13, 1}, {2026, 0, 1}, {2026, 1, 0}, {2026, 1, 32}, {0, 1, 1}, {-1, 1, 1}, {10000, 1, 1},
	} {
		if date.IsValid() {
			t.Errorf("%+v is reported as valid", date)
		}
		if value, err := date.Value(); err == nil {
			t.Errorf("%+v is stored as %v", date, value)
		}
		if text, err := json.Marshal(date); err == nil {
			t.Errorf("%+v is encoded as %s", date, text)
		}
	}
}

// drawDate draws a valid date.
func drawDate(t *rapid.T, label string) Date {
	return DateOf(time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, label), 0))
}

func TestDateProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawDate(t, "a"), drawDate(t, "b")
		if !a.IsValid() {
			t.Fatalf("%v is not valid", a)
		}
		if order := a.Compare(b); order != a.Time().Compare(b.Time()) || order != -b.Compare(a) || (order == 0) != (a == b) {
			t.Fatalf("%v.Compare(%v) = %d", a, b, order)
		}
		days := rapid.IntRange(-1000, 1000).Draw(t, "days")
		if there := a.AddDays(days); there.AddDays(-days) != a || there.Time().Sub(a.Time()) != time.Duration(days)*24*time.Hour {
			t.Fatalf("%d days from %v is %v", days, a, there)
		}
		var read, scanned, fromTime Date
		text, err := json.Marshal(a)
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err != nil || read != a {
			t.Fatalf("%v was read back from JSON as %v, %v", a, read, err)
		}
		value, err := a.Value()
		if err == nil {
			err = scanned.Scan(value)
		}
		if err != nil || scanned != a {
			t.Fatalf("%v was read back from a database as %v, %v", a, scanned, err)
		}
		if err := fromTime.Scan(a.Time()); err != nil || fromTime != a {
			t.Fatalf("%v was read back from an instant as %v, %v", a, fromTime, err)
		}
	})
}

func TestScanRejectsInvalidValues(t *testing.T) {
	t.Parallel()
	for _, value := range []any{nil, 20261121, int64(20261121), []byte("2026-11-21"), "2026-11-31"} {
		if err := new(Date).Scan(value); err == nil {
			t.Errorf("Scan accepted %v (%T)", value, value)
		}
	}
}
