// SPDX-License-Identifier: Apache-2.0

package record

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

func mustParseDate(t testing.TB, text string) civil.Date {
	t.Helper()
	if text == "" {
		return civil.Date{}
	}
	date, err := civil.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return date
}

func TestAgeOn(t *testing.T) {
	t.Parallel()
	said := Age{Value: 34, Unit: assessment.Year}
	for name, test := range map[string]struct {
		birth, on string
		want      Age
	}{
		"as reported":                  {"", "2026-11-21", said},
		"born today":                   {"2026-11-21", "2026-11-21", Age{0, assessment.Month}},
		"not a month yet":              {"2026-10-22", "2026-11-21", Age{0, assessment.Month}},
		"a month":                      {"2026-10-21", "2026-11-21", Age{1, assessment.Month}},
		"a month of a short February":  {"2027-01-31", "2027-02-28", Age{1, assessment.Month}},
		"a day before":                 {"2027-01-31", "2027-02-27", Age{0, assessment.Month}},
		"the day before the second":    {"2024-11-22", "2026-11-21", Age{23, assessment.Month}},
		"the second birthday":          {"2024-11-21", "2026-11-21", Age{2, assessment.Year}},
		"the day before the birthday":  {"1992-11-22", "2026-11-21", Age{33, assessment.Year}},
		"the birthday":                 {"1992-11-21", "2026-11-21", Age{34, assessment.Year}},
		"born on a leap day":           {"1992-02-29", "2026-02-28", Age{34, assessment.Year}},
		"born on a leap day, a day to": {"1992-02-29", "2026-02-27", Age{33, assessment.Year}},
	} {
		patient := Patient{BirthDate: mustParseDate(t, test.birth), Age: said}
		if got := patient.AgeOn(mustParseDate(t, test.on)); got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

// TestAgeOnProperties checks that every patient that can be registered has an age that
// the engine accepts, and ages never decrease.
func TestAgeOnProperties(t *testing.T) {
	t.Parallel()
	today := mustParseDate(t, "2026-11-21")
	rapid.Check(t, func(r *rapid.T) {
		birth := civil.DateOf(today.Time().Add(-24 * time.Hour * time.Duration(rapid.IntRange(0, 131*366).Draw(r, "days"))))
		read, err := ParseBirthDate("birth_date", birth.String(), today)
		if err != nil {
			return
		}
		age, before := Patient{BirthDate: read}.AgeOn(today), -1
		value := float64(age.Value)
		months, err := assessment.ParseAge("age", &value, age.Unit)
		if err != nil {
			r.Fatalf("birth date %v: age %v is invalid: %v", birth, age, err)
		}
		for ago := 60; ago >= 0; ago-- {
			on := today.AddDays(-ago)
			if on.Compare(birth) < 0 {
				continue
			}
			then := Patient{BirthDate: read}.AgeOn(on)
			if then.Months() < before || then.Months() > months {
				r.Fatalf("born on %v: %v on %v, after %d months, and %d today", birth, then, on, before, months)
			}
			before = then.Months()
		}
	})
}

func TestParseBirthDate(t *testing.T) {
	t.Parallel()
	today := mustParseDate(t, "2026-11-21")
	for _, good := range []string{"", "2026-11-21", "1992-02-29", "1895-11-22"} {
		if got, err := ParseBirthDate("birth_date", good, today); err != nil || got != mustParseDate(t, good) {
			t.Errorf("%q: got %v, %v", good, got, err)
		}
	}
	for _, bad := range []string{"2026-11-22", "1895-11-21", "1992-02-30", "29.02.1992", "1992-02-29T00:00:00Z", "x"} {
		_, err := ParseBirthDate("birth_date", bad, today)
		if want := "birth_date: expected a day from 1895-11-22 to 2026-11-21, as YYYY-MM-DD"; err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", bad, err, want)
		}
	}
}

func TestParseAge(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		value *float64
		unit  string
		want  Age
		err   string
	}{
		"not known":    {nil, "", Age{}, ""},
		"years":        {new(34.0), "", Age{34, assessment.Year}, ""},
		"months":       {new(8.0), "month", Age{8, assessment.Month}, ""},
		"a unit alone": {nil, "year", Age{}, "age.value: missing, expected a whole number from 1 to 130 with the unit year"},
		"not whole":    {new(1.5), "", Age{}, "age.value: expected a whole number from 1 to 130 with the unit year, got 1.5"},
		"too old":      {new(131.0), "", Age{}, "age.value: expected a whole number from 1 to 130 with the unit year, got 131"},
		"another unit": {new(3.0), "weeks", Age{}, `age.unit: expected year or month, got "weeks"`},
		"zero years":   {new(0.0), "year", Age{}, "age.value: expected a whole number from 1 to 130 with the unit year, got 0"},
	} {
		got, err := ParseAge("age", test.value, test.unit)
		if got != test.want || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestParseSex(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", "female", "male"} {
		if got, err := ParseSex("sex", good); err != nil || got != good {
			t.Errorf("%q: got %q, %v", good, got, err)
		}
	}
	if got, err := ParseSex("sex", "other"); err == nil {
		t.Errorf("got %q", got)
	}
}

func TestAgeInMonths(t *testing.T) {
	t.Parallel()
	for age, want := range map[Age]int{{}: 0, {34, assessment.Year}: 408, {8, assessment.Month}: 8} {
		if got := age.Months(); got != want {
			t.Errorf("%v: got %d months", age, got)
		}
	}
}
