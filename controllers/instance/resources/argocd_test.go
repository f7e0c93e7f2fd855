// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// An argoApplication is an application of Argo CD that tracks by label, which was
// its default up to version 2. Its rules, as its documentation and its source
// say them (resource tracking, GetManagedLiveObjs, pruneObject, shouldBeDeleted):
//
//   - A live object is the application's when the label carries the
//     application's name and the object has no owner, whoever made it.
//   - A sync that prunes deletes those of its objects that are not in the
//     repository, but for those that say Prune=false.
//   - An application that is deleted takes its objects along, but for those that
//     say Delete=false.
type argoApplication struct{ name string }

func (a argoApplication) manages(live *metav1.PartialObjectMetadata) bool {
	return live.Labels["app.kubernetes.io/instance"] == a.name && len(live.OwnerReferences) == 0
}

// prunes says whether a sync deletes an object that is not in the repository.
func (a argoApplication) prunes(live *metav1.PartialObjectMetadata) bool {
	return a.manages(live) && !hasArgoOption(live, "argocd.argoproj.io/sync-options", "Prune=false")
}

// takesAlong says whether an object goes together with the application.
func (a argoApplication) takesAlong(live *metav1.PartialObjectMetadata) bool {
	return a.manages(live) && !hasArgoOption(live, "argocd.argoproj.io/sync-options", "Delete=false")
}

// differs says whether the application is out of sync because of an object that
// is not in the repository.
func (a argoApplication) differs(live *metav1.PartialObjectMetadata) bool {
	return a.manages(live) && !hasArgoOption(live, "argocd.argoproj.io/compare-options", "IgnoreExtraneous")
}

func hasArgoOption(live *metav1.PartialObjectMetadata, annotation, option string) bool {
	return slices.ContainsFunc(strings.Split(live.Annotations[annotation], ","), func(word string) bool {
		return strings.TrimSpace(word) == option
	})
}

// TestArgoCDLeavesChildrenAlone has an application that is called as its
// Instance, which is what people call them.
func TestArgoCDLeavesChildrenAlone(t *testing.T) {
	t.Parallel()
	for name, fixture := range revisionFixtures() {
		application := argoApplication{fixture.in.Instance.Name}
		for _, object := range everything(fixture.in) {
			live := inCluster(t, object, fixture.in.Instance)
			if application.prunes(live) || application.takesAlong(live) || application.differs(live) {
				t.Errorf("%s: %s %s would be pruned (%t), deleted with the application (%t) or make a difference (%t)", name,
					live.Kind, live.Name, application.prunes(live), application.takesAlong(live), application.differs(live))
			}
		}
	}
}

// TestArgoCDTakesWhatHasNoOwner shows that the rules bite: but for its owner
// every child would be pruned, by the one label, and so was the claim, which has
// none, up to revision 2.
func TestArgoCDTakesWhatHasNoOwner(t *testing.T) {
	t.Parallel()
	in := embedded()
	in.Server.Revision = int32(sparesData) - 1
	application := argoApplication{in.Instance.Name}
	for _, object := range everything(in) {
		live := inCluster(t, object, in.Instance)
		live.OwnerReferences = nil
		if !application.prunes(live) || !application.takesAlong(live) {
			t.Errorf("%s %s without an owner is left alone", live.Kind, live.Name)
		}
		if delete(live.Labels, InstanceLabel); application.manages(live) {
			t.Errorf("%s %s without the label is taken", live.Kind, live.Name)
		}
	}
}

// inCluster is the metadata of an object that the reconciler wrote, which makes
// the Instance the owner of all but data: that may outlive it.
func inCluster(t *testing.T, object Object, instance *v1alpha1.Instance) *metav1.PartialObjectMetadata {
	t.Helper()
	live := &metav1.PartialObjectMetadata{}
	decode(t, object, live)
	if live.Labels[v1alpha1.InstanceUIDLabel] == "" {
		live.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(instance, v1alpha1.GroupVersion.WithKind("Instance"))}
	}
	return live
}
