// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

// UsageCount counts the calls of an application to an endpoint on one day.
type UsageCount struct {
	Date        civil.Date // UTC day on which the calls were answered
	Application string     // application id
	Endpoint    string     // route as in the API specification, such as "POST /v3/diagnosis"
	Calls       int64      // at least one
}

// UsageBatch is a set of counts that are added together, exactly once.
type UsageBatch struct {
	Recorder string // globally unique recorder id, such as a UUID
	Sequence int64  // at least 1, increasing per recorder
	Counts   []UsageCount
}

// UsageTotal counts the calls of an application to an endpoint in a period.
type UsageTotal struct {
	Application string
	Endpoint    string
	Calls       int64
}

// Validate returns an error that wraps ErrInvalidUsage if a store cannot hold the count.
func (c UsageCount) Validate() error {
	switch {
	case !c.Date.IsValid():
		return fmt.Errorf("%w: date %d-%d-%d must be a valid day from 0001-01-01 to 9999-12-31",
			ErrInvalidUsage, c.Date.Year, c.Date.Month, c.Date.Day)
	case !isStorable(c.Application):
		return fmt.Errorf("%w: application %q must be non-empty UTF-8 without NUL", ErrInvalidUsage, c.Application)
	case !isStorable(c.Endpoint):
		return fmt.Errorf("%w: endpoint %q must be non-empty UTF-8 without NUL", ErrInvalidUsage, c.Endpoint)
	case c.Calls < 1:
		return fmt.Errorf("%w: %d calls of %s by %s: must be at least 1", ErrInvalidUsage, c.Calls, c.Endpoint, c.Application)
	}
	return nil
}

// Validate returns an error that wraps ErrInvalidUsage for the first value of the batch
// that a store cannot hold.
func (b UsageBatch) Validate() error {
	switch {
	case !isStorable(b.Recorder):
		return fmt.Errorf("%w: recorder %q must be non-empty UTF-8 without NUL", ErrInvalidUsage, b.Recorder)
	case b.Sequence < 1:
		return fmt.Errorf("%w: batch sequence %d must be at least 1", ErrInvalidUsage, b.Sequence)
	}
	for _, count := range b.Counts {
		if err := count.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// isStorable reports whether both SQLite and PostgreSQL store s unchanged.
func isStorable(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}
