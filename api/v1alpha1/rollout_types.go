// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RolloutSpec says how and when changes replace the pods of an Instance. What
// replaces no pod, such as a certificate or a key, does not wait for it.
type RolloutSpec struct {
	// Deadline is how long changed pods may take to become ready, from 1m to 1h.
	// After that the pods that were ready before are put back.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^([0-9]{1,4}(h|m|s))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('1h')",message="a rollout may take from 1m to 1h"
	Deadline metav1.Duration `json:"deadline,omitzero"`

	// Pause keeps the pods as they are: a change that would replace them waits
	// until the pause ends. Scaling and hibernation do not wait.
	// +optional
	Pause bool `json:"pause,omitempty"`

	// Image of the server that this Instance stays on, whatever the others move
	// to. Left out: it moves with them.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9][-a-zA-Z0-9._:/@+]*$`
	Image string `json:"image,omitempty"`

	// Window is the time of day in which pods may be replaced for a reason that is
	// not in this spec, such as a new server image. A change of the spec does not
	// wait for it. Left out: any time.
	// +optional
	Window *Window `json:"window,omitempty"`
}

// Window is a time of day, every day. One that ends before it begins ends on the
// next day.
// +kubebuilder:validation:XValidation:rule="self.start != self.end",message="a window that ends when it begins has no length: leave it out to allow any time"
type Window struct {
	// Start of the window, such as 02:00.
	Start TimeOfDay `json:"start"`

	// End of the window, such as 05:00.
	End TimeOfDay `json:"end"`

	// TimeZone that Start and End are in, such as Europe/Berlin.
	// +optional
	// +kubebuilder:default=UTC
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Z][-A-Za-z0-9_+/]*$`
	// +kubebuilder:validation:XValidation:rule="timestamp('2026-01-01T00:00:00Z').getFullYear(self) > 0",message="there is no such time zone: name one such as Europe/Berlin or UTC"
	TimeZone string `json:"timeZone,omitempty"`
}

// TimeOfDay is hours and minutes, from 00:00 to 23:59.
// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
// +kubebuilder:validation:MaxLength=5
type TimeOfDay string
