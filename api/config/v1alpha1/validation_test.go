// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// validate decodes and validates a file.
func validate(t *testing.T, file string) error {
	t.Helper()
	c, err := DecodeStrict([]byte(file))
	if err != nil {
		t.Fatalf("%q: %v", file, err)
	}
	return c.Validate()
}

func TestValidateAccepts(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"",
		"cors: {allowedOrigins: ['https://portal.example', 'HTTPS://Kiosk.example:443/', 'http://[2001:db8::1]:8080', '*']}",
		"plans: {trial: {explain: 5, triage: 0}, gold: {}, empty: }",
		"proxies: [10.0.0.0/8, 192.168.1.7/24, 203.0.113.9, '2001:db8::/32', '::1', '::ffff:172.16.0.0/108']",
		"url: https://acme.example/tenant/",
		"url: http://127.0.0.1:8080",
		"webhooks: {allowedPorts: [1, 65535]}",
		"retention: {deliveries: 36500d}",
	} {
		if err := validate(t, file); err != nil {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestValidateRejects(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"cors: {allowedOrigins: ['https://a.example', 'https://b.example/app']}": `cors.allowedOrigins[1]: invalid origin "https://b.example/app": expected`,
		"cors: {allowedOrigins: ['a.example']}":                                  "cors.allowedOrigins[0]: ",
		"cors: {allowedOrigins: ['ftp://a.example']}":                            "invalid origin",
		"cors: {allowedOrigins: ['https://*.example']}":                          "invalid origin",
		"cors: {allowedOrigins: ['https://u@a.example']}":                        "invalid origin",
		"cors: {allowedOrigins: ['https://a.example?']}":                         "invalid origin",
		"cors: {allowedOrigins: ['https://:443']}":                               "invalid origin",
		"plans: {gold: {explain: 1, triage: -1}}":                                "plans.gold.triage: negative limit -1",
		"plans: {'': {explain: 1}}":                                              "plans: plan name must not be empty",
		"proxies: [10.0.0.0/8, ingress]":                                         `proxies[1]: invalid CIDR "ingress": expected`,
		"url: acme.example":                                                      `url: invalid instance URL "acme.example"`,
		"url: https://acme.example/?a=b":                                         "invalid instance URL",
		"url: https://u:p@acme.example":                                          "invalid instance URL",
		"url: ftp://acme.example":                                                "invalid instance URL",
		"webhooks: {allowedPorts: [443, 0]}":                                     "webhooks.allowedPorts[1]: expected 1 to 65535",
		"webhooks: {allowedPorts: [100000]}":                                     "webhooks.allowedPorts[0]: expected 1 to 65535",
		"webhooks: {ca: rubbish}":                                                "webhooks.ca: expected PEM-encoded certificates",
		"retention: {deliveries: 30}":                                            `retention.deliveries: invalid number of days "30": expected a value such as 30d`,
		"retention: {deliveries: 99999d}":                                        "retention.deliveries: \"99999d\" exceeds the maximum of 36500d",
		"retention: {deliveries: -1d}":                                           "retention.deliveries: ",
	} {
		if err := validate(t, file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", file, err, want)
		}
	}
}

// TestValidateReportsAllErrors checks that an invalid file is rejected with all errors at
// once, on a single line.
func TestValidateReportsAllErrors(t *testing.T) {
	t.Parallel()
	err := validate(t, "url: x\nproxies: [y]\nplans: {b: {triage: -1}, a: {explain: -1}}\npage: {name: ' ', helpURL: z}")
	var list ErrorList
	if !errors.As(err, &list) {
		t.Fatalf("got %v", err)
	}
	var fields []string
	for _, e := range list {
		fields = append(fields, e.Field)
	}
	want := []string{"plans.a.explain", "plans.b.triage", "proxies[0]", "url", "page.name", "page.helpURL"}
	if diff := cmp.Diff(want, fields); diff != "" || strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), "; ") < len(want)-1 {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestNormalizeOrigin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://portal.example":       "https://portal.example",
		"HTTPS://Kiosk.example:443/":   "https://kiosk.example",
		"http://kiosk.example:80":      "http://kiosk.example",
		"http://[2001:DB8::1]:8080":    "http://[2001:db8::1]:8080",
		"https://kiosk.example:80":     "https://kiosk.example:80",
		"null":                         "",
		"*":                            "",
		"":                             "",
		"http://localhost:notanumber":  "",
		"https://portal.example/#here": "",
	} {
		if got, err := NormalizeOrigin(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestParseNetwork(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "192.168.1.7/24": "192.168.1.0/24", "203.0.113.9": "203.0.113.9/32", "2001:db8::/32": "2001:db8::/32",
		"::1": "::1/128", "::ffff:172.16.0.0/108": "172.16.0.0/12", "::ffff:10.0.0.1": "10.0.0.1/32",
	} {
		if got, err := ParseNetwork(text); err != nil || got != netip.MustParsePrefix(want) {
			t.Errorf("ParseNetwork(%s) = %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "10.0.0.0/33", "10.0.0/8", "ingress", "10.0.0.1:80", "fe80::1%eth0", "fe80::%eth0/64"} {
		if got, err := ParseNetwork(text); err == nil || !strings.Contains(err.Error(), "invalid CIDR") {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "https://acme.example": "https://acme.example", "https://acme.example//": "https://acme.example", "http://[::1]:8080/a/": "http://[::1]:8080/a",
	} {
		if got, err := ParseURL(text); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	if _, err := ParseURL("https://" + strings.Repeat("*", 1000)); err == nil || len(err.Error()) > 300 {
		t.Errorf("got %v", err)
	}
}

func TestDaysDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[Days]time.Duration{"0d": 0, "7d": 7 * 24 * time.Hour, "36500d": 36500 * 24 * time.Hour} {
		if got, err := text.Duration(); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []Days{"", "30", "d", "-1d", "1.5d", "36501d", "100000d", "30d "} {
		if got, err := text.Duration(); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
