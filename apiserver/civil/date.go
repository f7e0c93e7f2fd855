// SPDX-License-Identifier: Apache-2.0

// Package civil is the calendar as people use it: days without an hour or a zone,
// such as that of a birth, or that on which a call was counted. It is pure.
package civil

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"time"
)

// Date is a civil day in UTC. The zero Date is no day at all. Dates can be
// compared with == and used as keys of maps.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf returns the day in UTC on which t lies.
func DateOf(t time.Time) Date {
	year, month, day := t.UTC().Date()
	return Date{Year: year, Month: month, Day: day}
}

// ParseDate reads a day written as YYYY-MM-DD, from 0001-01-01 to 9999-12-31.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < 1 {
		return Date{}, fmt.Errorf("%.40q is not a date; write it as YYYY-MM-DD", text)
	}
	return DateOf(t), nil
}

// String writes the date as YYYY-MM-DD.
func (d Date) String() string {
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// Valid reports whether the date is a day from 0001-01-01 to 9999-12-31.
func (d Date) Valid() bool {
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

// Compare returns -1, 0 or 1 as d is before, the same as or after other.
func (d Date) Compare(other Date) int {
	return cmp.Or(cmp.Compare(d.Year, other.Year), cmp.Compare(d.Month, other.Month), cmp.Compare(d.Day, other.Day))
}

// MarshalText writes the date as YYYY-MM-DD.
func (d Date) MarshalText() ([]byte, error) {
	if !d.Valid() {
		return nil, fmt.Errorf("%d-%d-%d is not a date", d.Year, d.Month, d.Day)
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (d *Date) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDate(string(text))
	return err
}

// Value gives a database the date as YYYY-MM-DD.
func (d Date) Value() (driver.Value, error) {
	text, err := d.MarshalText()
	return string(text), err
}

// Scan takes the date from a database, as text or as an instant of that day
// in UTC.
func (d *Date) Scan(value any) error {
	switch value := value.(type) {
	case string:
		return d.UnmarshalText([]byte(value))
	case time.Time:
		*d = DateOf(value)
		return nil
	}
	return fmt.Errorf("cannot read a date from a %T", value)
}
