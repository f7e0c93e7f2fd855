// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestDecodeUnknownFields covers the policy in the package comment: Decode ignores unknown
// fields and returns their paths, DecodeStrict rejects them.
func TestDecodeUnknownFields(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"cors: {allowedOrigins: ['https://a.example']}":        nil,
		"widgets: {prefill: true}\ncors: {allowedOrigins: []}": {"widgets (line 1)"},
		"cors: {allowedOrigin: ['https://a.example']}":         {"cors.allowedOrigin (line 1)"},
		"CORS: {}": {"CORS (line 1)"},
		"plans:\n  trial:\n    parse: 5\n    explain: 1":                        {"plans.trial.parse (line 3)"},
		"page:\n  colors: {primary: '#1d1d1d', text: '#000000'}\n  font: Arial": {"page.colors.text (line 2)", "page.font (line 3)"},
		"features: {prefill: {enabled: true, evidence: 5}}":                     {"features.prefill.evidence (line 1)"},
		"1: a\n~: b": {"1 (line 1)", "~ (line 2)"},
		"plans:\n  gold: &gold {parse: 5}\n  silver: *gold": {"plans.gold.parse (line 2)", "plans.silver.parse (line 2)"},
		"page: {<<: {font: Arial, name: Acme}}":             {"page.font (line 1)"},
		"page: {<<: [{font: Arial}, {size: 5}]}":            {"page.font (line 1)", "page.size (line 1)"},
		"widgets: &w {a: 1}\nextra: {<<: *w}":               {"widgets (line 1)", "extra (line 2)"},
	} {
		_, unknown, err := Decode([]byte(file))
		if diff := cmp.Diff(want, unknown); diff != "" || err != nil {
			t.Errorf("%q: error %v (-want +got):\n%s", file, err, diff)
		}
		_, err = DecodeStrict([]byte(file))
		if (err == nil) != (want == nil) || err != nil && !strings.Contains(err.Error(), "unknown field "+strings.Join(want, ", ")) {
			t.Errorf("%q: got strict error %v, want %v", file, err, want)
		}
	}
}

// TestDecodeKeepsKnownFieldsBesideUnknownFields checks that Decode reads all known fields of
// a file for a newer version.
func TestDecodeKeepsKnownFieldsBesideUnknownFields(t *testing.T) {
	t.Parallel()
	got, _, err := Decode([]byte("page: {name: Acme, font: Arial}\nwidgets: []\nplans: {gold: {parse: 1, triage: 5}}"))
	want := &ServerConfiguration{Page: &Page{Name: "Acme"}, Plans: map[string]MonthlyCalls{"gold": {Triage: new(int64(5))}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	empty := &ServerConfiguration{}
	for file, want := range map[string]*ServerConfiguration{
		"":                          empty,
		"# nothing yet\n":           empty,
		"---\n":                     empty,
		"{}":                        empty,
		"null":                      empty,
		"cors:\nfeatures:\npage:\n": empty,
		"apiVersion: config.anamnesis.dev/v1alpha1\nkind: ServerConfiguration": {APIVersion: APIVersion, Kind: Kind},
		"page: {emergencyNumber: 0112, name: 42}":                              {Page: &Page{EmergencyNumber: "0112", Name: "42"}},
		"page: {name: yes, crisisLine: 116_123}":                               {Page: &Page{Name: "yes", CrisisLine: "116_123"}},
		"plans: {trial: {explain: null}, gold: }":                              {Plans: map[string]MonthlyCalls{"trial": {}, "gold": {}}},
		"retention: {deliveries: 30}":                                          {Retention: &Retention{Deliveries: "30"}},
	} {
		got, unknown, err := Decode([]byte(file))
		if diff := cmp.Diff(want, got); diff != "" || unknown != nil || err != nil {
			t.Errorf("%q: unknown %v, error %v (-want +got):\n%s", file, unknown, err, diff)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"cors: [": "invalid configuration: ",
		"cors: {allowedOrigins: 'https://a.example'}":       "invalid configuration: line 1: cannot unmarshal !!str",
		"features: {patientResults: often}":                 "invalid configuration: line 1",
		"plans: {gold: {explain: many}}":                    "invalid configuration: line 1",
		"plans: {gold: {explain: 9223372036854775808}}":     "invalid configuration: line 1",
		"plans: [trial]":                                    "invalid configuration: line 1",
		"page: {colors: '#005ea5'}":                         "invalid configuration: line 1",
		"proxies: 10.0.0.0/8":                               "invalid configuration: line 1",
		"webhooks: {allowedPorts: [https, 1]}":              "invalid configuration: line 1",
		"[]":                                                "invalid configuration: line 1",
		"url: https://a.example\nurl: https://b.example":    "already defined at line 1",
		"widgets: 1\nwidgets: 2":                            "already defined at line 1",
		"apiVersion: config.anamnesis.dev/v2":               `invalid configuration: apiVersion: unsupported version "config.anamnesis.dev/v2": expected config.anamnesis.dev/v1alpha1, or no value`,
		"kind: Instance":                                    `invalid configuration: kind: unsupported kind "Instance": expected ServerConfiguration, or no value`,
		"url: &a [*a]":                                      "invalid configuration: ",
		"plans: {gold: {explain: x, triage: y}}\nurl: {}\n": "; line 2: ",
	} {
		c, _, err := Decode([]byte(file))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || c != nil {
			t.Errorf("%q: got %v, error %v, want %q", file, c, err, want)
		}
	}
}

// FuzzDecode checks that decoded files survive a round trip, and that setting defaults does
// not make a configuration valid or invalid.
func FuzzDecode(f *testing.F) {
	for _, file := range []string{
		"", "cors: {allowedOrigins: ['https://a.example', '*']}", "plans: {trial: {explain: 5, triage: -1}, gold: }", "widgets: {a: [1]}",
		"page:\n  logo: data:image/png;base64,iVBORw0KGgo=\n  name: Acme\n", "webhooks:\n  ca: |\n    a\n    b\n", "a: &a {b: 1}\npage: {<<: *a}",
		"features: {prefill: {enabled: yes}}\nretention: {deliveries: 7d}\nproxies: [10.0.0.0/8]\nurl: https://acme.example/",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		c, unknown, err := Decode(file)
		if _, strict := DecodeStrict(file); (strict == nil) != (err == nil && unknown == nil) {
			t.Fatalf("unknown fields %v, strict error %v", unknown, strict)
		}
		if err != nil || c.Validate() != nil {
			return
		}
		if _, unsupported := c.Plans["<<"]; unsupported {
			return
		}
		again, err := DecodeStrict(Encode(c))
		if err != nil {
			t.Fatalf("decoding the encoded configuration\n%s\nfailed: %v", Encode(c), err)
		}
		if diff := cmp.Diff(c, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("round trip (-want +got):\n%s", diff)
		}
		c.SetDefaults()
		if err := c.Validate(); err != nil {
			t.Errorf("validation changed with defaults: %v", err)
		}
	})
}
