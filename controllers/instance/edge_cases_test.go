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

// These tests check that data is never lost or shared by mistake, that keys are never
// disclosed or changed unintentionally, and that deletions never hang.

func TestDeletionKeepsUnadoptedData(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.deleteInstance("acme")

	second := h.newInstance("acme")
	second.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	h.mustCreate(second)
	h.waitForConditions("acme", "Stalled=True DataNotOwned")
	h.deleteInstance("acme")
	h.waitUntilIdle()
	h.Expect(mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{}).DeletionTimestamp).To(gomega.BeNil())
}

func TestAdoptedVolumeIsNotShrunk(t *testing.T) {
	h := newHarness(t)
	large := h.newInstance("acme")
	large.Spec.Storage.Embedded.Size = mustQuantity("5Gi")
	h.mustCreate(large)
	h.waitForConditions("acme", "Ready=True Ready")
	earlier := mustGet(h, "acme", &v1alpha1.Instance{}).UID
	h.deleteInstance("acme")

	small := h.newInstance("acme")
	small.Annotations = map[string]string{v1alpha1.AdoptAnnotation: string(earlier)}
	h.mustCreate(small)
	h.waitForConditions("acme", "Ready=False RejectedByAPIServer", "StorageReady=False RejectedByAPIServer")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("5Gi") })
	h.waitForConditions("acme", "Ready=True Ready")
}

func TestDeletedClaimStallsInstance(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.cluster.update(func(c *fakeCluster) { c.collectsGarbage = false })
	if err := h.Delete(t.Context(), mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{})); err != nil {
		t.Fatal(err)
	}
	h.waitForConditions("acme", "Ready=False VolumeTerminating", "StorageReady=False VolumeTerminating", "Available=True Serving")
	h.cluster.update(func(c *fakeCluster) { c.collectsGarbage = true })
	h.waitForConditions("acme", "Ready=True Ready")
}

func TestForeignSecretIsNeitherReadNorChanged(t *testing.T) {
	h := newHarness(t)
	foreignSecret := &corev1.Secret{ObjectMeta: objectMeta(h.namespace, "acme-app-default"), StringData: map[string]string{"key": "foreign"}}
	foreignSecret.Labels = resources.Labels(h.newInstance("acme"))
	h.mustCreate(foreignSecret)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Stalled=True ObjectNotOwned")
	h.Expect(h.get("acme-credentials", &corev1.Secret{})).To(gomega.BeFalse(), "a key in a foreign Secret must not grant access")
	h.Expect(mustGet(h, "acme-app-default", &corev1.Secret{}).ResourceVersion).To(gomega.Equal(foreignSecret.ResourceVersion))
}

// TestForeignApplicationSecretDoesNotBlockOthers checks that only the applications without
// a foreign Secret get keys.
func TestForeignApplicationSecretDoesNotBlockOthers(t *testing.T) {
	h := newHarness(t)
	foreign := &corev1.Secret{ObjectMeta: objectMeta(h.namespace, "acme-app-kiosk"), StringData: map[string]string{"key": "foreign"}}
	h.mustCreate(foreign)
	instance := h.newInstance("acme")
	instance.Spec.Applications = []v1alpha1.Application{{Name: "kiosk"}, {Name: "portal"}}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Stalled=True ObjectNotOwned")
	h.Eventually(func() bool { return h.get("acme-credentials", &corev1.Secret{}) }).Should(gomega.BeTrue())
	h.Expect(mustGet(h, "acme-app-portal", &corev1.Secret{}).Data).To(gomega.HaveKey("key"))
	h.Expect(mustGet(h, "acme-credentials", &corev1.Secret{}).Data).To(gomega.And(gomega.HaveKey("portal.json"), gomega.Not(gomega.HaveKey("kiosk.json"))))
}

// TestPinFromNewerOperatorIsKept downgrades to an operator that does not know the
// revision of an Instance's pods. The operator leaves them unchanged until the server
// rollout, which is paused here, moves the Instance.
func TestPinFromNewerOperatorIsKept(t *testing.T) {
	h := newHarness(t)
	instance := h.newExternalInstance("acme")
	instance.Spec.Rollout = &v1alpha1.RolloutSpec{Pause: true}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready")
	h.Eventually(func() error {
		deployment := mustGet(h, "acme", &appsv1.Deployment{})
		state := deployment.Annotations[resources.RolloutAnnotation]
		deployment.Annotations[resources.RolloutAnnotation] = strings.ReplaceAll(state,
			fmt.Sprintf(`"revision":%d`, resources.Revision), fmt.Sprintf(`"revision":%d`, resources.Revision+1))
		return h.Update(t.Context(), deployment)
	}).Should(gomega.Succeed())
	h.Eventually(func() int32 { return mustGet(h, "acme", &v1alpha1.Instance{}).Status.Server.Revision }).Should(gomega.Equal(resources.Revision + 1))
	memoryLimit := func() string {
		container := mustGet(h, "acme", &appsv1.Deployment{}).Spec.Template.Spec.Containers[0]
		return container.Resources.Limits.Memory().String()
	}
	before := memoryLimit()
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: mustQuantity("3Gi")}}
	})
	h.waitUntilIdle()
	h.Expect(memoryLimit()).To(gomega.Equal(before))
	h.Expect(h.conditionLines("acme")).To(gomega.ContainElement("Ready=True Ready"))
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Rollout.Pause = false })
	h.Eventually(memoryLimit).Should(gomega.Equal("3Gi"))
}

func TestKeyIsCreatedOnceWithStaleCache(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	acme := mustGet(h, "acme", &v1alpha1.Instance{})
	before := mustGet(h, "acme-app-default", &corev1.Secret{}).Data["key"]
	// The scope does not contain any owned objects, as right after an operator restart.
	deps := &h.reconciler.deps
	s := newScope(deps, acme.DeepCopy(), inventory.New(deps.Clients, acme), time.Now())
	if err := problem.FirstTransient(s.Run(t.Context())); err != nil && !problem.IsConflict(err) {
		t.Fatal(err)
	}
	input := resources.Input{Instance: acme}
	set := inventory.New(deps.Clients, acme)
	err := set.Create(t.Context(), resources.BuildApplicationSecret(input, v1alpha1.Application{Name: "default"}, pki.NewApplicationKey()))
	if !problem.IsConflict(err) {
		t.Errorf("creating an existing key: got %v, want a conflict", err)
	}
	h.Expect(mustGet(h, "acme-app-default", &corev1.Secret{}).Data["key"]).To(gomega.Equal(before))
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
			h := newHarness(t)
			instance := h.newInstance("acme")
			instance.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
			change(instance)
			h.mustCreate(instance)
			h.Eventually(func() []string { return h.conditionLines("acme") }).ShouldNot(gomega.BeEmpty())
			h.deleteInstance("acme")
			h.Eventually(func() bool { return h.get("acme-data", &corev1.PersistentVolumeClaim{}) }).Should(gomega.BeFalse())
		})
	}
}

func TestPreflightQuotaFailureStallsWhilePodsServe(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	zeroJobs := corev1.ResourceList{"count/jobs.batch": mustQuantity("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: objectMeta(h.namespace, "none"), Spec: corev1.ResourceQuotaSpec{Hard: zeroJobs}}
	h.mustCreate(quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: zeroJobs, Used: zeroJobs}
	if err := h.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	h.waitForConditions("acme", "Stalled=True ForbiddenByAPIServer", "ModelsReady=False ForbiddenByAPIServer", "Available=True Serving")
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("exceeded quota: none"))
}

func TestDeletedDeploymentIsRecreated(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	deployment := mustGet(h, "acme", &appsv1.Deployment{})
	if err := h.Delete(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	h.Eventually(func() bool {
		recreated := &appsv1.Deployment{}
		return h.get("acme", recreated) && recreated.UID != deployment.UID
	}).Should(gomega.BeTrue())
	h.waitForConditions("acme", "Ready=True Ready")
}

func TestScalingReplacesNoPod(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	before := mustGet(h, "acme", &appsv1.Deployment{})
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Replicas = 4 })
	h.waitForConditions("acme", "Ready=True Ready")
	after := mustGet(h, "acme", &appsv1.Deployment{})
	h.Expect(after.Spec.Replicas).To(gomega.Equal(ptr.To[int32](4)))
	h.Expect(after.Spec.Template).To(gomega.Equal(before.Spec.Template))
}

func TestReconcileIgnoresDeletedInstance(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	result, err := h.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: h.namespace, Name: "none"}})
	if err != nil || result != (ctrl.Result{}) {
		t.Errorf("missing Instance: got %+v, %v, want an empty result", result, err)
	}
}

func TestConcurrentOperatorsCreateOneCA(t *testing.T) {
	h := newHarness(t)
	h.stop()
	stores := []*authority.Store{
		{Client: h.Client, APIReader: h.Client, Namespace: h.namespace},
		{Client: h.Client, APIReader: h.Client, Namespace: h.namespace},
	}
	first, err := stores[0].Load(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stores[1].Create(t.Context(), time.Now()); !problem.IsConflict(err) {
		t.Errorf("creating a second CA: got %v, want a conflict", err)
	}
	second, err := stores[1].Load(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	h.Expect(second.PEM()).To(gomega.Equal(first.PEM()))
}

func TestCAIsRenewedInPlace(t *testing.T) {
	h := newHarness(t)
	h.stop()
	store := &authority.Store{Client: h.Client, APIReader: h.Client, Namespace: h.namespace}
	first, err := store.Load(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := store.Load(t.Context(), time.Now().AddDate(6, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	h.Expect(renewed.PEM()).NotTo(gomega.Equal(first.PEM()))
	h.Expect(mustGet(h, authority.SecretName, &corev1.Secret{}).Data["tls.crt"]).To(gomega.Equal(renewed.PEM()))
}
