// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"crypto/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// TestLogoPlaceholderRoundTrip checks that a configuration is encoded and decoded as if
// its logo were processed by YAML, whatever the logo's field contains.
func TestLogoPlaceholderRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringMatching(`[ -~äß→\n]{0,100}`),
			rapid.StringMatching(`(data:image/[a-z+]{0,5}(;base64,[A-Za-z0-9+/]{0,200}={0,2})?[ :#]?\n?)?`),
			rapid.StringMatching(`[a-z ]{0,90}\n?( {0,4}logo: )?(data:image/[a-z,]{0,9})?\n?[a-z]?`),
		)
		config := configFile{
			CORS:     corsConfig{AllowedOrigins: rapid.SliceOfN(text, 0, 2).Draw(t, "origins")},
			URL:      v1alpha1.PublicURL(text.Draw(t, "url")),
			Instance: &instanceConfig{Adopts: []string{text.Draw(t, "adopts")}},
			Webhooks: &webhooksConfig{CA: text.Draw(t, "authority")},
			Page: &pageConfig{
				Name: text.Draw(t, "name"), Logo: text.Draw(t, "logo"), CrisisLine: v1alpha1.PhoneNumber(text.Draw(t, "line")),
			},
		}
		through, err := yaml.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(through), config.encode()); diff != "" {
			t.Errorf("written (-through YAML +got):\n%s", diff)
		}
		checkDecode(t, string(through))
		checkDecode(t, text.Draw(t, "text"))
	})
}

func checkDecode(t *rapid.T, text string) {
	t.Helper()
	var want configFile
	wrong := yaml.Unmarshal([]byte(text), &want)
	got, err := decodeConfig(text)
	if (err == nil) != (wrong == nil) {
		t.Fatalf("%q: got error %v, through YAML %v", text, err, wrong)
	}
	if diff := cmp.Diff(want, got); diff != "" && err == nil {
		t.Errorf("%q, read (-through YAML +got):\n%s", text, diff)
	}
}

// BenchmarkLogo measures the cost of the largest logo in a reconcile without changes.
func BenchmarkLogo(b *testing.B) {
	data := make([]byte, branding.MaxLogoBytes)
	_, _ = rand.Read(data)
	in := withBranding(embeddedInput(withPage))
	in.Branding.Logo = branding.Logo{MediaType: "image/png", Data: data}.DataURL()
	written := BuildConfigMap(in).Data
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			BuildConfigMap(in)
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			ParseBranding(written)
		}
	})
}
