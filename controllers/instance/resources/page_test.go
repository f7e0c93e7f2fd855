// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

func TestValidateColors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		primary, accent string
		want            []string // words in the error; none if the colors are accepted
	}{
		"the server's own":      {"#005ea5", "#00703c", nil},
		"as light as may be":    {"#767676", "#767676", nil},
		"a light one":           {"#ffdd00", "#00703c", []string{"primary #ffdd00 has a contrast of 1.34:1", "accent #00703c has 6.2:1", "at least 4.5:1"}},
		"the other":             {"#00703c", "#FFDD00", []string{"primary #00703c has a contrast of 6.2:1", "accent #FFDD00 has 1.34:1", "at least 4.5:1"}},
		"both, and hardly":      {"#777777", "#777777", []string{"primary #777777 has a contrast of 4.47:1", "accent #777777 has 4.47:1"}},
		"a first that is none":  {"blue", "#00703c", []string{`primary: invalid color "blue"`}},
		"a second that is none": {"#005ea5", "", []string{`accent: invalid color ""`}},
	} {
		err := ValidateColors(v1alpha1.PageColors{Primary: test.primary, Accent: test.accent})
		if (err == nil) != (test.want == nil) {
			t.Errorf("%s: got error %v", name, err)
		}
		for _, substring := range test.want {
			if err != nil && !strings.Contains(err.Error(), substring) {
				t.Errorf("%s: got error %v, want one that contains %q", name, err, substring)
			}
		}
	}
}

// TestBrandingRoundTrip checks that the branding can be read back from the ConfigMap.
func TestBrandingRoundTrip(t *testing.T) {
	t.Parallel()
	in := withBranding(embeddedInput(withPage))
	if diff := cmp.Diff(in.Branding, ParseBranding(BuildConfigMap(in).Data)); diff != "" {
		t.Errorf("branding (-want +got):\n%s", diff)
	}
	for name, content := range map[string]map[string]string{
		"no content": nil, "none of a page": BuildConfigMap(embeddedInput()).Data, "no YAML": {configFileName: "page: ["},
	} {
		if diff := cmp.Diff(Branding{}, ParseBranding(content)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
