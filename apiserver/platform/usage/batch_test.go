// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"errors"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

func TestBatchValidate(t *testing.T) {
	t.Parallel()
	good := Count{Date: civil.Date{Year: 2026, Month: 11, Day: 21}, Application: "portal", Endpoint: "GET /v3/info", Calls: 1}
	batch := func(counts ...Count) Batch { return Batch{Recorder: "one", Sequence: 1, Counts: counts} }
	for _, counts := range [][]Count{nil, {good}, {good, good}} {
		if err := batch(counts...).Validate(); err != nil {
			t.Errorf("%v: %v", counts, err)
		}
	}
	for want, bad := range map[string]Batch{
		`recorder "": expected`:     {Sequence: 1},
		`recorder "\x00": expected`: {Recorder: "\x00", Sequence: 1},
		"sequence 0: expected":      {Recorder: "one", Counts: []Count{good}},
		"sequence -1: expected":     {Recorder: "one", Sequence: -1},
	} {
		if err := bad.Validate(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want one with %q that wraps ErrInvalid", bad, err, want)
		}
	}
	for want, change := range map[string]func(*Count){
		"date 2026-2-30: expected":                               func(c *Count) { c.Date = civil.Date{Year: 2026, Month: 2, Day: 30} },
		`application "a\x00b": expected`:                         func(c *Count) { c.Application = "a\x00b" },
		`application "": expected`:                               func(c *Count) { c.Application = "" },
		`endpoint "\xff": expected`:                              func(c *Count) { c.Endpoint = "\xff" },
		"0 calls of GET /v3/info by portal: expected at least 1": func(c *Count) { c.Calls = 0 },
	} {
		bad := good
		change(&bad)
		err := batch(good, bad).Validate()
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want one with %q that wraps ErrInvalid", bad, err, want)
		}
	}
}
