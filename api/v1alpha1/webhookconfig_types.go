// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WebhookEvent is an event that a receiver can subscribe to.
// +kubebuilder:validation:Enum=survey_finished;notification
type WebhookEvent string

// WebhookEvents lists all events.
var WebhookEvents = []WebhookEvent{"survey_finished", "notification"}

// WebhookConfigSpec defines the desired state of a WebhookConfig.
type WebhookConfigSpec struct {
	// InstanceRef refers to the Instance whose events are sent. Immutable: the
	// Instance's server holds the subscription. To use another Instance, create another
	// WebhookConfig.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="instanceRef is immutable: create another WebhookConfig and delete this one"
	InstanceRef InstanceReference `json:"instanceRef"`

	// URL of the receiver, such as https://portal.example/events. Must be unique per
	// Instance: a newer WebhookConfig with the same URL is Stalled.
	URL ReceiverURL `json:"url"`

	// AuthorizationTokenSecretRef refers to the key of an Opaque Secret in this namespace
	// that contains the authorization token, 1 to 512 visible ASCII characters. The server
	// sends the token in the X-Webhook-Service-Token header of each delivery.
	AuthorizationTokenSecretRef TokenSecretReference `json:"authorizationTokenSecretRef"`

	// SubscribedEvents lists the events to send: survey_finished, notification. If unset,
	// all events are sent. If empty, no events are sent.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=set
	SubscribedEvents []WebhookEvent `json:"subscribedEvents,omitzero"`

	// Suspend stops the operator from updating the subscription. The server continues to
	// send events, and the operator continues to update the status.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// InstanceReference refers to an Instance in the same namespace.
type InstanceReference struct {
	// Name of the Instance.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name"`
}

// ReceiverURL is an https URL, such as https://portal.example/events.
// +kubebuilder:validation:MaxLength=2048
// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() == 'https' && url(self).getHostname().size() > 0 && self.matches('^https://[^/?#@]+([/?][^#]*)?$')",message="must be an https URL without user info or fragment, such as https://portal.example/events"
type ReceiverURL string

// TokenSecretReference refers to a key of a Secret in the same namespace.
type TokenSecretReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key within the Secret that contains the token. Defaults to token.
	// +optional
	// +kubebuilder:default=token
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// WebhookConfigStatus is the observed state of a WebhookConfig.
type WebhookConfigStatus struct {
	// ObservedGeneration is the most recent generation that the operator has processed,
	// or -1 before it has processed the WebhookConfig.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions of the WebhookConfig. The types are Ready, Reconciling and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ID of the subscription in the Instance's API.
	// +optional
	ID string `json:"id,omitempty"`

	// Events lists the subscribed events on one line, for kubectl get.
	// +optional
	Events string `json:"events,omitempty"`

	// TokenHash is an HMAC of the token, keyed with the subscription's signing secret.
	// The operator uses it to detect changes without exposing the token.
	// +optional
	TokenHash string `json:"tokenHash,omitempty"`

	// LastDelivery is the most recent delivery attempt.
	// +optional
	LastDelivery *LastDelivery `json:"lastDelivery,omitempty"`
}

// LastDelivery describes a delivery attempt.
type LastDelivery struct {
	// Time of the attempt.
	Time metav1.Time `json:"time"`

	// StatusCode is the HTTP status code of the receiver's response. Unset if the receiver
	// did not respond.
	// +optional
	StatusCode int32 `json:"statusCode,omitempty"`
}

// WebhookConfig subscribes a receiver to the events of an Instance. The operator
// keeps the subscription in the Instance's API up to date.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=whc
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Instance",type=string,priority=1,JSONPath=`.spec.instanceRef.name`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.url`
// +kubebuilder:printcolumn:name="Events",type=string,JSONPath=`.status.events`
// +kubebuilder:printcolumn:name="Last Delivery",type=date,JSONPath=`.status.lastDelivery.time`
// +kubebuilder:printcolumn:name="Code",type=integer,JSONPath=`.status.lastDelivery.statusCode`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 245",message="name must be at most 245 characters, so that <name>-signing is a valid Secret name"
type WebhookConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state of the WebhookConfig.
	Spec WebhookConfigSpec `json:"spec"`

	// Status is the observed state of the WebhookConfig.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status WebhookConfigStatus `json:"status,omitempty"`
}

// WebhookConfigList is a list of WebhookConfigs.
//
// +kubebuilder:object:root=true
type WebhookConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items of the list.
	Items []WebhookConfig `json:"items"`
}
