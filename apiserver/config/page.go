// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
)

// Page configures the appearance of the patients' pages and where they link to.
type Page struct {
	// Name is the operator of the instance as patients know it.
	Name string
	// Logo is shown next to the name; optional.
	Logo Image
	// Primary and Accent are colors, each #rrggbb in lower case, with enough contrast
	// against white both as background and as text.
	Primary, Accent string
	// PrivacyURL and HelpURL link to the privacy notice and to help; optional. PrivacyURL
	// must be https; HelpURL may also be tel or mailto.
	PrivacyURL, HelpURL string
	// EmergencyNumber and CrisisLine are telephone numbers as people write them; optional.
	EmergencyNumber, CrisisLine string
}

// Image is an image.
type Image struct {
	// MediaType is image/png, image/jpeg, image/webp or image/svg+xml.
	MediaType string
	Data      []byte
}

// defaultPage is the default appearance.
var defaultPage = Page{Name: "Anamnesis", Primary: "#005ea5", Accent: "#00703c"}

// pageYAML is Page as written in the file, with the logo as a data URL.
type pageYAML struct {
	Name   string `yaml:"name"`
	Logo   string `yaml:"logo"`
	Colors struct {
		Primary string `yaml:"primary"`
		Accent  string `yaml:"accent"`
	} `yaml:"colors"`
	PrivacyURL      string `yaml:"privacyURL"`
	HelpURL         string `yaml:"helpURL"`
	EmergencyNumber string `yaml:"emergencyNumber"`
	CrisisLine      string `yaml:"crisisLine"`
}

func (p pageYAML) parse() (Page, error) {
	picture, err := branding.ParseLogo(p.Logo)
	if err != nil {
		return Page{}, fmt.Errorf("logo: %w", err)
	}
	for _, text := range []struct {
		key, value string
		check      func(string) error
	}{
		{"name", p.Name, validateName},
		{"colors.primary", p.Colors.Primary, validateColor},
		{"colors.accent", p.Colors.Accent, validateColor},
		{"privacyURL", p.PrivacyURL, validateURL},
		{"helpURL", p.HelpURL, validateHelpURL},
		{"emergencyNumber", p.EmergencyNumber, validatePhoneNumber},
		{"crisisLine", p.CrisisLine, validatePhoneNumber},
	} {
		if text.value == "" {
			continue
		}
		if err := text.check(text.value); err != nil {
			return Page{}, fmt.Errorf("%s: %w", text.key, err)
		}
	}
	return Page{
		Name:            cmp.Or(p.Name, defaultPage.Name),
		Logo:            Image(picture),
		Primary:         cmp.Or(strings.ToLower(p.Colors.Primary), defaultPage.Primary),
		Accent:          cmp.Or(strings.ToLower(p.Colors.Accent), defaultPage.Accent),
		PrivacyURL:      p.PrivacyURL,
		HelpURL:         p.HelpURL,
		EmergencyNumber: p.EmergencyNumber,
		CrisisLine:      p.CrisisLine,
	}, nil
}

// maxNameLength is the maximum length of a name in a heading, in characters.
const maxNameLength = 100

func validateName(name string) error {
	if strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > maxNameLength || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%.100q is not a valid name: expected at most %d characters in one line", name, maxNameLength)
	}
	return nil
}

// validateColor rejects colors without enough contrast against white.
func validateColor(text string) error {
	color, err := branding.ParseColor(text)
	if err != nil {
		return err
	}
	if ratio := branding.Contrast(color, branding.White); ratio < branding.MinTextContrast {
		return fmt.Errorf("%s has a contrast of %s, expected at least %s against white", text, ratio, branding.MinTextContrast)
	}
	return nil
}

// maxURLLength is the maximum length of a URL.
const maxURLLength = 1024

// validateURL accepts URLs that a browser opens.
func validateURL(text string) error {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" || !isValidHost(address.Hostname()) || address.User != nil || len(text) > maxURLLength {
		return fmt.Errorf("%.100q is not a page URL: write it as https://acme.example/privacy", text)
	}
	return nil
}

var (
	telURLPattern    = regexp.MustCompile(`^tel:\+?[0-9][0-9.-]{0,30}$`)
	mailtoURLPattern = regexp.MustCompile(`^mailto:[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,253}$`)
)

// validateHelpURL accepts URLs that a browser, a telephone or a mail program opens.
func validateHelpURL(text string) error {
	if telURLPattern.MatchString(text) || mailtoURLPattern.MatchString(text) || validateURL(text) == nil {
		return nil
	}
	return fmt.Errorf("%.100q is not a help link: write it as https://acme.example/help, tel:+49-30-1234567 or mailto:help@acme.example", text)
}

var phoneNumberPattern = regexp.MustCompile(`^[0-9 +-]{0,19}[0-9][0-9 +-]{0,19}$`)

// maxPhoneNumberLength is the maximum length of a telephone number, including spaces.
const maxPhoneNumberLength = 20

func validatePhoneNumber(text string) error {
	if !phoneNumberPattern.MatchString(text) || len(text) > maxPhoneNumberLength {
		return fmt.Errorf("%.100q is not a phone number: write it as 112 or +49 30 1234567, in at most %d characters", text, maxPhoneNumberLength)
	}
	return nil
}
