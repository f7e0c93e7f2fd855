// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseWebhooks(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]struct {
		webhooks   Webhooks
		deliveries time.Duration
	}{
		"":                                   {deliveries: 30 * 24 * time.Hour},
		"retention: {deliveries: 0d}":        {},
		"retention: {deliveries: 7d}":        {deliveries: 7 * 24 * time.Hour},
		"webhooks: {allowedPorts: [1, 443]}": {Webhooks{AllowedPorts: []uint16{1, 443}}, 30 * 24 * time.Hour},
		"webhooks: {allowPrivateAddresses: true}": {Webhooks{AllowPrivateAddresses: true}, 30 * 24 * time.Hour},
	} {
		parsed, warning, err := Parse([]byte(file))
		if diff := cmp.Diff(want.webhooks, parsed.Webhooks); diff != "" || warning != "" || err != nil || parsed.Retention.Deliveries != want.deliveries {
			t.Errorf("%q: kept for %v, %s, %v\n%s", file, parsed.Retention.Deliveries, warning, err, diff)
		}
	}
	for file, want := range map[string]string{
		"webhooks: {allowedPorts: [0]}":        "webhooks: allowedPorts[0]: expected 1 to 65535",
		"webhooks: {ca: rubbish}":              "webhooks: ca: ",
		"retention: {deliveries: 30}":          "retention: deliveries: \"30\" is not a number of days such as 30d",
		"retention: {deliveries: 99999d}":      "retention: deliveries: ",
		"retention: {deliveries: -1d}":         "retention: deliveries: ",
		"webhooks: {allowedPorts: [100000]}":   "invalid configuration",
		"webhooks: {allowedPorts: [https, 1]}": "invalid configuration",
	} {
		if _, _, err := Parse([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", file, err, want)
		}
	}
}
