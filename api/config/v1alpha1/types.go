// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// The optional type information of a ServerConfiguration.
const (
	APIVersion = "config.anamnesis.dev/v1alpha1"
	Kind       = "ServerConfiguration"
)

// ServerConfiguration configures one instance of the server. Changes apply without a
// restart. Pointers are nil for sections that are not configured; SetDefaults sets them.
//
// Here and below, fields are in alphabetical order, which is also the order in the file.
type ServerConfiguration struct {
	APIVersion string `yaml:"apiVersion,omitempty"`
	Kind       string `yaml:"kind,omitempty"`

	// CORS configures cross-origin requests from browsers.
	CORS CORS `yaml:"cors"`
	// Features configures optional survey features.
	Features *Features `yaml:"features,omitempty"`
	// Instance identifies the custom resource that the server belongs to. It is unset
	// outside a cluster.
	Instance *Instance `yaml:"instance,omitempty"`
	// Page configures the branding and links of the patient page.
	Page *Page `yaml:"page,omitempty"`
	// Plans holds the limits of each plan, by name. The plan trial defaults to 100 calls to
	// each service. Any other plan that is not listed has no limits.
	Plans map[string]MonthlyCalls `yaml:"plans,omitempty"`
	// Proxies are the reverse proxies whose X-Forwarded-For header is trusted, each in CIDR
	// notation or a single address.
	Proxies []string `yaml:"proxies,omitempty"`
	// Retention configures how long the server keeps records.
	Retention *Retention `yaml:"retention,omitempty"`
	// URL is the public http or https URL of the server, which may have a path. Defaults to
	// the flag --instance-url.
	URL string `yaml:"url,omitempty"`
	// Webhooks restricts the destinations of webhooks.
	Webhooks *Webhooks `yaml:"webhooks,omitempty"`
}

// CORS configures cross-origin requests from browsers.
type CORS struct {
	// AllowedOrigins lists the origins whose pages may call the server, such as
	// https://portal.example. "*" allows every origin.
	AllowedOrigins []string `yaml:"allowedOrigins"`
}

// Features configures optional survey features.
type Features struct {
	// PatientResults controls whether end users see the results of their surveys. Defaults
	// to true.
	PatientResults *bool `yaml:"patientResults,omitempty"`
	// Prefill configures surveys that start with evidence supplied by the application.
	Prefill *Prefill `yaml:"prefill,omitempty"`
}

// Prefill configures surveys that start with evidence supplied by the application.
type Prefill struct {
	// Confirm asks patients to confirm prefilled evidence. Defaults to false.
	Confirm bool `yaml:"confirm,omitempty"`
	// Enabled allows applications to create surveys with evidence. Defaults to false.
	Enabled bool `yaml:"enabled"`
}

// Instance identifies the databases that the server may open: an empty one, its own, or
// one that it adopts.
type Instance struct {
	// Adopts are the UIDs of former Instances whose data this one takes over.
	Adopts []Text `yaml:"adopts,omitempty"`
	UID    string `yaml:"uid"`
}

// Page configures the branding and links of the patient page.
type Page struct {
	Colors *Colors `yaml:"colors,omitempty"`
	// CrisisLine is the phone number for patients at risk of self-harm. If unset, the page
	// shows no crisis line.
	CrisisLine string `yaml:"crisisLine,omitempty"`
	// EmergencyNumber is the phone number for life-threatening situations. Defaults to the
	// number of the region of the page's language.
	EmergencyNumber string `yaml:"emergencyNumber,omitempty"`
	// HelpURL is an https, tel: or mailto: URL. If unset, the page has no help link.
	HelpURL string `yaml:"helpURL,omitempty"`
	// Logo is an image as branding.Logo.DataURL encodes it. If unset, the page has no logo.
	Logo string `yaml:"logo,omitempty"`
	// Name is the provider's name as shown to patients. Defaults to Anamnesis.
	Name string `yaml:"name,omitempty"`
	// PrivacyURL is the https URL of the privacy notice. If unset, the page has no privacy
	// link.
	PrivacyURL string `yaml:"privacyURL,omitempty"`
}

// Colors are the colors of the patient page, such as #005ea5. Each must have enough
// contrast against white, as text and as background.
type Colors struct {
	// Accent is the color of selected and completed items. Defaults to #00703c.
	Accent string `yaml:"accent,omitempty"`
	// Primary is the color of headings and controls. Defaults to #005ea5.
	Primary string `yaml:"primary,omitempty"`
}

// MonthlyCalls limits the calls of an application to each service per calendar month in
// UTC. If a service is unset, its calls are unlimited; 0 forbids all calls.
type MonthlyCalls struct {
	// Explain limits calls to /v3/explain.
	Explain *int64 `yaml:"explain,omitempty"`
	// Rationale limits calls to /v3/rationale.
	Rationale *int64 `yaml:"rationale,omitempty"`
	// Suggest limits calls to /v3/suggest and /v3/red_flags combined.
	Suggest *int64 `yaml:"suggest,omitempty"`
	// Triage limits calls to /v3/triage.
	Triage *int64 `yaml:"triage,omitempty"`
}

// Retention configures how long the server keeps records.
type Retention struct {
	// Deliveries is how long records of webhook deliveries are kept. Defaults to 30d.
	Deliveries Days `yaml:"deliveries,omitempty"`
}

// Webhooks restricts the destinations of webhooks.
type Webhooks struct {
	// AllowPrivateAddresses permits private addresses, such as the addresses of pods and
	// nodes. Defaults to false.
	AllowPrivateAddresses bool `yaml:"allowPrivateAddresses,omitempty"`
	// AllowedPorts lists the ports to which webhooks may be sent. Defaults to 443.
	AllowedPorts []int32 `yaml:"allowedPorts,omitempty"`
	// CA is a PEM-encoded CA bundle that is trusted in addition to the system's CAs.
	CA Text `yaml:"ca,omitempty"`
}

// Text is a string with any number of lines. Its encoding works around a bug in yaml/v3,
// which encodes text that begins with a tab in a form that it cannot decode.
type Text string

// MarshalYAML implements yaml.Marshaler.
func (t Text) MarshalYAML() (any, error) {
	var node yaml.Node
	node.SetString(string(t))
	if strings.Contains(string(t), "\t") {
		node.Style = yaml.DoubleQuotedStyle
	}
	return &node, nil
}
