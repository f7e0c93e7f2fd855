// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// These tests cover what must never happen: data lost or shared by mistake, keys
// disclosed or changed, a deletion that hangs.

func TestDeletionKeepsUnadoptedData(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.deleteInstance("acme")

	stranger := p.newInstance("acme")
	stranger.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	p.mustCreate(stranger)
	p.waitForConditions("acme", "Stalled=True DataNotOwned")
	p.deleteInstance("acme")
	p.waitUntilIdle()
	p.Expect(mustGet(p, "acme-data", &corev1.PersistentVolumeClaim{}).DeletionTimestamp).To(gomega.BeNil())
}

func TestAdoptedVolumeIsNotShrunk(t *testing.T) {
	p := newHarness(t)
	large := p.newInstance("acme")
	large.Spec.Storage.Embedded.Size = mustQuantity("5Gi")
	p.mustCreate(large)
	p.waitForConditions("acme", "Ready=True Ready")
	earlier := mustGet(p, "acme", &v1alpha1.Instance{}).UID
	p.deleteInstance("acme")

	small := p.newInstance("acme")
	small.Annotations = map[string]string{v1alpha1.AdoptAnnotation: string(earlier)}
	p.mustCreate(small)
	p.waitForConditions("acme", "Ready=False RejectedByAPIServer", "StorageReady=False RejectedByAPIServer")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("5Gi") })
	p.waitForConditions("acme", "Ready=True Ready")
}

func TestDeletedClaimStallsInstance(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.cluster.update(func(w *fakeCluster) { w.collectsGarbage = false })
	if err := p.Delete(t.Context(), mustGet(p, "acme-data", &corev1.PersistentVolumeClaim{})); err != nil {
		t.Fatal(err)
	}
	p.waitForConditions("acme", "Ready=False VolumeTerminating", "StorageReady=False VolumeTerminating", "Available=True Serving")
	p.cluster.update(func(w *fakeCluster) { w.collectsGarbage = true })
	p.waitForConditions("acme", "Ready=True Ready")
}

func TestForeignSecretIsNeitherReadNorChanged(t *testing.T) {
	p := newHarness(t)
	foreign := &corev1.Secret{ObjectMeta: objectMeta(p.namespace, "acme-app-default"), StringData: map[string]string{"key": "foreign"}}
	foreign.Labels = resources.Labels(p.newInstance("acme"))
	p.mustCreate(foreign)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Stalled=True ObjectNotOwned")
	p.Expect(p.get("acme-credentials", &corev1.Secret{})).To(gomega.BeFalse(), "a foreign key grants no access")
	p.Expect(mustGet(p, "acme-app-default", &corev1.Secret{}).ResourceVersion).To(gomega.Equal(foreign.ResourceVersion))
}

// TestForeignApplicationSecretDoesNotBlockOthers checks that the other applications get
// their keys, and that the server gets only those.
func TestForeignApplicationSecretDoesNotBlockOthers(t *testing.T) {
	p := newHarness(t)
	foreign := &corev1.Secret{ObjectMeta: objectMeta(p.namespace, "acme-app-kiosk"), StringData: map[string]string{"key": "foreign"}}
	p.mustCreate(foreign)
	instance := p.newInstance("acme")
	instance.Spec.Applications = []v1alpha1.Application{{Name: "kiosk"}, {Name: "portal"}}
	p.mustCreate(instance)
	p.waitForConditions("acme", "Stalled=True ObjectNotOwned")
	p.Eventually(func() bool { return p.get("acme-credentials", &corev1.Secret{}) }).Should(gomega.BeTrue())
	p.Expect(mustGet(p, "acme-app-portal", &corev1.Secret{}).Data).To(gomega.HaveKey("key"))
	p.Expect(mustGet(p, "acme-credentials", &corev1.Secret{}).Data).To(gomega.And(gomega.HaveKey("portal.json"), gomega.Not(gomega.HaveKey("kiosk.json"))))
}

// TestPinFromNewerOperatorIsKept downgrades to an operator that does not know the
// revision of an Instance's pods. The operator leaves them unchanged until the server
// rollout, which is paused here, moves the Instance.
func TestPinFromNewerOperatorIsKept(t *testing.T) {
	p := newHarness(t)
	instance := p.newExternalInstance("acme")
	instance.Spec.Rollout = &v1alpha1.RolloutSpec{Pause: true}
	p.mustCreate(instance)
	p.waitForConditions("acme", "Ready=True Ready")
	p.Eventually(func() error {
		deployment := mustGet(p, "acme", &appsv1.Deployment{})
		noted := deployment.Annotations[resources.RolloutAnnotation]
		deployment.Annotations[resources.RolloutAnnotation] = strings.ReplaceAll(noted,
			fmt.Sprintf(`"revision":%d`, resources.Revision), fmt.Sprintf(`"revision":%d`, resources.Revision+1))
		return p.Update(t.Context(), deployment)
	}).Should(gomega.Succeed())
	p.Eventually(func() int32 { return mustGet(p, "acme", &v1alpha1.Instance{}).Status.Server.Revision }).Should(gomega.Equal(resources.Revision + 1))
	memory := func() string {
		container := mustGet(p, "acme", &appsv1.Deployment{}).Spec.Template.Spec.Containers[0]
		return container.Resources.Limits.Memory().String()
	}
	before := memory()
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: mustQuantity("3Gi")}}
	})
	p.waitUntilIdle()
	p.Expect(memory()).To(gomega.Equal(before))
	p.Expect(p.conditionLines("acme")).To(gomega.ContainElement("Ready=True Ready"))
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Rollout.Pause = false })
	p.Eventually(memory).Should(gomega.Equal("3Gi"))
}

func TestKeyIsCreatedOnceWithStaleCache(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	acme := mustGet(p, "acme", &v1alpha1.Instance{})
	before := mustGet(p, "acme-app-default", &corev1.Secret{}).Data["key"]
	// This scope has seen none of the owned objects, as right after a restart.
	means := &p.reconciler.deps
	v := newScope(means, acme.DeepCopy(), inventory.New(means.Clients, acme), time.Now())
	if err := problem.FirstTransient(v.Run(t.Context())); err != nil && !problem.IsConflict(err) {
		t.Fatal(err)
	}
	input := resources.Input{Instance: acme}
	set := inventory.New(means.Clients, acme)
	err := set.Create(t.Context(), resources.BuildApplicationSecret(input, v1alpha1.Application{Name: "default"}, pki.NewApplicationKey()))
	if !problem.IsConflict(err) {
		t.Errorf("creating the key again: got %v, want a conflict", err)
	}
	p.Expect(mustGet(p, "acme-app-default", &corev1.Secret{}).Data["key"]).To(gomega.Equal(before))
}

func TestInstanceIsDeletedInEveryState(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.Instance){
		"stalled": func(i *v1alpha1.Instance) { i.Spec.Models[0].ID = "service-xx" },
		"waiting": func(i *v1alpha1.Instance) {
			i.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "none"}}
		},
		"suspended":  func(i *v1alpha1.Instance) { i.Spec.Suspend = true },
		"hibernated": func(i *v1alpha1.Instance) { i.Spec.Hibernate = true },
	} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t)
			instance := p.newInstance("acme")
			instance.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
			change(instance)
			p.mustCreate(instance)
			p.Eventually(func() []string { return p.conditionLines("acme") }).ShouldNot(gomega.BeEmpty())
			p.deleteInstance("acme")
			p.Eventually(func() bool { return p.get("acme-data", &corev1.PersistentVolumeClaim{}) }).Should(gomega.BeFalse())
		})
	}
}

func TestPreflightQuotaFailureStallsWhilePodsServe(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	none := corev1.ResourceList{"count/jobs.batch": mustQuantity("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: objectMeta(p.namespace, "none"), Spec: corev1.ResourceQuotaSpec{Hard: none}}
	p.mustCreate(quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	if err := p.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.waitForConditions("acme", "Stalled=True ForbiddenByAPIServer", "ModelsReady=False ForbiddenByAPIServer", "Available=True Serving")
	p.Expect(p.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("exceeded quota: none"))
}

func TestDeletedDeploymentIsRecreated(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	deployment := mustGet(p, "acme", &appsv1.Deployment{})
	if err := p.Delete(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() bool {
		again := &appsv1.Deployment{}
		return p.get("acme", again) && again.UID != deployment.UID
	}).Should(gomega.BeTrue())
	p.waitForConditions("acme", "Ready=True Ready")
}

func TestScalingReplacesNoPod(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	before := mustGet(p, "acme", &appsv1.Deployment{})
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Replicas = 4 })
	p.waitForConditions("acme", "Ready=True Ready")
	after := mustGet(p, "acme", &appsv1.Deployment{})
	p.Expect(after.Spec.Replicas).To(gomega.Equal(ptr.To[int32](4)))
	p.Expect(after.Spec.Template).To(gomega.Equal(before.Spec.Template))
}

func TestReconcileIgnoresDeletedInstance(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	result, err := p.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: p.namespace, Name: "none"}})
	if err != nil || result != (ctrl.Result{}) {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestConcurrentOperatorsCreateOneCA(t *testing.T) {
	p := newHarness(t)
	p.stop()
	stores := []*authority.Store{
		{Client: p.Client, APIReader: p.Client, Namespace: p.namespace},
		{Client: p.Client, APIReader: p.Client, Namespace: p.namespace},
	}
	first, err := stores[0].Load(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stores[1].Create(t.Context(), time.Now()); !problem.IsConflict(err) {
		t.Errorf("a second authority was made: %v", err)
	}
	second, err := stores[1].Load(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p.Expect(second.PEM()).To(gomega.Equal(first.PEM()))
}

func TestCAIsRenewedInPlace(t *testing.T) {
	p := newHarness(t)
	p.stop()
	store := &authority.Store{Client: p.Client, APIReader: p.Client, Namespace: p.namespace}
	first, err := store.Load(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := store.Load(t.Context(), time.Now().AddDate(6, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	p.Expect(renewed.PEM()).NotTo(gomega.Equal(first.PEM()))
	p.Expect(mustGet(p, authority.SecretName, &corev1.Secret{}).Data["tls.crt"]).To(gomega.Equal(renewed.PEM()))
}
