// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 defines the API types of the group anamnesis.dev, their
// validation, and the labels and annotations that users and the operator share. It
// contains no behavior.
//
// +kubebuilder:object:generate=true
// +groupName=anamnesis.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "anamnesis.dev", Version: "v1alpha1"}

// AddToScheme adds the kinds of this package to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Instance{}, &InstanceList{}, &WebhookConfig{}, &WebhookConfigList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
