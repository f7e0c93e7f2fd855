// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WebhookEvent is what a receiver may be told of.
// +kubebuilder:validation:Enum=survey_finished;notification
type WebhookEvent string

// WebhookEvents are all events.
var WebhookEvents = []WebhookEvent{"survey_finished", "notification"}

// WebhookConfigSpec is who is to be told of what.
type WebhookConfigSpec struct {
	// InstanceRef names the Instance whose events are sent. It cannot change: the
	// subscription is kept by the server of that Instance, which nobody would tell
	// that it ends.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a subscription stays with its Instance: make another WebhookConfig for another one, and delete this one"
	InstanceRef InstanceReference `json:"instanceRef"`

	// URL that events are sent to, such as https://portal.example/events. Two
	// WebhookConfigs of one Instance cannot share one: the younger is Stalled.
	URL ReceiverURL `json:"url"`

	// AuthorizationTokenSecretRef names a Secret of type Opaque in this namespace,
	// and the key whose value each delivery carries as x-webhook-service-token: 1 to
	// 512 visible ASCII characters.
	AuthorizationTokenSecretRef TokenReference `json:"authorizationTokenSecretRef"`

	// SubscribedEvents are those that are sent: survey_finished, notification. Left
	// out: all; empty: none.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=set
	SubscribedEvents []WebhookEvent `json:"subscribedEvents,omitzero"`

	// Suspend leaves the subscription as it is: nothing is changed at the server,
	// which goes on sending. Status goes on saying what is found there.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// InstanceReference names an Instance in the same namespace.
type InstanceReference struct {
	// Name of the Instance.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Name string `json:"name"`
}

// ReceiverURL is an address such as https://portal.example/events.
// +kubebuilder:validation:MaxLength=2048
// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() == 'https' && url(self).getHostname().size() > 0 && self.matches('^https://[^/?#@]+([/?][^#]*)?$')",message="a receiver's address is https:// and a host, without a user and without a fragment: such as https://portal.example/events; events would be read along over http"
type ReceiverURL string

// TokenReference names one key of a Secret.
type TokenReference struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key of the Secret whose value is the token.
	// +optional
	// +kubebuilder:default=token
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[-._a-zA-Z0-9]+$`
	Key string `json:"key,omitempty"`
}

// WebhookConfigStatus is what the operator last saw of a subscription.
type WebhookConfigStatus struct {
	// ObservedGeneration is the generation of the spec that this status speaks of;
	// -1 until the operator has seen the WebhookConfig.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: Ready, Reconciling, Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ID of the subscription at the Instance's API.
	// +optional
	ID string `json:"id,omitempty"`

	// Events that it is subscribed to, in one line, for kubectl get.
	// +optional
	Events string `json:"events,omitempty"`

	// TokenHash tells whether the token changed, without giving it away: it is an
	// HMAC of the token by the subscription's signing secret.
	// +optional
	TokenHash string `json:"tokenHash,omitempty"`

	// LastDelivery is the latest attempt to tell the receiver something.
	// +optional
	LastDelivery *LastDelivery `json:"lastDelivery,omitempty"`
}

// LastDelivery is an attempt to tell a receiver something.
type LastDelivery struct {
	// Time of the attempt.
	Time metav1.Time `json:"time"`

	// StatusCode that the receiver answered with; left out when it did not answer.
	// +optional
	StatusCode int32 `json:"statusCode,omitempty"`
}

// WebhookConfig is one receiver of an Instance's events: the operator keeps a
// subscription at the Instance's API as it says.
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
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 245",message="the name is too long for the Secret that carries it, <name>-signing: at most 245 characters"
type WebhookConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is who is to be told of what.
	Spec WebhookConfigSpec `json:"spec"`

	// Status is what the operator last saw of it.
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
