// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Page is how the pages look that patients see, and where they lead.
type Page struct {
	// Name of who offers the assessment, as patients know it, in one line. Left out:
	// Anamnesis.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[^\p{Cc}\p{Z}]([^\p{Cc}\p{Zl}\p{Zp}]*[^\p{Cc}\p{Z}])?$')`,message="a name is one line, with no blanks around it: such as Acme Health"
	Name string `json:"name,omitempty"`

	// Logo stands beside the name. Left out: none does.
	// +optional
	Logo *PageLogo `json:"logo,omitempty"`

	// Colors of headings, links and buttons. Left out: blue and green.
	// +optional
	Colors *PageColors `json:"colors,omitempty"`

	// PrivacyURL is where patients read what becomes of their answers. Left out: the
	// pages lead nowhere for that.
	// +optional
	PrivacyURL PageURL `json:"privacyURL,omitempty"`

	// HelpURL is where patients are helped: a page, tel: with a number or mailto: with
	// an address. Left out: nowhere.
	// +optional
	HelpURL HelpURL `json:"helpURL,omitempty"`

	// EmergencyNumber is whom patients call whose life may be in danger, such as 112.
	// Left out: none is named.
	// +optional
	EmergencyNumber TelephoneNumber `json:"emergencyNumber,omitempty"`

	// CrisisLine is whom patients call who think of harming themselves, such as 116 123.
	// Left out: none is named.
	// +optional
	CrisisLine TelephoneNumber `json:"crisisLine,omitempty"`
}

// PageLogo is a PNG, JPEG, WebP or SVG picture of at most 128 KiB.
type PageLogo struct {
	// ConfigMapRef names the ConfigMap in the Instance's namespace that holds the
	// picture. What it holds reaches a running server without a restart.
	ConfigMapRef LogoReference `json:"configMapRef"`
}

// LogoReference names one key of a ConfigMap in the Instance's namespace.
type LogoReference struct {
	// Name of the ConfigMap.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key of the ConfigMap, in its binaryData or data, whose value is the picture.
	// +optional
	// +kubebuilder:default=logo
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// PageColors are colours in which text on white can be read, and white text on them:
// each has a contrast of at least 4.5:1 against white. While one has less, the
// condition PageReady says so and both stay what they were.
type PageColors struct {
	// Primary is the colour of headings and of what patients press.
	// +optional
	// +kubebuilder:default="#005ea5"
	// +kubebuilder:validation:Pattern=`^#[0-9a-fA-F]{6}$`
	Primary string `json:"primary,omitempty"`

	// Accent is the colour of what is chosen or done.
	// +optional
	// +kubebuilder:default="#00703c"
	// +kubebuilder:validation:Pattern=`^#[0-9a-fA-F]{6}$`
	Accent string `json:"accent,omitempty"`
}

// PageURL is the address of a page, such as https://acme.example/privacy.
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:XValidation:rule=`self.matches(r'^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/([A-Za-z0-9._~!$&()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?([?]([A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?(#([A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$')`,message="the address of a page is https:// and a host with, if any, its port, path, query and fragment: such as https://acme.example/privacy"
type PageURL string

// HelpURL is the address of a page, a telephone number or a mailbox.
// +kubebuilder:validation:MaxLength=1024
// +kubebuilder:validation:XValidation:rule=`self.matches(r'^(https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/([A-Za-z0-9._~!$&()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?([?]([A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?(#([A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?|tel:[+]?[0-9][0-9.-]{0,30}|mailto:[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,253})$')`,message="help is at https://acme.example/help, tel:+49-30-1234567 or mailto:help@acme.example"
type HelpURL string

// TelephoneNumber is one as people write it, such as 112 or +49 30 1234567.
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:XValidation:rule=`self.matches('^[+]?[0-9]+([ -][0-9]+)*$')`,message="a telephone number is digits, with + before them and blanks or - between them if any: such as 112 or +49 30 1234567"
type TelephoneNumber string
