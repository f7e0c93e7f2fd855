// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// LogLevel is the minimum level of log entries: debug, info, warn or error.
// +kubebuilder:validation:Enum=debug;info;warn;error
type LogLevel string

// LabelValue is a valid Kubernetes label value: empty, or letters and digits with -,
// _ and . between them.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type LabelValue string

// Pods configures the scheduling, user, labels, annotations and log level of an
// Instance's pods. The scheduling fields also apply to the preflight pod. Labels and
// annotations do not, because injected sidecars, such as a proxy, would keep the
// preflight pod from completing.
type Pods struct {
	// ImagePullSecrets lists the Secrets in the Instance's namespace that are used to pull
	// the server image.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []SecretReference `json:"imagePullSecrets,omitempty"`

	// NodeSelector restricts the pods to nodes with these labels.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations of the pods for node taints.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Affinity of the pods. By default, a preferred podAntiAffinity spreads the pods of
	// an Instance across nodes. Each kind of affinity that is set replaces the
	// operator's default for that kind, and an empty value disables it. Pods are always
	// spread across zones. The preflight pod uses nodeAffinity only.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// PriorityClassName is the priority class of the pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Labels are additional labels of the serving pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.matches('^([^/]*[.])?anamnesis[.]dev/') && !(key in ['app.kubernetes.io/name', 'app.kubernetes.io/instance', 'app.kubernetes.io/component', 'app.kubernetes.io/managed-by', 'pod-template-hash']))",message="labels with the prefix anamnesis.dev/ and the selector labels (app.kubernetes.io/name, app.kubernetes.io/instance, app.kubernetes.io/component, app.kubernetes.io/managed-by and pod-template-hash) are reserved"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !format.qualifiedName().validate(key).hasValue())",message="label keys must be qualified names such as example.com/team"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// Annotations are additional annotations of the serving pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.matches('^([^/]*[.])?anamnesis[.]dev/'))",message="annotations with the prefix anamnesis.dev/ are reserved"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !format.qualifiedName().validate(key).hasValue())",message="annotation keys must be qualified names such as example.com/team"
	Annotations map[string]string `json:"annotations,omitempty"`

	// LogLevel is the minimum level of the server's log. Defaults to info.
	// +optional
	LogLevel LogLevel `json:"logLevel,omitempty"`

	// SecurityContext sets the user of the pods. Defaults to UID and GID 65532, for
	// which the image is built. If set without runAsUser, the platform assigns the user
	// and groups, as OpenShift does for each namespace.
	// +optional
	SecurityContext *PodSecurityContext `json:"securityContext,omitempty"`
}

// PodSecurityContext sets the user of the pods. Pods never run as root or
// privileged.
type PodSecurityContext struct {
	// RunAsUser is the UID of the pods; the GID stays 65532. If unset, the platform
	// assigns the user and groups. It must then also assign an fsGroup, so that the server
	// can read its keys.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`
}
