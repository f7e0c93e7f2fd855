// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/api/contrast"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A Look is what of a page's look the API server cannot judge, as it was when it was
// good last.
type Look struct {
	// Logo is a data URL; empty for none.
	Logo string
	// Colors are nil for those of the server.
	Colors *v1alpha1.PageColors
}

// pageConfig tells the server how pages look, and where they lead.
type pageConfig struct {
	Name            string                   `json:"name,omitempty"`
	Logo            string                   `json:"logo,omitempty"`
	Colors          *v1alpha1.PageColors     `json:"colors,omitempty"`
	PrivacyURL      v1alpha1.PageURL         `json:"privacyURL,omitempty"`
	HelpURL         v1alpha1.HelpURL         `json:"helpURL,omitempty"`
	EmergencyNumber v1alpha1.TelephoneNumber `json:"emergencyNumber,omitempty"`
	CrisisLine      v1alpha1.TelephoneNumber `json:"crisisLine,omitempty"`
}

// ShowsPages says whether the server has pages for patients.
func (in Input) ShowsPages() bool { return in.has(showsPages) }

// pageOf is how the server's pages look; nil where the spec or the server has none.
func pageOf(in Input) *pageConfig {
	wanted := in.Instance.Spec.Page
	if wanted == nil || !in.ShowsPages() {
		return nil
	}
	return &pageConfig{
		Name:            wanted.Name,
		Logo:            in.Look.Logo,
		Colors:          in.Look.Colors,
		PrivacyURL:      wanted.PrivacyURL,
		HelpURL:         wanted.HelpURL,
		EmergencyNumber: wanted.EmergencyNumber,
		CrisisLine:      wanted.CrisisLine,
	}
}

// LookIn is the look in the content of the ConfigMap; the zero value when it says
// nothing of it.
func LookIn(content map[string]string) Look {
	config, err := decodeConfig(content[configFileName])
	if err != nil || config.Page == nil {
		return Look{}
	}
	return Look{config.Page.Logo, config.Page.Colors}
}

// CheckColors refuses colours in which not everybody can read text on white, or white
// text on them: the server does not take them.
func CheckColors(colors v1alpha1.PageColors) error {
	primary, err := againstWhite(colors.Primary)
	if err != nil {
		return fmt.Errorf("primary: %w", err)
	}
	accent, err := againstWhite(colors.Accent)
	if err != nil {
		return fmt.Errorf("accent: %w", err)
	}
	if min(primary, accent) < contrast.ForText {
		return fmt.Errorf("against white, primary %s has a contrast of %s and accent %s one of %s: expected at least %s of each, so that all can read text in it and white text on it",
			colors.Primary, primary, colors.Accent, accent, contrast.ForText)
	}
	return nil
}

func againstWhite(text string) (contrast.Ratio, error) {
	color, err := contrast.Parse(text)
	if err != nil {
		return 0, err
	}
	return contrast.Between(color, contrast.White), nil
}

// LogoOf is where the logo of pages is, with the key that holds it; nil for none.
func LogoOf(instance *v1alpha1.Instance) *v1alpha1.LogoReference {
	page := instance.Spec.Page
	if page == nil || page.Logo == nil {
		return nil
	}
	reference := page.Logo.ConfigMapRef
	reference.Key = cmp.Or(reference.Key, "logo")
	return &reference
}
