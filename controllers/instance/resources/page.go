// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A Branding is the last valid value of the branding fields that the API server cannot
// validate.
type Branding struct {
	// Logo is a data URL. It is empty if there is no logo.
	Logo string
	// Colors are the page colors. If nil, the server's defaults apply.
	Colors *v1alpha1.PageColors
}

// newPageConfig returns the configuration of the server's pages, or nil if the spec
// configures none.
func newPageConfig(in Input) *configv1alpha1.Page {
	page := in.Instance.Spec.Page
	if page == nil {
		return nil
	}
	config := &configv1alpha1.Page{
		CrisisLine:      string(page.CrisisLine),
		EmergencyNumber: string(page.EmergencyNumber),
		HelpURL:         string(page.HelpURL),
		Logo:            in.Branding.Logo,
		Name:            page.Name,
		PrivacyURL:      string(page.PrivacyURL),
	}
	if colors := in.Branding.Colors; colors != nil {
		config.Colors = &configv1alpha1.Colors{Accent: colors.Accent, Primary: colors.Primary}
	}
	return config
}

// ParseBranding returns the branding in the ConfigMap's content, or the zero value.
func ParseBranding(content map[string]string) Branding {
	page := decodeConfig(content).Page
	if page == nil {
		return Branding{}
	}
	parsed := Branding{Logo: page.Logo}
	if page.Colors != nil {
		parsed.Colors = &v1alpha1.PageColors{Primary: page.Colors.Primary, Accent: page.Colors.Accent}
	}
	return parsed
}

// ValidateColors returns an error if the contrast between a color and white is too low for
// text. The server rejects such colors too.
func ValidateColors(colors v1alpha1.PageColors) error {
	primary, err := contrastWithWhite(colors.Primary)
	if err != nil {
		return fmt.Errorf("primary: %w", err)
	}
	accent, err := contrastWithWhite(colors.Accent)
	if err != nil {
		return fmt.Errorf("accent: %w", err)
	}
	if min(primary, accent) < branding.MinTextContrast {
		return fmt.Errorf("against white, primary %s has a contrast of %s and accent %s has %s: use colors with a contrast of at least %s",
			colors.Primary, primary, colors.Accent, accent, branding.MinTextContrast)
	}
	return nil
}

func contrastWithWhite(text string) (branding.ContrastRatio, error) {
	color, err := branding.ParseColor(text)
	if err != nil {
		return 0, err
	}
	return branding.Contrast(color, branding.White), nil
}

// LogoReferenceFor returns the reference to the logo, including its key, or nil.
func LogoReferenceFor(instance *v1alpha1.Instance) *v1alpha1.ConfigMapKeyReference {
	page := instance.Spec.Page
	if page == nil || page.Logo == nil {
		return nil
	}
	reference := page.Logo.ConfigMapRef
	reference.Key = cmp.Or(reference.Key, "logo")
	return &reference
}
