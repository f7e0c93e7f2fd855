// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
)

// UsageCount says how often an application called an endpoint on one day.
type UsageCount struct {
	Date        civil.Date // the civil day in UTC on which the calls were answered
	Application string     // the application's id
	Endpoint    string     // the route as the contract writes it, such as "POST /v3/diagnosis"
	Calls       int64      // how many calls, at least one
}

// UsageBatch is counts that are added together, once.
type UsageBatch struct {
	Recorder string // who counted: an id that no other recorder has at any time, such as a UUID
	Number   int64  // of the batch, among those of its recorder: at least 1, and higher each time
	Counts   []UsageCount
}

// UsageTotal says how often an application called an endpoint in a period.
type UsageTotal struct {
	Application string
	Endpoint    string
	Calls       int64
}

// Validate says, in an error that wraps ErrInvalidUsage, what every store
// would refuse in the count.
func (c UsageCount) Validate() error {
	switch {
	case !c.Date.Valid():
		return fmt.Errorf("%w: %d-%d-%d is not a day from 0001-01-01 to 9999-12-31",
			ErrInvalidUsage, c.Date.Year, c.Date.Month, c.Date.Day)
	case !storable(c.Application):
		return fmt.Errorf("%w: the application %q has to be UTF-8 without NUL, and not empty", ErrInvalidUsage, c.Application)
	case !storable(c.Endpoint):
		return fmt.Errorf("%w: the endpoint %q has to be UTF-8 without NUL, and not empty", ErrInvalidUsage, c.Endpoint)
	case c.Calls < 1:
		return fmt.Errorf("%w: %d calls of %s by %s; a count is at least 1", ErrInvalidUsage, c.Calls, c.Endpoint, c.Application)
	}
	return nil
}

// Validate says, in an error that wraps ErrInvalidUsage, what every store would
// refuse first in the batch.
func (b UsageBatch) Validate() error {
	switch {
	case !storable(b.Recorder):
		return fmt.Errorf("%w: the recorder %q has to be UTF-8 without NUL, and not empty", ErrInvalidUsage, b.Recorder)
	case b.Number < 1:
		return fmt.Errorf("%w: the batch has the number %d; the first is 1", ErrInvalidUsage, b.Number)
	}
	for _, count := range b.Counts {
		if err := count.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// storable reports whether both SQLite and PostgreSQL keep s as it is.
func storable(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}
