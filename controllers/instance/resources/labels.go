// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	// ManagedByLabel is set on every object that the operator creates, with the value
	// ManagedByValue. Watches select by it.
	ManagedByLabel = "app.kubernetes.io/managed-by"
	// ManagedByValue is the value of ManagedByLabel.
	ManagedByValue = "anamnesis-operator"

	// AdminAccessLabel grants a namespace, or a pod in the Instance's own namespace, if set
	// to "true", access to the admin port, which serves metrics and profiles.
	AdminAccessLabel = "anamnesis.dev/admin-access"

	// InstanceLabel is set on every object that the operator creates, with the name of its
	// Instance.
	InstanceLabel = "app.kubernetes.io/instance"

	nameLabel      = "app.kubernetes.io/name"
	componentLabel = "app.kubernetes.io/component"
)

// Labels returns the labels of all objects of an Instance, including pods.
func Labels(instance *v1alpha1.Instance) map[string]string {
	labels := instanceSelector(instance)
	labels[ManagedByLabel] = ManagedByValue
	return labels
}

// Selector returns the selector of the pods that serve an Instance. It never changes,
// because a Deployment's selector is immutable.
func Selector(instance *v1alpha1.Instance) map[string]string {
	selector := instanceSelector(instance)
	selector[componentLabel] = serverContainerName
	return selector
}

// instanceSelector returns the selector of all pods of an Instance, regardless of their
// component.
func instanceSelector(instance *v1alpha1.Instance) map[string]string {
	return map[string]string{
		nameLabel:     "anamnesis",
		InstanceLabel: instance.Name,
	}
}

// podLabels returns the labels of a component's pods.
func podLabels(instance *v1alpha1.Instance, component string) map[string]string {
	labels := maps.Clone(Labels(instance))
	labels[componentLabel] = component
	return labels
}

// serverLabels merges the spec's labels with the operator's, which take precedence.
func serverLabels(instance *v1alpha1.Instance) map[string]string {
	labels := map[string]string{}
	if pods := instance.Spec.Pods; pods != nil {
		for key, value := range pods.Labels {
			labels[key] = string(value)
		}
	}
	maps.Copy(labels, podLabels(instance, serverContainerName))
	return labels
}
