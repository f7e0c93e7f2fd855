// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// FindReplicaSet returns the ReplicaSet that a Deployment created for a template, or
// nil. Several ReplicaSets match if a user edited the template without changing its hash
// annotation. The oldest ReplicaSet then holds the template that the operator wrote.
func FindReplicaSet(deployment *appsv1.Deployment, sets []appsv1.ReplicaSet, hash string) *appsv1.ReplicaSet {
	var first *appsv1.ReplicaSet
	for i := range sets {
		set := &sets[i]
		if set.Spec.Template.Annotations[resources.TemplateHashAnnotation] != hash || !metav1.IsControlledBy(set, deployment) {
			continue
		}
		if first == nil || set.CreationTimestamp.Before(&first.CreationTimestamp) {
			first = set
		}
	}
	return first
}

// FilterPods returns the pods that were created from a template and are not terminating.
func FilterPods(pods []corev1.Pod, hash string) []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || pod.Annotations[resources.TemplateHashAnnotation] != hash
	})
}

// ToApplyConfiguration converts the template of a ReplicaSet into a template for the
// Deployment.
func ToApplyConfiguration(live corev1.PodTemplateSpec) (*coreapply.PodTemplateSpecApplyConfiguration, error) {
	live = *live.DeepCopy()
	delete(live.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	encoded, err := json.Marshal(live)
	if err != nil {
		return nil, fmt.Errorf("encoding a pod template: %w", err)
	}
	restored := coreapply.PodTemplateSpec()
	if err := json.Unmarshal(encoded, restored); err != nil {
		return nil, fmt.Errorf("decoding a pod template: %w", err)
	}
	return restored, nil
}
