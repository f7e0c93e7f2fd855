// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	labelName      = "app.kubernetes.io/name"
	labelInstance  = "app.kubernetes.io/instance"
	labelComponent = "app.kubernetes.io/component"
	labelManagedBy = "app.kubernetes.io/managed-by"

	// ManagedBy is the value of the label app.kubernetes.io/managed-by on every
	// object that the operator makes. Watches select by it.
	ManagedBy = "anamnesis-operator"

	// AdminAccessLabel set to "true" on a namespace, or on a pod in the
	// Instance's own namespace, lets those pods reach the admin port, where
	// metrics are scraped and the process is profiled.
	AdminAccessLabel = "anamnesis.dev/admin-access"

	componentServer    = "apiserver"
	componentPreflight = "preflight"
)

// SelectorLabels select the pods that serve an Instance. They never change,
// because the selector of a Deployment cannot.
func SelectorLabels(instance *v1alpha1.Instance) map[string]string {
	return map[string]string{
		labelName:      "anamnesis",
		labelInstance:  instance.Name,
		labelComponent: componentServer,
	}
}

// Labels are on every object of an Instance.
func Labels(instance *v1alpha1.Instance) map[string]string {
	labels := SelectorLabels(instance)
	labels[labelManagedBy] = ManagedBy
	return labels
}

// preflightLabels are on the preflight Job and its pods. They differ from
// SelectorLabels, so that no such pod is ever taken for one that serves.
func preflightLabels(instance *v1alpha1.Instance) map[string]string {
	labels := maps.Clone(Labels(instance))
	labels[labelComponent] = componentPreflight
	return labels
}
