// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A Branding is the last valid value of the branding fields that the API server cannot
// validate.
type Branding struct {
	// Logo is a data URL. It is empty if there is no logo.
	Logo string
	// Colors defaults to the server's colors if nil.
	Colors *v1alpha1.PageColors
}

// pageConfig configures the appearance and the links of pages.
type pageConfig struct {
	Name            string               `json:"name,omitempty"`
	Logo            string               `json:"logo,omitempty"`
	Colors          *v1alpha1.PageColors `json:"colors,omitempty"`
	PrivacyURL      v1alpha1.PageURL     `json:"privacyURL,omitempty"`
	HelpURL         v1alpha1.HelpURL     `json:"helpURL,omitempty"`
	EmergencyNumber v1alpha1.PhoneNumber `json:"emergencyNumber,omitempty"`
	CrisisLine      v1alpha1.PhoneNumber `json:"crisisLine,omitempty"`
}

// SupportsPages reports whether the server has pages for patients.
func (in Input) SupportsPages() bool { return in.has(featurePages) }

// newPageConfig returns the configuration of the server's pages, or nil if the spec
// configures none or the server does not support them.
func newPageConfig(in Input) *pageConfig {
	wanted := in.Instance.Spec.Page
	if wanted == nil || !in.SupportsPages() {
		return nil
	}
	return &pageConfig{
		Name:            wanted.Name,
		Logo:            in.Branding.Logo,
		Colors:          in.Branding.Colors,
		PrivacyURL:      wanted.PrivacyURL,
		HelpURL:         wanted.HelpURL,
		EmergencyNumber: wanted.EmergencyNumber,
		CrisisLine:      wanted.CrisisLine,
	}
}

// ParseBranding returns the branding in the ConfigMap's content, or the zero value.
func ParseBranding(content map[string]string) Branding {
	config, err := decodeConfig(content[configFileName])
	if err != nil || config.Page == nil {
		return Branding{}
	}
	return Branding{config.Page.Logo, config.Page.Colors}
}

// ValidateColors rejects colors without sufficient contrast to white, as text or as
// background. The server does not accept them either.
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
