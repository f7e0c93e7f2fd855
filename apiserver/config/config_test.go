// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/quota"
)

func TestCORSAllows(t *testing.T) {
	t.Parallel()
	const file = `
cors:
  allowedOrigins:
    - https://portal.example
    - HTTPS://Kiosk.example:443/
    - http://intranet.example:8080
    - "http://[2001:db8::1]:8080"
`
	config, warning, err := Parse([]byte(file))
	if err != nil || warning != "" {
		t.Fatal(err, warning)
	}
	for origin, want := range map[string]bool{
		"https://portal.example":         true,
		"https://portal.example:443":     true,
		"https://PORTAL.example":         true,
		"https://kiosk.example":          true,
		"http://intranet.example:8080":   true,
		"http://[2001:db8::1]:8080":      true,
		"http://portal.example":          false,
		"https://portal.example:80":      false,
		"https://portal.example.evil":    false,
		"https://evil.portal.example":    false,
		"https://portal.example@evil.ex": false,
		"http://intranet.example":        false,
		"http://localhost":               false,
		"null":                           false,
		"*":                              false,
		"":                               false,
	} {
		if got := config.CORS.Allows(origin); got != want {
			t.Errorf("%q: allowed %v, expected %v", origin, got, want)
		}
	}
}

func TestCORSAllowsAnyOrigin(t *testing.T) {
	t.Parallel()
	every, err := NewCORS([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	if !every.Allows("https://portal.example") || !every.Allows("null") {
		t.Error("* does not allow every origin")
	}
	if (CORS{}).Allows("https://portal.example") {
		t.Error("the zero value allows an origin")
	}
}

func TestIsLoopbackOrigin(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]bool{
		"http://localhost":            true,
		"http://localhost:3000":       true,
		"https://localhost:3000":      true,
		"http://127.0.0.1:5173":       true,
		"http://localhost.evil":       false,
		"http://127.0.0.1.evil":       false,
		"http://evil/?localhost":      false,
		"http://localhost@evil":       false,
		"http://192.168.0.1":          false,
		"file://localhost":            false,
		"http://localhost:3000/path":  false,
		"http://localhost:notanumber": false,
	} {
		if got := IsLoopbackOrigin(origin); got != want {
			t.Errorf("%q: allowed %v, expected %v", origin, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, problem, warning string }{
		{"empty", "", "", ""},
		{"comment only", "# nothing yet\n", "", ""},
		{"no origins", "cors: {}", "", ""},
		{"null", "cors:\n", "", ""},
		{"newer keys", "widgets: {prefill: true}\ncors: {allowedOrigins: ['https://a.example']}", "", "widgets"},
		{"features", "features: {prefill: {enabled: true, confirm: true}, patientResults: false}", "", ""},
		{"a feature of the wrong type", "features: {patientResults: often}", "invalid configuration", ""},
		{"misspelt key", "cors: {allowedOrigin: ['https://a.example']}", "", "allowedOrigin"},
		{"plans", "plans: {trial: {explain: 5, triage: 0}, gold: {}, empty: }", "", ""},
		{"a newer service", "plans: {trial: {parse: 5}}", "", "parse"},
		{"a limit below zero", "plans: {gold: {explain: 1, triage: -1}}", "plans: gold.triage is -1", ""},
		{"a limit that is a word", "plans: {gold: {explain: many}}", "invalid configuration", ""},
		{"more calls than can be", "plans: {gold: {explain: 9223372036854775808}}", "invalid configuration", ""},
		{"a list of plans", "plans: [trial]", "invalid configuration", ""},
		{"a plan without a name", "plans: {'': {explain: 1}}", "plans: plan name must not be empty", ""},
		{"an address", "url: https://acme.example/tenant/", "", ""},
		{"no address", "url:", "", ""},
		{"an address without a scheme", "url: acme.example", "url: \"acme.example\" is not an instance URL", ""},
		{"an address with a query", "url: https://acme.example/?a=b", "is not an instance URL", ""},
		{"an address with a password", "url: https://u:p@acme.example", "is not an instance URL", ""},
		{"another scheme of an address", "url: ftp://acme.example", "is not an instance URL", ""},
		{"not YAML", "cors: [", "invalid configuration", ""},
		{"wrong type", "cors: {allowedOrigins: 'https://a.example'}", "invalid configuration", ""},
		{"a path", "cors: {allowedOrigins: ['https://a.example', 'https://b.example/app']}", "[1]: \"https://b.example/app\" is not an origin", ""},
		{"no scheme", "cors: {allowedOrigins: ['a.example']}", "is not an origin", ""},
		{"another scheme", "cors: {allowedOrigins: ['ftp://a.example']}", "is not an origin", ""},
		{"a pattern", "cors: {allowedOrigins: ['https://*.example']}", "is not an origin", ""},
		{"a user", "cors: {allowedOrigins: ['https://u@a.example']}", "is not an origin", ""},
		{"a query", "cors: {allowedOrigins: ['https://a.example?']}", "is not an origin", ""},
		{"no host", "cors: {allowedOrigins: ['https://:443']}", "is not an origin", ""},
	} {
		_, warning, err := Parse([]byte(test.file))
		if (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: got %v, expected a complaint about %q", test.name, err, test.problem)
		}
		if (warning == "") != (test.warning == "") || !strings.Contains(warning, test.warning) {
			t.Errorf("%s: warned %q, expected a word about %q", test.name, warning, test.warning)
		}
	}
}

// Missing plans keep their defaults; a plan in the file has only the limits in the file.
func TestParsePlans(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"":                                      "trial: explain 100, suggest 100, rationale 100, triage 100; gold: none; '': none",
		"plans: {gold: {triage: 7}}":            "trial: explain 100, suggest 100, rationale 100, triage 100; gold: triage 7; '': none",
		"plans: {trial: {triage: 0}}":           "trial: triage 0; gold: none; '': none",
		"plans: {trial: {}, gold: }":            "trial: none; gold: none; '': none",
		"plans: {trial: {explain: null}}":       "trial: none; gold: none; '': none",
		"plans:\n  trial:\n    suggest: 1000\n": "trial: suggest 1000; gold: none; '': none",
	} {
		config, warning, err := Parse([]byte(file))
		if err != nil || warning != "" {
			t.Errorf("%q: %v, %s", file, err, warning)
			continue
		}
		var said []string
		for _, name := range []string{"trial", "gold", ""} {
			said = append(said, formatLimits(name, config.Plans[name]))
		}
		if got := strings.Join(said, "; "); got != want {
			t.Errorf("%q: got %s, want %s", file, got, want)
		}
	}
}

func formatLimits(plan string, limits quota.Limits) string {
	var said []string
	for _, service := range []quota.Operation{quota.Explain, quota.Suggest, quota.Rationale, quota.Triage} {
		if limit := limits.For(service); limit != nil {
			said = append(said, fmt.Sprintf("%s %d", service, *limit))
		}
	}
	if said == nil {
		said = []string{"none"}
	}
	if plan == "" {
		plan = "''"
	}
	return plan + ": " + strings.Join(said, ", ")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("cors: {allowedOrigins: ['https://a.example']}"), "https://a.example")
	f.Add([]byte("cors:\n  allowedOrigins: ['*']"), "null")
	f.Add([]byte("plans: {trial: {explain: 5, triage: -1}, gold: }"), "")
	f.Fuzz(func(t *testing.T, content []byte, origin string) {
		config, _, err := Parse(content)
		if err != nil && config.CORS.Allows(origin) {
			t.Errorf("a refused configuration allows %q", origin)
		}
		for name, limits := range config.Plans {
			if limit := limits.Triage; name == "" || limit != nil && *limit < 0 {
				t.Errorf("accepted the plan %q with %v", name, limit)
			}
		}
	})
}
