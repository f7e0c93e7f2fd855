// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// LogLevel is from which level on the server writes to its log.
// +kubebuilder:validation:Enum=debug;info;warn;error
type LogLevel string

// LabelValue is what Kubernetes takes as the value of a label: letters and
// digits, with -, _ and . between them, or nothing.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type LabelValue string

// Pods says where the pods of an Instance run, under which user, and what they
// carry for others in the cluster. The pods that serve get all of it. The pod
// that checks the models before them gets what decides whether and where it may
// run, and neither labels nor annotations: it is no server, and what these ask
// of the cluster, such as a proxy beside the server, would keep it from ending.
type Pods struct {
	// ImagePullSecrets name Secrets in the Instance's namespace by which the
	// server image is pulled.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []SecretReference `json:"imagePullSecrets,omitempty"`

	// NodeSelector holds the labels of the nodes that pods may run on.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Tolerations of taints of nodes.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Affinity of the pods to nodes and to other pods. Each of its kinds that is
	// set replaces what the operator asks for: by podAntiAffinity, that the pods
	// of one Instance would rather be on different nodes; an empty one asks for
	// nothing. That they are spread over zones stays. The pod that checks the
	// models follows nodeAffinity alone.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// PriorityClassName of the pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// Labels of the pods that serve, beside the operator's own.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.matches('^([^/]*[.])?anamnesis[.]dev/') && !(key in ['app.kubernetes.io/name', 'app.kubernetes.io/instance', 'app.kubernetes.io/component', 'app.kubernetes.io/managed-by', 'pod-template-hash']))",message="labels that begin with anamnesis.dev/, and those by which pods are selected (app.kubernetes.io/name, instance, component and managed-by, pod-template-hash), are the operator's own"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !format.qualifiedName().validate(key).hasValue())",message="each label needs a name such as example.com/team"
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// Annotations of the pods that serve, beside the operator's own.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.matches('^([^/]*[.])?anamnesis[.]dev/'))",message="annotations that begin with anamnesis.dev/ are the operator's own"
	// +kubebuilder:validation:XValidation:rule="self.all(key, !format.qualifiedName().validate(key).hasValue())",message="each annotation needs a name such as example.com/team"
	Annotations map[string]string `json:"annotations,omitempty"`

	// LogLevel from which on the server writes to its log. Left out: info.
	// +optional
	LogLevel LogLevel `json:"logLevel,omitempty"`

	// SecurityContext says under which user the pods run. Left out: user and
	// group 65532, for which the image is made. Present, but without runAsUser:
	// the platform chooses user and groups, as OpenShift does for each namespace.
	// +optional
	SecurityContext *PodsSecurityContext `json:"securityContext,omitempty"`
}

// PodsSecurityContext says under which user pods run; whatever it says, that user
// is not root and has no privileges.
type PodsSecurityContext struct {
	// RunAsUser is the id of the user; the group stays 65532. Left out: the
	// platform chooses user and groups. It must choose a group for volumes too
	// (fsGroup), or the server could not read its keys.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`
}
