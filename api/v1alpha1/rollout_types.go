// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RolloutSpec configures how and when changes replace the pods of an Instance.
// Changes that do not replace pods, such as a renewed certificate, are not delayed.
type RolloutSpec struct {
	// Deadline is how long new pods may take to become ready, from 1m to 1h. After the
	// deadline, the operator rolls back to the last ready pods. Defaults to 10m.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]{1,4}(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('1h')",message="must be between 1m and 1h"
	Deadline metav1.Duration `json:"deadline,omitzero"`

	// Pause defers changes that replace pods. Scaling and hibernation still apply.
	// +optional
	Pause bool `json:"pause,omitempty"`

	// Image pins the server image of this Instance. If unset, the Instance follows the
	// operator's server image.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9][-a-zA-Z0-9._:/@+]*$`
	Image string `json:"image,omitempty"`

	// Window restricts the automatic rollout of new server images to a daily maintenance
	// window. Changes to the spec or to referenced Secrets are not restricted. If unset,
	// a rollout may start at any time.
	// +optional
	Window *MaintenanceWindow `json:"window,omitempty"`
}

// MaintenanceWindow is a daily time range. If end is before start, the window ends
// on the next day.
// +kubebuilder:validation:XValidation:rule="self.start != self.end",message="start and end must differ: omit the window to allow any time"
type MaintenanceWindow struct {
	// Start of the window, such as 02:00.
	Start TimeOfDay `json:"start"`

	// End of the window, such as 05:00.
	End TimeOfDay `json:"end"`

	// TimeZone is the IANA time zone of start and end, such as Europe/Berlin. Defaults
	// to UTC.
	// +optional
	// +kubebuilder:default=UTC
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Z][-A-Za-z0-9_+/]*$`
	// +kubebuilder:validation:XValidation:rule="timestamp('2026-01-01T00:00:00Z').getFullYear(self) > 0",message="unknown time zone: use an IANA name such as Europe/Berlin or UTC"
	TimeZone string `json:"timeZone,omitempty"`
}

// TimeOfDay is a time of day in hours and minutes, from 00:00 to 23:59.
// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
// +kubebuilder:validation:MaxLength=5
type TimeOfDay string
