// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// An argoApplication simulates an Argo CD application with label tracking, the default
// up to version 2. It implements the rules in Argo CD's documentation and source code
// (resource tracking, GetManagedLiveObjs, pruneObject, shouldBeDeleted):
//
//   - The application manages every live object without an owner whose label
//     contains the application's name, no matter who created the object.
//   - A sync with pruning deletes the application's objects that are not in the
//     repository, except objects annotated with Prune=false.
//   - Deleting an application deletes its objects, except objects annotated with
//     Delete=false.
type argoApplication struct{ name string }

func (a argoApplication) manages(live *metav1.PartialObjectMetadata) bool {
	return live.Labels["app.kubernetes.io/instance"] == a.name && len(live.OwnerReferences) == 0
}

// prunes reports whether a sync deletes an object that is not in the repository.
func (a argoApplication) prunes(live *metav1.PartialObjectMetadata) bool {
	return a.manages(live) && !hasArgoOption(live, "argocd.argoproj.io/sync-options", "Prune=false")
}

// deletes reports whether an object is deleted together with the application.
func (a argoApplication) deletes(live *metav1.PartialObjectMetadata) bool {
	return a.manages(live) && !hasArgoOption(live, "argocd.argoproj.io/sync-options", "Delete=false")
}

// isOutOfSync reports whether an object that is not in the repository makes the
// application out of sync.
func (a argoApplication) isOutOfSync(live *metav1.PartialObjectMetadata) bool {
	return a.manages(live) && !hasArgoOption(live, "argocd.argoproj.io/compare-options", "IgnoreExtraneous")
}

func hasArgoOption(live *metav1.PartialObjectMetadata, annotation, option string) bool {
	return slices.ContainsFunc(strings.Split(live.Annotations[annotation], ","), func(field string) bool {
		return strings.TrimSpace(field) == option
	})
}

// TestArgoCDIgnoresOwnedObjects covers an application with the same name as its
// Instance, which is a common choice.
func TestArgoCDIgnoresOwnedObjects(t *testing.T) {
	t.Parallel()
	for name, in := range fixtureInputs() {
		application := argoApplication{in.Instance.Name}
		for _, object := range buildAll(in) {
			live := createdObject(t, object, in.Instance)
			if application.prunes(live) || application.deletes(live) || application.isOutOfSync(live) {
				t.Errorf("%s: %s %s: pruned %t, deleted %t, out of sync %t, want all false", name,
					live.Kind, live.Name, application.prunes(live), application.deletes(live), application.isOutOfSync(live))
			}
		}
	}
}

// TestArgoCDPrunesUnownedObjects checks that the simulated rules are effective: without
// owner and annotations, Argo CD prunes every object with the label.
func TestArgoCDPrunesUnownedObjects(t *testing.T) {
	t.Parallel()
	in := embeddedInput()
	application := argoApplication{in.Instance.Name}
	for _, object := range buildAll(in) {
		live := createdObject(t, object, in.Instance)
		live.OwnerReferences, live.Annotations = nil, nil
		if !application.prunes(live) || !application.deletes(live) {
			t.Errorf("%s %s without an owner is not pruned and deleted", live.Kind, live.Name)
		}
		if delete(live.Labels, InstanceLabel); application.manages(live) {
			t.Errorf("%s %s without the label is managed", live.Kind, live.Name)
		}
	}
}

// createdObject returns the metadata of an object as the reconciler writes it. The
// Instance owns all objects except for data, which may outlive it.
func createdObject(t *testing.T, object Object, instance *v1alpha1.Instance) *metav1.PartialObjectMetadata {
	t.Helper()
	live := &metav1.PartialObjectMetadata{}
	decode(t, object, live)
	if live.Labels[v1alpha1.InstanceUIDLabel] == "" {
		live.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(instance, v1alpha1.GroupVersion.WithKind("Instance"))}
	}
	return live
}
