// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
)

func TestValidateBatch(t *testing.T) {
	t.Parallel()
	good := UsageCount{Date: civil.Date{Year: 2026, Month: 11, Day: 21}, Application: "portal", Endpoint: "GET /v3/info", Calls: 1}
	batch := func(counts ...UsageCount) UsageBatch { return UsageBatch{Recorder: "one", Number: 1, Counts: counts} }
	for _, counts := range [][]UsageCount{nil, {good}, {good, good}} {
		if err := batch(counts...).Validate(); err != nil {
			t.Errorf("%v: %v", counts, err)
		}
	}
	for want, bad := range map[string]UsageBatch{
		`the recorder "" has`:       {Number: 1},
		`the recorder "\x00" has`:   {Recorder: "\x00", Number: 1},
		"the number 0; the first":   {Recorder: "one", Counts: []UsageCount{good}},
		"the number -1; the first ": {Recorder: "one", Number: -1},
	} {
		if err := bad.Validate(); !errors.Is(err, ErrInvalidUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want one with %q that wraps ErrInvalidUsage", bad, err, want)
		}
	}
	for want, change := range map[string]func(*UsageCount){
		"2026-2-30 is not a day":                                   func(c *UsageCount) { c.Date = civil.Date{Year: 2026, Month: 2, Day: 30} },
		`the application "a\x00b" has`:                             func(c *UsageCount) { c.Application = "a\x00b" },
		`the application "" has`:                                   func(c *UsageCount) { c.Application = "" },
		`the endpoint "\xff" has`:                                  func(c *UsageCount) { c.Endpoint = "\xff" },
		"0 calls of GET /v3/info by portal; a count is at least 1": func(c *UsageCount) { c.Calls = 0 },
	} {
		bad := good
		change(&bad)
		err := batch(good, bad).Validate()
		if !errors.Is(err, ErrInvalidUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want one with %q that wraps ErrInvalidUsage", bad, err, want)
		}
	}
}
