// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testLogoSVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>`

var testLogoDataURL = "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(testLogoSVG))

func TestParsePage(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]Page{
		"":         defaultPage,
		"page:":    defaultPage,
		"page: {}": defaultPage,
		"page: {name: Acme Health, emergencyNumber: '112'}":                {Name: "Acme Health", Primary: "#005ea5", Accent: "#00703c", EmergencyNumber: "112"},
		"page: {name: Ärztehaus Süd 🩺, emergencyNumber: 112}":              {Name: "Ärztehaus Süd 🩺", Primary: "#005ea5", Accent: "#00703c", EmergencyNumber: "112"},
		"page: {colors: {primary: '#AA0000'}, crisisLine: +49 30 116-123}": {Name: "Anamnesis", Primary: "#aa0000", Accent: "#00703c", CrisisLine: "+49 30 116-123"},
		"page: {helpURL: 'tel:+49-30-1234567'}":                            {Name: "Anamnesis", Primary: "#005ea5", Accent: "#00703c", HelpURL: "tel:+49-30-1234567"},
		"page: {helpURL: 'mailto:help@acme.example'}":                      {Name: "Anamnesis", Primary: "#005ea5", Accent: "#00703c", HelpURL: "mailto:help@acme.example"},
		`
page:
  name: Acme Health
  logo: ` + testLogoDataURL + `
  colors: {primary: '#1d1d1d', accent: '#767676'}
  privacyURL: https://acme.example/privacy?lang=en#cookies
  helpURL: https://acme.example:8443/help
  emergencyNumber: '911'
  crisisLine: '988'
`: {
			Name: "Acme Health", Logo: Image{"image/svg+xml", []byte(testLogoSVG)}, Primary: "#1d1d1d", Accent: "#767676",
			PrivacyURL: "https://acme.example/privacy?lang=en#cookies", HelpURL: "https://acme.example:8443/help",
			EmergencyNumber: "911", CrisisLine: "988",
		},
	} {
		parsed, warning, err := Parse([]byte(file))
		if diff := cmp.Diff(want, parsed.Page); diff != "" || warning != "" || err != nil {
			t.Errorf("%q: %s, %v (-want +got):\n%s", file, warning, err, diff)
		}
	}
}

func TestParseRejectsInvalidPage(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"page: {name: ' '}":                                                `page: name: " " is not a valid name`,
		"page: {name: \"Acme\\nHealth\"}":                                  "in one line",
		"page: {name: " + strings.Repeat("é", 101) + "}":                   "at most 100 characters",
		"page: {colors: {primary: blue}}":                                  `page: colors.primary: "blue" is not a colour; write it as #005ea5`,
		"page: {colors: {primary: '#FFDD00'}}":                             "page: colors.primary: #FFDD00 has a contrast of 1.34:1, expected at least 4.5:1 against white",
		"page: {colors: {accent: '#777777'}}":                              "page: colors.accent: #777777 has a contrast of 4.47:1, expected at least 4.5:1 against white",
		"page: {logo: 'https://acme.example/logo.png'}":                    "page: logo: it is not a data URL",
		"page: {logo: '" + testLogoDataURL[:len(testLogoDataURL)-1] + "'}": "page: logo: ",
		"page: {privacyURL: 'http://acme.example'}":                        "page: privacyURL: \"http://acme.example\" is not a page URL",
		"page: {privacyURL: 'tel:112'}":                                    "page: privacyURL: ",
		"page: {privacyURL: 'javascript:alert(1)'}":                        "page: privacyURL: ",
		"page: {privacyURL: 'https://me@acme.example'}":                    "page: privacyURL: ",
		"page: {privacyURL: /privacy}":                                     "page: privacyURL: ",
		"page: {helpURL: 'javascript:alert(1)'}":                           "page: helpURL: \"javascript:alert(1)\" is not a help link",
		"page: {helpURL: 'tel:'}":                                          "page: helpURL: ",
		"page: {helpURL: 'mailto:a@b?bcc=c@d'}":                            "page: helpURL: ",
		"page: {helpURL: 'https://a/" + strings.Repeat("a", 2000) + "'}":   "page: helpURL: ",
		"page: {emergencyNumber: call us}":                                 `page: emergencyNumber: "call us" is not a phone number`,
		"page: {emergencyNumber: '+ -'}":                                   "page: emergencyNumber: ",
		"page: {crisisLine: '+49 30 1234567 123456'}":                      "at most 20 characters",
		"page: {colors: '#005ea5'}":                                        "invalid configuration",
	} {
		parsed, _, err := Parse([]byte(file))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200q: got error %v, want one with %q", file, err, want)
		}
		if err != nil && len(err.Error()) > 600 {
			t.Errorf("%.200q: the error has %d bytes", file, len(err.Error()))
		}
		if diff := cmp.Diff(Page{}, parsed.Page); diff != "" {
			t.Errorf("%.200q: a page that is refused is there:\n%s", file, diff)
		}
	}
}

// FuzzPage checks the guarantees that pages rely on: readable colors and links that run no
// script.
func FuzzPage(f *testing.F) {
	f.Add("Acme", "#005ea5", "https://acme.example/privacy", "tel:112", "+49 30 1234567")
	f.Add("", "#777777", "javascript:alert(1)", "mailto:help@acme.example", "112")
	f.Fuzz(func(t *testing.T, name, color, privacy, help, number string) {
		said := pageYAML{Name: name, PrivacyURL: privacy, HelpURL: help, EmergencyNumber: number}
		said.Colors.Primary = color
		read, err := said.parse()
		if err != nil {
			return
		}
		if read.Name == "" || len(read.Primary) != len("#rrggbb") || read.Accent != defaultPage.Accent {
			t.Errorf("the page is called %q, in %q and %q", read.Name, read.Primary, read.Accent)
		}
		if read.PrivacyURL != "" && !strings.HasPrefix(strings.ToLower(read.PrivacyURL), "https://") {
			t.Errorf("the privacy URL is %q", read.PrivacyURL)
		}
		if scheme, _, _ := strings.Cut(strings.ToLower(read.HelpURL), ":"); !slices.Contains([]string{"", "https", "tel", "mailto"}, scheme) {
			t.Errorf("help is at %q", read.HelpURL)
		}
		if read.EmergencyNumber != "" && !strings.ContainsAny(read.EmergencyNumber, "0123456789") {
			t.Errorf("the number is %q", read.EmergencyNumber)
		}
	})
}
