// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/api/config/branding"
)

func validatePage(errs *ErrorList, page *Page) {
	colors := page.Colors
	if colors == nil {
		colors = &Colors{}
	}
	for _, field := range []struct {
		path, value string
		check       func(string) error
	}{
		{"logo", page.Logo, validateLogo},
		{"name", page.Name, validateName},
		{"colors.primary", colors.Primary, validateColor},
		{"colors.accent", colors.Accent, validateColor},
		{"privacyURL", page.PrivacyURL, validatePageURL},
		{"helpURL", page.HelpURL, validateHelpURL},
		{"emergencyNumber", page.EmergencyNumber, validatePhoneNumber},
		{"crisisLine", page.CrisisLine, validatePhoneNumber},
	} {
		if field.value != "" {
			errs.addError("page."+field.path, field.check(field.value))
		}
	}
}

func validateLogo(text string) error {
	_, err := branding.ParseLogo(text)
	return err
}

// maxNameLength is the maximum length of a name in a heading, in characters.
const maxNameLength = 100

func validateName(name string) error {
	if strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > maxNameLength || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("invalid name %.100q: expected at most %d characters on a single line", name, maxNameLength)
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
		return fmt.Errorf("insufficient contrast of %s: got %s against white, expected at least %s", text, ratio, branding.MinTextContrast)
	}
	return nil
}

// maxURLLength is the maximum length of a link on the page.
const maxURLLength = 1024

// validatePageURL accepts URLs of web pages.
func validatePageURL(text string) error {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" || !isValidHost(address.Hostname()) || address.User != nil || len(text) > maxURLLength {
		return fmt.Errorf("invalid page URL %.100q: expected an https URL, such as https://acme.example/privacy", text)
	}
	return nil
}

var (
	telURLPattern    = regexp.MustCompile(`^tel:\+?[0-9][0-9.-]{0,30}$`)
	mailtoURLPattern = regexp.MustCompile(`^mailto:[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,253}$`)
)

// validateHelpURL accepts URLs of web pages, phone numbers and email addresses.
func validateHelpURL(text string) error {
	if telURLPattern.MatchString(text) || mailtoURLPattern.MatchString(text) || validatePageURL(text) == nil {
		return nil
	}
	return fmt.Errorf("invalid help URL %.100q: expected an https, tel: or mailto: URL, such as https://acme.example/help, tel:+49-30-1234567 or mailto:help@acme.example", text)
}

var phoneNumberPattern = regexp.MustCompile(`^[0-9 +-]{0,19}[0-9][0-9 +-]{0,19}$`)

// maxPhoneNumberLength is the maximum length of a phone number, including spaces.
const maxPhoneNumberLength = 20

func validatePhoneNumber(text string) error {
	if !phoneNumberPattern.MatchString(text) || len(text) > maxPhoneNumberLength {
		return fmt.Errorf("invalid phone number %.100q: expected digits, spaces, + and -, at most %d characters; for example, 112 or +49 30 1234567", text, maxPhoneNumberLength)
	}
	return nil
}
