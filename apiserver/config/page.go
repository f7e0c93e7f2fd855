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

	"github.com/anamnesis-dev/anamnesis/api/contrast"
	"github.com/anamnesis-dev/anamnesis/api/logo"
)

// Page is how the pages that patients see look, and where these lead.
type Page struct {
	// Name of who runs the instance, as patients know it.
	Name string
	// Logo stands beside the name; the zero value is none.
	Logo Image
	// Primary and Accent are colours, each #rrggbb in small letters, that white text
	// stands on, and that text on white is in. Both have the contrast for that.
	Primary, Accent string
	// PrivacyURL and HelpURL are where patients read what becomes of their answers,
	// and where they are helped; empty for nowhere. The first is https, the second
	// may be tel or mailto too.
	PrivacyURL, HelpURL string
	// EmergencyNumber and CrisisLine are telephone numbers as people write them; empty
	// where none is known.
	EmergencyNumber, CrisisLine string
}

// Image is a picture.
type Image struct {
	// Type is its media type: image/png, image/jpeg, image/webp or image/svg+xml.
	Type string
	Data []byte
}

// defaultPage is how pages look of which the tenant says nothing.
var defaultPage = Page{Name: "Anamnesis", Primary: "#005ea5", Accent: "#00703c"}

// page is how the file says it, with the logo as a data URL.
type page struct {
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

func (p page) read() (Page, error) {
	picture, err := logo.Parse(p.Logo)
	if err != nil {
		return Page{}, fmt.Errorf("logo: %w", err)
	}
	for _, text := range []struct {
		key, value string
		check      func(string) error
	}{
		{"name", p.Name, checkName},
		{"colors.primary", p.Colors.Primary, checkColor},
		{"colors.accent", p.Colors.Accent, checkColor},
		{"privacyURL", p.PrivacyURL, checkLink},
		{"helpURL", p.HelpURL, checkHelp},
		{"emergencyNumber", p.EmergencyNumber, checkNumber},
		{"crisisLine", p.CrisisLine, checkNumber},
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

// longestName is how many characters a heading has room for.
const longestName = 100

func checkName(name string) error {
	if strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > longestName || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("%.100q is no name: expected at most %d characters in one line", name, longestName)
	}
	return nil
}

// checkColor refuses a colour in which text on white, or white text on it, cannot be
// read by all.
func checkColor(text string) error {
	color, err := contrast.Parse(text)
	if err != nil {
		return err
	}
	if ratio := contrast.Between(color, contrast.White); ratio < contrast.ForText {
		return fmt.Errorf("%s has a contrast of %s, expected at least %s against white", text, ratio, contrast.ForText)
	}
	return nil
}

// longestLink is how long an address may be.
const longestLink = 1024

// checkLink takes addresses that a browser opens.
func checkLink(text string) error {
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "https" || !validHost(address.Hostname()) || address.User != nil || len(text) > longestLink {
		return fmt.Errorf("%.100q is not the address of a page: write it as https://acme.example/privacy", text)
	}
	return nil
}

var (
	telephone = regexp.MustCompile(`^tel:\+?[0-9][0-9.-]{0,30}$`)
	mailbox   = regexp.MustCompile(`^mailto:[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,253}$`)
)

// checkHelp takes what a browser, a telephone or a mail program opens.
func checkHelp(text string) error {
	if telephone.MatchString(text) || mailbox.MatchString(text) || checkLink(text) == nil {
		return nil
	}
	return fmt.Errorf("%.100q is no way to help: write it as https://acme.example/help, tel:+49-30-1234567 or mailto:help@acme.example", text)
}

var number = regexp.MustCompile(`^[0-9 +-]{0,19}[0-9][0-9 +-]{0,19}$`)

// longestNumber is how many characters a telephone number has, with its spaces.
const longestNumber = 20

func checkNumber(text string) error {
	if !number.MatchString(text) || len(text) > longestNumber {
		return fmt.Errorf("%.100q is no telephone number: write it as 112 or +49 30 1234567, in at most %d characters", text, longestNumber)
	}
	return nil
}
