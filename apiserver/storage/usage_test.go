// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

func TestUsageBatchValidate(t *testing.T) {
	t.Parallel()
	good := UsageCount{Date: civil.Date{Year: 2026, Month: 11, Day: 21}, Application: "portal", Endpoint: "GET /v3/info", Calls: 1}
	batch := func(counts ...UsageCount) UsageBatch { return UsageBatch{Recorder: "one", Sequence: 1, Counts: counts} }
	for _, counts := range [][]UsageCount{nil, {good}, {good, good}} {
		if err := batch(counts...).Validate(); err != nil {
			t.Errorf("%v: %v", counts, err)
		}
	}
	for want, bad := range map[string]UsageBatch{
		`recorder "" must be`:     {Sequence: 1},
		`recorder "\x00" must be`: {Recorder: "\x00", Sequence: 1},
		"sequence 0 must be":      {Recorder: "one", Counts: []UsageCount{good}},
		"sequence -1 must be":     {Recorder: "one", Sequence: -1},
	} {
		if err := bad.Validate(); !errors.Is(err, ErrInvalidUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want one with %q that wraps ErrInvalidUsage", bad, err, want)
		}
	}
	for want, change := range map[string]func(*UsageCount){
		"date 2026-2-30 must be":                                func(c *UsageCount) { c.Date = civil.Date{Year: 2026, Month: 2, Day: 30} },
		`application "a\x00b" must be`:                          func(c *UsageCount) { c.Application = "a\x00b" },
		`application "" must be`:                                func(c *UsageCount) { c.Application = "" },
		`endpoint "\xff" must be`:                               func(c *UsageCount) { c.Endpoint = "\xff" },
		"0 calls of GET /v3/info by portal: must be at least 1": func(c *UsageCount) { c.Calls = 0 },
	} {
		bad := good
		change(&bad)
		err := batch(good, bad).Validate()
		if !errors.Is(err, ErrInvalidUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want one with %q that wraps ErrInvalidUsage", bad, err, want)
		}
	}
}
