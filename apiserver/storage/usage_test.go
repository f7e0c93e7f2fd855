// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"errors"
	"strings"
	"testing"
)

func TestValidateUsage(t *testing.T) {
	t.Parallel()
	good := UsageCount{Date: Date{2026, 11, 21}, Application: "portal", Endpoint: "GET /v3/info", Calls: 1}
	if err := ValidateUsage([]UsageCount{good, good}); err != nil {
		t.Errorf("%v: %v", good, err)
	}
	if err := ValidateUsage(nil); err != nil {
		t.Errorf("no counts: %v", err)
	}
	for want, change := range map[string]func(*UsageCount){
		"2026-2-30 is not a day":                                   func(c *UsageCount) { c.Date = Date{2026, 2, 30} },
		`the application "a\x00b" has`:                             func(c *UsageCount) { c.Application = "a\x00b" },
		`the application "" has`:                                   func(c *UsageCount) { c.Application = "" },
		`the endpoint "\xff" has`:                                  func(c *UsageCount) { c.Endpoint = "\xff" },
		"0 calls of GET /v3/info by portal; a count is at least 1": func(c *UsageCount) { c.Calls = 0 },
	} {
		bad := good
		change(&bad)
		err := ValidateUsage([]UsageCount{good, bad})
		if !errors.Is(err, ErrInvalidUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want one with %q that wraps ErrInvalidUsage", bad, err, want)
		}
	}
}
