// SPDX-License-Identifier: Apache-2.0

package config

// Page is how the pages that patients see look, and where these lead.
type Page struct {
	// Name of who runs the instance, as patients know it.
	Name string
	// Logo stands beside the name; the zero value is none.
	Logo Image
	// Primary and Accent are colours, each #rrggbb, that white text stands on, and
	// that text on white is in.
	Primary, Accent string
	// PrivacyURL and HelpURL are where patients read what becomes of their answers,
	// and where they are helped; empty for nowhere.
	PrivacyURL, HelpURL string
	// EmergencyNumber and CrisisLine are telephone numbers as people write them; empty
	// where none is known.
	EmergencyNumber, CrisisLine string
}

// Image is a picture.
type Image struct {
	// Type is its media type, such as image/png.
	Type string
	Data []byte
}

// defaultPage is how pages look of which the tenant says nothing.
var defaultPage = Page{Name: "Anamnesis", Primary: "#005ea5", Accent: "#00703c"}
