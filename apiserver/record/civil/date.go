// SPDX-License-Identifier: Apache-2.0

// Package civil implements calendar days without a time or zone, such as a date of
// birth or the day on which a call was counted. It is pure.
package civil

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"time"
)

// Date is a calendar day in UTC. The zero Date is not a valid day. Dates are
// comparable with == and usable as map keys.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf returns the UTC day of t.
func DateOf(t time.Time) Date {
	year, month, day := t.UTC().Date()
	return Date{Year: year, Month: month, Day: day}
}

// ParseDate parses a day in the format YYYY-MM-DD, from 0001-01-01 to 9999-12-31.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < 1 {
		return Date{}, fmt.Errorf("invalid date %.40q: expected YYYY-MM-DD, such as 2026-11-21", text)
	}
	return DateOf(t), nil
}

// String formats the date as YYYY-MM-DD.
func (d Date) String() string {
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// IsValid reports whether the date is a day from 0001-01-01 to 9999-12-31.
func (d Date) IsValid() bool {
	return 1 <= d.Year && d.Year <= 9999 && DateOf(d.Time()) == d
}

// Time returns the first instant of the day, in UTC.
func (d Date) Time() time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC)
}

// AddDays returns the date that many days later, or earlier when days is
// negative.
func (d Date) AddDays(days int) Date {
	return DateOf(d.Time().AddDate(0, 0, days))
}

// Compare returns -1, 0 or 1 if d is before, equal to or after other.
func (d Date) Compare(other Date) int {
	return cmp.Or(cmp.Compare(d.Year, other.Year), cmp.Compare(d.Month, other.Month), cmp.Compare(d.Day, other.Day))
}

// MarshalText formats the date as YYYY-MM-DD.
func (d Date) MarshalText() ([]byte, error) {
	if !d.IsValid() {
		return nil, fmt.Errorf("invalid date %d-%d-%d", d.Year, d.Month, d.Day)
	}
	return []byte(d.String()), nil
}

// UnmarshalText parses the output of MarshalText.
func (d *Date) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDate(string(text))
	return err
}

// Value returns the date as YYYY-MM-DD for a database.
func (d Date) Value() (driver.Value, error) {
	text, err := d.MarshalText()
	return string(text), err
}

// Scan reads the date from a database, as text or as a time on that day in UTC.
func (d *Date) Scan(value any) error {
	switch value := value.(type) {
	case string:
		return d.UnmarshalText([]byte(value))
	case time.Time:
		*d = DateOf(value)
		return nil
	}
	return fmt.Errorf("unsupported type %T for a date", value)
}
