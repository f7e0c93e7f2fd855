// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

const testLogoSVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>`

var testLogoDataURL = "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(testLogoSVG))

func TestValidateAcceptsPage(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"page:",
		"page: {}",
		"page: {name: Acme Health, emergencyNumber: '112'}",
		"page: {name: Ärztehaus Süd 🩺, emergencyNumber: 112}",
		"page: {colors: {primary: '#AA0000'}, crisisLine: +49 30 116-123}",
		"page: {helpURL: 'tel:+49-30-1234567'}",
		"page: {helpURL: 'mailto:help@acme.example'}",
		`
page:
  name: Acme Health
  logo: ` + testLogoDataURL + `
  colors: {primary: '#1d1d1d', accent: '#767676'}
  privacyURL: https://acme.example/privacy?lang=en#cookies
  helpURL: https://acme.example:8443/help
  emergencyNumber: '911'
  crisisLine: '988'
`,
	} {
		if err := validate(t, file); err != nil {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestValidateRejectsPage(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"page: {name: ' '}":                                                `page.name: invalid name " "`,
		"page: {name: \"Acme\\nHealth\"}":                                  "on a single line",
		"page: {name: " + strings.Repeat("é", 101) + "}":                   "at most 100 characters",
		"page: {colors: {primary: blue}}":                                  `page.colors.primary: invalid color "blue": expected #RRGGBB, such as #005ea5`,
		"page: {colors: {primary: '#FFDD00'}}":                             "page.colors.primary: insufficient contrast of #FFDD00: got 1.34:1 against white, expected at least 4.5:1",
		"page: {colors: {accent: '#777777'}}":                              "page.colors.accent: insufficient contrast of #777777: got 4.47:1 against white, expected at least 4.5:1",
		"page: {logo: 'https://acme.example/logo.png'}":                    "page.logo: invalid data URL",
		"page: {logo: '" + testLogoDataURL[:len(testLogoDataURL)-1] + "'}": "page.logo: ",
		"page: {privacyURL: 'http://acme.example'}":                        "page.privacyURL: invalid page URL \"http://acme.example\"",
		"page: {privacyURL: 'tel:112'}":                                    "page.privacyURL: ",
		"page: {privacyURL: 'javascript:alert(1)'}":                        "page.privacyURL: ",
		"page: {privacyURL: 'https://me@acme.example'}":                    "page.privacyURL: ",
		"page: {privacyURL: /privacy}":                                     "page.privacyURL: ",
		"page: {helpURL: 'javascript:alert(1)'}":                           "page.helpURL: invalid help URL \"javascript:alert(1)\"",
		"page: {helpURL: 'tel:'}":                                          "page.helpURL: ",
		"page: {helpURL: 'mailto:a@b?bcc=c@d'}":                            "page.helpURL: ",
		"page: {helpURL: 'https://a/" + strings.Repeat("a", 2000) + "'}":   "page.helpURL: ",
		"page: {emergencyNumber: call us}":                                 `page.emergencyNumber: invalid phone number "call us"`,
		"page: {emergencyNumber: '+ -'}":                                   "page.emergencyNumber: ",
		"page: {crisisLine: '+49 30 1234567 123456'}":                      "at most 20 characters",
	} {
		err := validate(t, file)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200q: got error %v, want %q", file, err, want)
		}
		if err != nil && len(err.Error()) > 600 {
			t.Errorf("%.200q: got an error of %d bytes, want at most 600", file, len(err.Error()))
		}
	}
}

// FuzzPage checks the guarantees that pages rely on: readable colors and links that cannot run
// scripts.
func FuzzPage(f *testing.F) {
	f.Add("Acme", "#005ea5", "https://acme.example/privacy", "tel:112", "+49 30 1234567")
	f.Add("", "#777777", "javascript:alert(1)", "mailto:help@acme.example", "112")
	f.Fuzz(func(t *testing.T, name, color, privacy, help, number string) {
		c := ServerConfiguration{Page: &Page{Colors: &Colors{Primary: color}, Name: name, PrivacyURL: privacy, HelpURL: help, EmergencyNumber: number}}
		if c.Validate() != nil {
			return
		}
		c.SetDefaults()
		page := c.Page
		if page.Name == "" || len(page.Colors.Primary) != len("#rrggbb") || page.Colors.Accent != DefaultAccentColor {
			t.Errorf("got name %q and colors %v", page.Name, *page.Colors)
		}
		if page.PrivacyURL != "" && !strings.HasPrefix(strings.ToLower(page.PrivacyURL), "https://") {
			t.Errorf("got privacyURL %q", page.PrivacyURL)
		}
		if scheme, _, _ := strings.Cut(strings.ToLower(page.HelpURL), ":"); !slices.Contains([]string{"", "https", "tel", "mailto"}, scheme) {
			t.Errorf("got helpURL %q", page.HelpURL)
		}
		if page.EmergencyNumber != "" && !strings.ContainsAny(page.EmergencyNumber, "0123456789") {
			t.Errorf("got emergencyNumber %q", page.EmergencyNumber)
		}
	})
}
