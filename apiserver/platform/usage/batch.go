// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"errors"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

// ErrInvalid indicates that usage counts cannot be stored. Retrying does not help.
var ErrInvalid = errors.New("invalid usage count")

// Count counts the calls of an application to an endpoint on one day.
type Count struct {
	Date        civil.Date // UTC day of the calls
	Application string     // application id
	Endpoint    string     // route as in the API specification, such as "POST /v3/diagnosis"
	Calls       int64      // at least one
}

// Batch is a set of counts that are added together, exactly once.
type Batch struct {
	Recorder string // globally unique recorder id, such as a UUID
	Sequence int64  // at least 1, increasing per recorder
	Counts   []Count
}

// Total counts the calls of an application to an endpoint in a period.
type Total struct {
	Application string
	Endpoint    string
	Calls       int64
}

// Validate returns an error that wraps ErrInvalid if a store cannot hold the count.
func (c Count) Validate() error {
	switch {
	case !c.Date.IsValid():
		return fmt.Errorf("%w: date %d-%d-%d: expected a valid day from 0001-01-01 to 9999-12-31",
			ErrInvalid, c.Date.Year, c.Date.Month, c.Date.Day)
	case !record.IsStorable(c.Application):
		return fmt.Errorf("%w: application %q: expected non-empty UTF-8 without NUL", ErrInvalid, c.Application)
	case !record.IsStorable(c.Endpoint):
		return fmt.Errorf("%w: endpoint %q: expected non-empty UTF-8 without NUL", ErrInvalid, c.Endpoint)
	case c.Calls < 1:
		return fmt.Errorf("%w: %d calls of %s by %s: expected at least 1", ErrInvalid, c.Calls, c.Endpoint, c.Application)
	}
	return nil
}

// Validate returns an error that wraps ErrInvalid for the first value of the batch
// that a store cannot hold.
func (b Batch) Validate() error {
	switch {
	case !record.IsStorable(b.Recorder):
		return fmt.Errorf("%w: recorder %q: expected non-empty UTF-8 without NUL", ErrInvalid, b.Recorder)
	case b.Sequence < 1:
		return fmt.Errorf("%w: batch sequence %d: expected at least 1", ErrInvalid, b.Sequence)
	}
	for _, count := range b.Counts {
		if err := count.Validate(); err != nil {
			return err
		}
	}
	return nil
}
