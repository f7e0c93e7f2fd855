// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"crypto/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
)

func TestEncode(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]ServerConfiguration{
		"cors:\n  allowedOrigins: []\n": {CORS: CORS{AllowedOrigins: []string{}}},
		`apiVersion: config.anamnesis.dev/v1alpha1
kind: ServerConfiguration
cors:
  allowedOrigins:
  - https://portal.example
  - '*'
features:
  patientResults: false
  prefill:
    confirm: true
    enabled: true
instance:
  adopts:
  - 0d7c1e52
  uid: "6"
page:
  colors:
    accent: '#767676'
    primary: '#1d1d1d'
  crisisLine: 116 123
  emergencyNumber: "0112"
  helpURL: tel:+49-30-1234567
  logo: data:image/png;base64,iVBORw0KGgo=
  name: "Yes"
  privacyURL: https://acme.example/privacy
plans:
  gold: {}
  trial:
    explain: 0
    triage: 5000000000
proxies:
- 10.0.0.0/8
- 2001:db8::/32
retention:
  deliveries: 7d
url: https://acme.example
webhooks:
  allowPrivateAddresses: true
  allowedPorts:
  - 443
  ca: |
    -----BEGIN CERTIFICATE-----
`: {
			APIVersion: APIVersion, Kind: Kind,
			CORS:     CORS{AllowedOrigins: []string{"https://portal.example", "*"}},
			Features: &Features{PatientResults: new(false), Prefill: &Prefill{Confirm: true, Enabled: true}},
			Instance: &Instance{Adopts: []Text{"0d7c1e52"}, UID: "6"},
			Page: &Page{
				Colors: &Colors{Accent: "#767676", Primary: "#1d1d1d"}, CrisisLine: "116 123", EmergencyNumber: "0112", HelpURL: "tel:+49-30-1234567",
				Logo: "data:image/png;base64,iVBORw0KGgo=", Name: "Yes", PrivacyURL: "https://acme.example/privacy",
			},
			Plans:     map[string]MonthlyCalls{"trial": {Explain: new(int64(0)), Triage: new(int64(5_000_000_000))}, "gold": {}},
			Proxies:   []string{"10.0.0.0/8", "2001:db8::/32"},
			Retention: &Retention{Deliveries: "7d"},
			URL:       "https://acme.example",
			Webhooks:  &Webhooks{AllowPrivateAddresses: true, AllowedPorts: []int32{443}, CA: "-----BEGIN CERTIFICATE-----\n"},
		},
	} {
		if diff := cmp.Diff(want, string(Encode(&c))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		got, err := DecodeStrict([]byte(want))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, *got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// lines generates text for single-line fields, from plain words to characters with a
// meaning in YAML.
func lines() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-z0-9.:/-]{0,20}`),
		rapid.StringMatching(`[ -~äß→\t]{0,100}`),
		rapid.StringMatching(`0[0-9]{0,3}|yes|no|on|null|~|[0-9]{4}-01-01|<<|=`),
		rapid.String().Filter(isOneLine),
	)
}

func isOneLine(text string) bool {
	for _, r := range text {
		if r == '\n' || r == '\r' {
			return false
		}
	}
	return true
}

// isPlanName reports whether Encode supports a plan name.
func isPlanName(text string) bool { return text != "<<" }

// texts generates multi-line text.
func texts() *rapid.Generator[Text] {
	return rapid.Map(rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~äß→\n\r\t]{0,100}`), rapid.StringMatching(`[\n\t #:a-]{0,20}`)),
		func(text string) Text { return Text(text) })
}

func calls() *rapid.Generator[MonthlyCalls] {
	limit := rapid.Ptr(rapid.Int64(), true)
	return rapid.Custom(func(t *rapid.T) MonthlyCalls {
		return MonthlyCalls{
			Explain: limit.Draw(t, "explain"), Rationale: limit.Draw(t, "rationale"), Suggest: limit.Draw(t, "suggest"), Triage: limit.Draw(t, "triage"),
		}
	})
}

// sections generates a section that may be nil.
func sections[T any](draw func(t *rapid.T) T) *rapid.Generator[*T] {
	return rapid.Ptr(rapid.Custom(draw), true)
}

func pages(logos *rapid.Generator[string]) *rapid.Generator[*Page] {
	colors := sections(func(t *rapid.T) Colors {
		return Colors{Accent: lines().Draw(t, "accent"), Primary: lines().Draw(t, "primary")}
	})
	return sections(func(t *rapid.T) Page {
		return Page{
			Colors: colors.Draw(t, "colors"), CrisisLine: lines().Draw(t, "crisisLine"), EmergencyNumber: lines().Draw(t, "emergencyNumber"),
			HelpURL: lines().Draw(t, "helpURL"), Logo: logos.Draw(t, "logo"), Name: lines().Draw(t, "name"), PrivacyURL: lines().Draw(t, "privacyURL"),
		}
	})
}

// configurations generates configurations, most of them invalid.
func configurations(logos *rapid.Generator[string]) *rapid.Generator[ServerConfiguration] {
	features := sections(func(t *rapid.T) Features {
		prefill := sections(func(t *rapid.T) Prefill {
			return Prefill{Confirm: rapid.Bool().Draw(t, "confirm"), Enabled: rapid.Bool().Draw(t, "enabled")}
		})
		return Features{PatientResults: rapid.Ptr(rapid.Bool(), true).Draw(t, "patientResults"), Prefill: prefill.Draw(t, "prefill")}
	})
	instance := sections(func(t *rapid.T) Instance {
		return Instance{Adopts: rapid.SliceOfN(texts(), 0, 2).Draw(t, "adopts"), UID: lines().Draw(t, "uid")}
	})
	retention := sections(func(t *rapid.T) Retention { return Retention{Days(lines().Draw(t, "deliveries"))} })
	webhooks := sections(func(t *rapid.T) Webhooks {
		return Webhooks{rapid.Bool().Draw(t, "private"), rapid.SliceOfN(rapid.Int32(), 0, 2).Draw(t, "ports"), texts().Draw(t, "ca")}
	})
	return rapid.Custom(func(t *rapid.T) ServerConfiguration {
		return ServerConfiguration{
			CORS: CORS{rapid.SliceOfN(lines(), 0, 3).Draw(t, "origins")}, Features: features.Draw(t, "features"), Instance: instance.Draw(t, "instance"),
			Page: pages(logos).Draw(t, "page"), Plans: rapid.MapOfN(lines().Filter(isPlanName), calls(), 0, 3).Draw(t, "plans"),
			Proxies: rapid.SliceOfN(lines(), 0, 3).Draw(t, "proxies"), Retention: retention.Draw(t, "retention"),
			URL: lines().Draw(t, "url"), Webhooks: webhooks.Draw(t, "webhooks"),
		}
	})
}

// logoURLs generates data URLs and text that resembles them.
func logoURLs() *rapid.Generator[string] {
	return rapid.OneOf(rapid.StringMatching(`(data:image/[a-z+]{0,5}(;base64,[A-Za-z0-9+/]{0,200}={0,2})?[ :#]?)?`), lines())
}

// TestEncodeRoundTrip checks that decoding an encoded configuration returns the original.
func TestEncodeRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := configurations(logoURLs()).Draw(t, "configuration")
		file := Encode(&c)
		got, err := DecodeStrict(file)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if diff := cmp.Diff(c, *got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
		if diff := cmp.Diff(string(file), string(Encode(&c))); diff != "" {
			t.Errorf("encoding twice (-first +second):\n%s", diff)
		}
	})
}

// TestLogoPlaceholderRoundTrip checks that a configuration is encoded and decoded as if
// its logo were processed by YAML, whatever the logo's field contains.
func TestLogoPlaceholderRoundTrip(t *testing.T) {
	t.Parallel()
	logos := rapid.OneOf(
		rapid.StringMatching(`(data:image/[a-z+]{0,5}(;base64,[A-Za-z0-9+/]{0,200}={0,2})?[ :#]?\n?)?`),
		rapid.StringMatching(`[a-z ]{0,90}\n?( {0,4}logo: )?(data:image/[a-z,]{0,9})?\n?[a-z]?`),
	)
	rapid.Check(t, func(t *rapid.T) {
		c := configurations(logos).Draw(t, "configuration")
		throughYAML := encodeYAML(&c)
		if diff := cmp.Diff(string(throughYAML), string(Encode(&c))); diff != "" {
			t.Errorf("encoding (-want +got):\n%s", diff)
		}
		checkDecode(t, throughYAML)
		checkDecode(t, []byte(logos.Draw(t, "file")))
	})
}

func checkDecode(t *rapid.T, file []byte) {
	t.Helper()
	want, _, wantErr := decodeYAML(file)
	got, _, err := Decode(file)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: got error %v, want %v", file, err, wantErr)
	}
	if diff := cmp.Diff(want, got); diff != "" && err == nil {
		t.Errorf("%q: decoding (-want +got):\n%s", file, diff)
	}
}

// BenchmarkLogo measures encoding and decoding with a logo of the maximum size.
func BenchmarkLogo(b *testing.B) {
	data := make([]byte, branding.MaxLogoBytes)
	_, _ = rand.Read(data)
	c := &ServerConfiguration{Page: &Page{Name: "Acme Health", Logo: branding.Logo{MediaType: "image/png", Data: data}.DataURL()}}
	file := Encode(c)
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			Encode(c)
		}
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := Decode(file); err != nil {
				b.Fatal(err)
			}
		}
	})
}
