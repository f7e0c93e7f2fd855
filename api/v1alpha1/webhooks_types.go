// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Webhooks says where the server may send webhooks, wherever they lead.
type Webhooks struct {
	// AllowPrivateAddresses lets webhooks reach addresses that are no public ones,
	// such as those of pods and nodes. Loopback, link-local addresses and the metadata
	// of clouds stay closed in any case.
	// +optional
	AllowPrivateAddresses bool `json:"allowPrivateAddresses,omitempty"`

	// AllowedPorts are the ports that webhooks may be sent to. Left out: 443.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	// +listType=set
	AllowedPorts []int32 `json:"allowedPorts,omitempty"`

	// CARef names the certificates of the authorities that receivers prove themselves
	// by, in PEM, beside the public ones. They reach a running server without a
	// restart.
	// +optional
	CARef *CertificateReference `json:"caRef,omitempty"`
}

// Retention says how long the server keeps what it need not keep for ever.
type Retention struct {
	// Deliveries is how long it is known which webhooks were sent and how that went,
	// in days, such as 30d. Left out: 30d.
	// +optional
	Deliveries Days `json:"deliveries,omitempty"`
}

// Days is a number of days, such as 30d.
// +kubebuilder:validation:MaxLength=5
// +kubebuilder:validation:Pattern=`^[0-9]+d$`
type Days string
