// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// defaults returns the configuration of an empty file.
func defaults() *ServerConfiguration {
	hundred := MonthlyCalls{Explain: new(int64(100)), Rationale: new(int64(100)), Suggest: new(int64(100)), Triage: new(int64(100))}
	return &ServerConfiguration{
		Features:  &Features{PatientResults: new(true), Prefill: &Prefill{}},
		Page:      &Page{Name: "Anamnesis", Colors: &Colors{Accent: "#00703c", Primary: "#005ea5"}},
		Plans:     map[string]MonthlyCalls{"trial": hundred},
		Retention: &Retention{Deliveries: "30d"},
		Webhooks:  &Webhooks{AllowedPorts: []int32{443}},
	}
}

func TestSetDefaults(t *testing.T) {
	t.Parallel()
	for file, edit := range map[string]func(c *ServerConfiguration){
		"": func(*ServerConfiguration) {},
		"cors:\nfeatures:\npage: {}\nplans: {}\nretention: {}\nwebhooks: {allowedPorts: []}": func(*ServerConfiguration) {},
		"features: {patientResults: false}":                                                  func(c *ServerConfiguration) { c.Features.PatientResults = new(false) },
		"features: {prefill: {enabled: true}}":                                               func(c *ServerConfiguration) { c.Features.Prefill.Enabled = true },
		"page: {colors: {primary: '#AA0000'}}":                                               func(c *ServerConfiguration) { c.Page.Colors.Primary = "#AA0000" },
		"page: {name: Acme Health}":                                                          func(c *ServerConfiguration) { c.Page.Name = "Acme Health" },
		"retention: {deliveries: 0d}":                                                        func(c *ServerConfiguration) { c.Retention.Deliveries = "0d" },
		"webhooks: {allowedPorts: [8443]}":                                                   func(c *ServerConfiguration) { c.Webhooks.AllowedPorts = []int32{8443} },
		"plans: {gold: {triage: 5}}":                                                         func(c *ServerConfiguration) { c.Plans["gold"] = MonthlyCalls{Triage: new(int64(5))} },
		"plans: {trial: {explain: 7}}":                                                       func(c *ServerConfiguration) { c.Plans["trial"] = MonthlyCalls{Explain: new(int64(7))} },
		"plans: {trial: {}}":                                                                 func(c *ServerConfiguration) { c.Plans["trial"] = MonthlyCalls{} },
		"plans: {trial: {triage: 0}}":                                                        func(c *ServerConfiguration) { c.Plans["trial"] = MonthlyCalls{Triage: new(int64(0))} },
		"instance: {uid: 6f1f7a53}":                                                          func(c *ServerConfiguration) { c.Instance = &Instance{UID: "6f1f7a53"} },
	} {
		want := defaults()
		edit(want)
		got, err := DecodeStrict([]byte(file))
		if err != nil {
			t.Fatalf("%q: %v", file, err)
		}
		got.SetDefaults()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", file, diff)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%q: %v", file, err)
		}
	}
}

// TestSetDefaultsIsIdempotent checks that setting defaults twice changes nothing, even
// after a round trip.
func TestSetDefaultsIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := configurations(logoURLs()).Draw(t, "configuration")
		c.SetDefaults()
		file := Encode(&c)
		got, err := DecodeStrict(file)
		if err != nil {
			t.Fatal(err)
		}
		got.SetDefaults()
		if diff := cmp.Diff(string(file), string(Encode(got))); diff != "" {
			t.Errorf("(-once +twice):\n%s", diff)
		}
	})
}
