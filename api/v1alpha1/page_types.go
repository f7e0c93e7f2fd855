// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Page configures the branding and links of the patient page.
type Page struct {
	// Name is the provider's name shown to patients, on a single line. Defaults to
	// Anamnesis.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[^\p{Cc}\p{Z}]([^\p{Cc}\p{Zl}\p{Zp}]*[^\p{Cc}\p{Z}])?$')`,message="must be a single line without surrounding whitespace, such as Acme Health"
	Name string `json:"name,omitempty"`

	// Logo is shown next to the name. If unset, no logo is shown.
	// +optional
	Logo *PageLogo `json:"logo,omitempty"`

	// Colors of headings, links and buttons. Defaults to blue and green.
	// +optional
	Colors *PageColors `json:"colors,omitempty"`

	// PrivacyURL is the address of the privacy notice. If unset, the page has no privacy
	// link.
	// +optional
	PrivacyURL PageURL `json:"privacyURL,omitempty"`

	// HelpURL is the address of a help page, or a tel: or mailto: link. If unset, the
	// page has no help link.
	// +optional
	HelpURL HelpURL `json:"helpURL,omitempty"`

	// EmergencyNumber is the number that the page asks patients in a life-threatening
	// situation to call, such as 112. If unset, the page asks them to call their local
	// emergency number and lists it by region: 999 in Britain, 112 in Europe, 911 in the
	// United States.
	// +optional
	EmergencyNumber PhoneNumber `json:"emergencyNumber,omitempty"`

	// CrisisLine is the number that the page asks patients at risk of self-harm to call,
	// such as 116 123. If unset, the page asks them to call a crisis line, a doctor or
	// their local emergency number, without giving a number.
	// +optional
	CrisisLine PhoneNumber `json:"crisisLine,omitempty"`
}

// PageLogo is a PNG, JPEG, WebP or SVG image of at most 128 KiB.
type PageLogo struct {
	// ConfigMapRef refers to the image in a ConfigMap in the Instance's namespace.
	// Changes apply without a restart.
	ConfigMapRef ConfigMapKeyReference `json:"configMapRef"`
}

// ConfigMapKeyReference refers to a key of a ConfigMap in the Instance's namespace.
type ConfigMapKeyReference struct {
	// Name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key within the ConfigMap's binaryData or data that contains the image. Defaults to
	// logo.
	// +optional
	// +kubebuilder:default=logo
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// PageColors are the colors of the page. Each color must have a contrast of at least
// 4.5:1 against white; otherwise the condition PageReady is False and the previous
// colors stay in use.
type PageColors struct {
	// Primary is the color of headings and controls. Defaults to #005ea5.
	// +optional
	// +kubebuilder:default="#005ea5"
	// +kubebuilder:validation:Pattern=`^#[0-9a-fA-F]{6}$`
	Primary string `json:"primary,omitempty"`

	// Accent is the color of selected and completed items. Defaults to #00703c.
	// +optional
	// +kubebuilder:default="#00703c"
	// +kubebuilder:validation:Pattern=`^#[0-9a-fA-F]{6}$`
	Accent string `json:"accent,omitempty"`
}

// PageURL is the https URL of a web page, such as https://acme.example/privacy.
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:XValidation:rule=`self.matches(r'^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/([A-Za-z0-9._~!$&()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?([?]([A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?(#([A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$')`,message="must be an https URL without user info, such as https://acme.example/privacy"
type PageURL string

// HelpURL is an https, tel: or mailto: URL.
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:XValidation:rule=`self.matches(r'^(https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/([A-Za-z0-9._~!$&()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?([?]([A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?(#([A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?|tel:[+]?[0-9][0-9.-]{0,30}|mailto:[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,253})$')`,message="must be an https, tel: or mailto: URL, such as https://acme.example/help, tel:+49-30-1234567 or mailto:help@acme.example"
type HelpURL string

// PhoneNumber is a phone number, such as 112 or +49 30 1234567.
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:XValidation:rule=`self.matches('^[+]?[0-9]+([ -][0-9]+)*$')`,message="must be a phone number such as 112 or +49 30 1234567"
type PhoneNumber string
