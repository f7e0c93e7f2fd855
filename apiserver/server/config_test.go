// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/quota"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/delivery"
)

// mustParseConfig parses a file without unknown fields.
func mustParseConfig(t *testing.T, file string) *config {
	t.Helper()
	parsed, _, err := parseConfig([]byte(file), true)
	if err != nil {
		t.Fatalf("%q: %v", file, err)
	}
	return parsed
}

// TestParseConfigUnknownFields checks that unknown fields are an error if strict, and
// otherwise do not affect the other fields.
func TestParseConfigUnknownFields(t *testing.T) {
	t.Parallel()
	file := []byte("widgets: {prefill: true}\nurl: https://acme.example/\npage: {font: Arial}")
	parsed, unknown, err := parseConfig(file, false)
	if err != nil || parsed.url != "https://acme.example" {
		t.Fatalf("got %v, error %v", parsed, err)
	}
	if diff := cmp.Diff([]string{"widgets (line 1)", "page.font (line 3)"}, unknown); diff != "" {
		t.Errorf("unknown fields (-want +got):\n%s", diff)
	}
	if parsed, _, err := parseConfig(file, true); parsed != nil || err == nil || !strings.Contains(err.Error(), "unknown field widgets (line 1), page.font (line 3)") {
		t.Errorf("strict: got %v, error %v", parsed, err)
	}
}

func TestParseConfigErrors(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"cors: [":                                 "invalid configuration: ",
		"cors: {allowedOrigins: [x]}":             `cors.allowedOrigins[0]: invalid origin "x": expected`,
		"url: x\nwebhooks: {ca: rubbish}":         `url: invalid instance URL "x": expected an http or https URL, such as https://acme.example; webhooks.ca: `,
		"widgets: 1\nplans: {gold: {triage: -1}}": "plans.gold.triage: negative limit -1",
	} {
		if parsed, _, err := parseConfig([]byte(file), false); parsed != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, error %v, want %q", file, parsed, err, want)
		}
	}
}

// TestParseConfigPlans checks that missing plans keep their defaults; a plan in the file
// has only the limits in the file.
func TestParseConfigPlans(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"":                           "trial: explain 100, suggest 100, rationale 100, triage 100; gold: none; '': none",
		"plans: {gold: {triage: 7}}": "trial: explain 100, suggest 100, rationale 100, triage 100; gold: triage 7; '': none",
		"plans: {gold: {explain: 1, rationale: 2, suggest: 3, triage: 4}, trial: }": "trial: none; gold: explain 1, suggest 3, rationale 2, triage 4; '': none",
		"plans: {trial: {triage: 0}}":           "trial: triage 0; gold: none; '': none",
		"plans: {trial: {}, gold: }":            "trial: none; gold: none; '': none",
		"plans: {trial: {explain: null}}":       "trial: none; gold: none; '': none",
		"plans:\n  trial:\n    suggest: 1000\n": "trial: suggest 1000; gold: none; '': none",
	} {
		parsed := mustParseConfig(t, file)
		var said []string
		for _, name := range []string{"trial", "gold", ""} {
			said = append(said, formatLimits(name, parsed.plans[name]))
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

func TestParseConfigFeatures(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]section.Features{
		"":                                     {PatientResults: true},
		"features:":                            {PatientResults: true},
		"features: {patientResults: false}":    {},
		"features: {prefill: {enabled: true}}": {Prefill: true, PatientResults: true},
		"features: {prefill: {confirm: true, enabled: true}}": {Prefill: true, PrefillConfirmation: true, PatientResults: true},
	} {
		if diff := cmp.Diff(want, mustParseConfig(t, file).features); diff != "" {
			t.Errorf("%q (-want +got):\n%s", file, diff)
		}
	}
}

func TestParseConfigWebhooks(t *testing.T) {
	t.Parallel()
	const month = 30 * 24 * time.Hour
	for file, want := range map[string]struct {
		policy    delivery.AddressPolicy
		retention time.Duration
	}{
		"":                                     {delivery.AddressPolicy{AllowedPorts: []uint16{443}}, month},
		"retention: {deliveries: 0d}":          {delivery.AddressPolicy{AllowedPorts: []uint16{443}}, 0},
		"retention: {deliveries: 7d}":          {delivery.AddressPolicy{AllowedPorts: []uint16{443}}, 7 * 24 * time.Hour},
		"webhooks: {allowedPorts: [1, 65535]}": {delivery.AddressPolicy{AllowedPorts: []uint16{1, 65535}}, month},
		"webhooks: {allowPrivateAddresses: true}": {delivery.AddressPolicy{AllowPrivate: true, AllowedPorts: []uint16{443}}, month},
	} {
		parsed := mustParseConfig(t, file)
		if diff := cmp.Diff(delivery.Settings{AddressPolicy: want.policy}, parsed.delivery); diff != "" || parsed.deliveryRetention != want.retention {
			t.Errorf("%q: retention %v, settings (-want +got):\n%s", file, parsed.deliveryRetention, diff)
		}
	}
}

func TestParseConfigOwner(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]storage.Owner{
		"":                          {},
		"instance: {uid: 6f1f7a53}": {UID: "6f1f7a53"},
		"instance: {uid: 6f1f7a53, adopts: [0d7c1e52]}": {UID: "6f1f7a53", AdoptUIDs: []string{"0d7c1e52"}},
	} {
		if diff := cmp.Diff(want, mustParseConfig(t, file).owner); diff != "" {
			t.Errorf("%q (-want +got):\n%s", file, diff)
		}
	}
}

func TestParseConfigPage(t *testing.T) {
	t.Parallel()
	const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>`
	file := `
page:
  name: Acme Health
  logo: data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(logo)) + `
  colors: {primary: '#1D1D1D', accent: '#767676'}
  privacyURL: https://acme.example/privacy?lang=en#cookies
  helpURL: https://acme.example:8443/help
  emergencyNumber: '911'
  crisisLine: '988'
`
	for file, want := range map[string]page.Branding{
		"":                                     {Name: "Anamnesis", Primary: "#005ea5", Accent: "#00703c"},
		"page: {colors: {primary: '#AA0000'}}": {Name: "Anamnesis", Primary: "#aa0000", Accent: "#00703c"},
		file: {
			Name: "Acme Health", Logo: branding.Logo{MediaType: "image/svg+xml", Data: []byte(logo)}, Primary: "#1d1d1d", Accent: "#767676",
			PrivacyURL: "https://acme.example/privacy?lang=en#cookies", HelpURL: "https://acme.example:8443/help",
			EmergencyNumber: "911", CrisisLine: "988",
		},
	} {
		if diff := cmp.Diff(want, mustParseConfig(t, file).page); diff != "" {
			t.Errorf("%q (-want +got):\n%s", file, diff)
		}
	}
}

func TestParseConfigNetwork(t *testing.T) {
	t.Parallel()
	parsed := mustParseConfig(t, "cors: {allowedOrigins: ['https://portal.example']}\nproxies: [10.0.0.0/8]\nurl: https://acme.example/tenant/")
	if !parsed.origins.allows("https://PORTAL.example") || parsed.origins.allows("https://kiosk.example") {
		t.Errorf("got origins %v", parsed.origins)
	}
	if !parsed.proxies.trusts(netip.MustParseAddr("10.1.2.3")) || parsed.proxies.trusts(netip.MustParseAddr("11.1.2.3")) {
		t.Errorf("got proxies %v", parsed.proxies)
	}
	if parsed.url != "https://acme.example/tenant" {
		t.Errorf("got url %q", parsed.url)
	}
}

// FuzzParseConfig checks that the conversion of a valid file never fails.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("cors: {allowedOrigins: ['https://a.example']}"), "https://a.example")
	f.Add([]byte("cors:\n  allowedOrigins: ['*']"), "null")
	f.Add([]byte("plans: {trial: {explain: 5, triage: -1}, gold: }"), "")
	f.Fuzz(func(t *testing.T, file []byte, origin string) {
		parsed, _, err := parseConfig(file, false)
		if (parsed == nil) != (err != nil) {
			t.Fatalf("got %v, error %v", parsed, err)
		}
		if err != nil {
			return
		}
		parsed.origins.allows(origin)
		for name, limits := range parsed.plans {
			if limit := limits.Triage; name == "" || limit != nil && *limit < 0 {
				t.Errorf("accepted plan %q with limit %v", name, limit)
			}
		}
		if parsed.page.Name == "" || len(parsed.delivery.AddressPolicy.AllowedPorts) == 0 {
			t.Errorf("defaults are missing: %+v", parsed)
		}
	})
}

// TestLoadConfigUnknownFields checks that a server in a cluster starts with a file for a
// newer version and logs what it ignores, and that --dev rejects the file.
func TestLoadConfigUnknownFields(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	writeFile(t, file, "widgets: {prefill: true}\nurl: https://acme.example\n")
	var log strings.Builder
	s := &settings{}
	o := options{Command: Command{Config: file}, log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := s.loadConfig(o); err != nil || s.config.Load().url != "https://acme.example" {
		t.Errorf("in a cluster: got %v, error %v", s.config.Load(), err)
	}
	if want := `level=WARN msg="ignored unknown configuration fields" file=` + file + ` fields="[widgets (line 1)]"`; !strings.Contains(log.String(), want) {
		t.Errorf("got log %s, want %s", log.String(), want)
	}
	o.Dev = true
	if err := (&settings{}).loadConfig(o); err == nil || !strings.Contains(err.Error(), "--config: loading config: invalid configuration: unknown field widgets (line 1): check the spelling") {
		t.Errorf("with --dev: got error %v", err)
	}
}
