// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

func TestToApplyConfigurationRoundTrip(t *testing.T) {
	t.Parallel()
	live := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b", appsv1.DefaultDeploymentUniqueLabelKey: "123"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "apiserver", Image: "i"}}},
	}
	restored, err := ToApplyConfiguration(live)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "b"}, restored.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if len(live.Labels) != 2 {
		t.Error("the input template was modified")
	}
	if *restored.Spec.Containers[0].Image != "i" {
		t.Errorf("got image %q, want i", *restored.Spec.Containers[0].Image)
	}
}

func TestFindReplicaSet(t *testing.T) {
	t.Parallel()
	own := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "acme", UID: "ours"}}
	other := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "acme", UID: "theirs"}}
	set := func(name string, owner *appsv1.Deployment, hash string, age time.Duration) appsv1.ReplicaSet {
		replicaSet := appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
			Name: name, CreationTimestamp: metav1.NewTime(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(-age)),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		}}
		replicaSet.Spec.Template.Annotations = map[string]string{resources.TemplateHashAnnotation: hash}
		return replicaSet
	}
	sets := []appsv1.ReplicaSet{
		set("other", own, "other", 4*time.Hour),
		set("theirs", other, "hash", 3*time.Hour),
		set("tampered", own, "hash", time.Hour),
		set("first", own, "hash", 2*time.Hour),
	}
	if got := FindReplicaSet(own, sets, "hash"); got == nil || got.Name != "first" {
		t.Errorf("got %v", got)
	}
	if got := FindReplicaSet(own, sets, "none"); got != nil {
		t.Errorf("missing template: got %s", got.Name)
	}
}

func TestFilterPods(t *testing.T) {
	t.Parallel()
	pod := func(name, hash string) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{resources.TemplateHashAnnotation: hash}}}
	}
	terminating := pod("ending", "new")
	terminating.DeletionTimestamp = &metav1.Time{Time: noon}
	all := []corev1.Pod{pod("old", "old"), terminating, pod("new", "new")}
	if got := FilterPods(all, "new"); len(got) != 1 || got[0].Name != "new" {
		t.Errorf("got %v", got)
	}
	if all[0].Name != "old" || len(all) != 3 {
		t.Error("the input pods were modified")
	}
}
