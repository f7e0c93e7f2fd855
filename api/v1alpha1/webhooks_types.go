// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Webhooks restricts the destinations of webhooks.
type Webhooks struct {
	// AllowPrivateAddresses permits private addresses, such as the addresses of pods and
	// nodes. Loopback, link-local and cloud metadata addresses are always blocked.
	// +optional
	AllowPrivateAddresses bool `json:"allowPrivateAddresses,omitempty"`

	// AllowedPorts lists the ports to which webhooks may be sent. Defaults to 443.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	// +listType=set
	AllowedPorts []int32 `json:"allowedPorts,omitempty"`

	// CARef refers to a PEM-encoded CA bundle used to verify receivers, in addition to the
	// public CAs. Changes apply without a restart.
	// +optional
	CARef *CABundleReference `json:"caRef,omitempty"`
}

// Retention configures how long the server keeps records.
type Retention struct {
	// Deliveries is how long records of webhook deliveries are kept, in days, such as 7d.
	// Defaults to 30d.
	// +optional
	Deliveries Days `json:"deliveries,omitempty"`
}

// Days is a number of days, such as 30d.
// +kubebuilder:validation:MaxLength=5
// +kubebuilder:validation:Pattern=`^[0-9]+d$`
type Days string
