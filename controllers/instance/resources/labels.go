// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	// ManagedByLabel is on every object that the operator makes, with the value
	// ManagedByValue. Watches select by it.
	ManagedByLabel = "app.kubernetes.io/managed-by"
	// ManagedByValue is the value of ManagedByLabel.
	ManagedByValue = "anamnesis-operator"

	// AdminAccessLabel set to "true" on a namespace, or on a pod in the
	// Instance's own namespace, lets those pods reach the admin port, where
	// metrics are scraped and the process is profiled.
	AdminAccessLabel = "anamnesis.dev/admin-access"

	// InstanceLabel is on every object that the operator makes, with the name of
	// the Instance it belongs to.
	InstanceLabel = "app.kubernetes.io/instance"

	nameLabel      = "app.kubernetes.io/name"
	componentLabel = "app.kubernetes.io/component"
)

// Labels are on every object of an Instance, pods included.
func Labels(instance *v1alpha1.Instance) map[string]string {
	labels := ownSelector(instance)
	labels[ManagedByLabel] = ManagedByValue
	return labels
}

// Selector selects the pods that serve an Instance. It never changes, because
// the selector of a Deployment cannot.
func Selector(instance *v1alpha1.Instance) map[string]string {
	selector := ownSelector(instance)
	selector[componentLabel] = containerServer
	return selector
}

// ownSelector selects all pods of an Instance, whatever they do.
func ownSelector(instance *v1alpha1.Instance) map[string]string {
	return map[string]string{
		nameLabel:     "anamnesis",
		InstanceLabel: instance.Name,
	}
}

// podLabels are those of the pods that run one component.
func podLabels(instance *v1alpha1.Instance, component string) map[string]string {
	labels := maps.Clone(Labels(instance))
	labels[componentLabel] = component
	return labels
}

// serverLabels are those of the spec, and the operator's own, which win.
func serverLabels(instance *v1alpha1.Instance) map[string]string {
	labels := map[string]string{}
	if wanted := instance.Spec.Pods; wanted != nil {
		for key, value := range wanted.Labels {
			labels[key] = string(value)
		}
	}
	maps.Copy(labels, podLabels(instance, containerServer))
	return labels
}
