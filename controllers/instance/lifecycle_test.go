// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/controlplanetest"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// kstatus computes an Instance's status as generic tools such as Flux do.
func (h *harness) kstatus(name string) status.Status {
	h.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Instance"))
	mustGet(h, name, object)
	result, err := status.Compute(object)
	if err != nil {
		h.t.Fatal(err)
	}
	return result.Status
}

func TestInstanceBecomesReady(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready", "StorageReady=True VolumeBound", "ModelsReady=True ModelsPinned", "Available=True Serving")
	h.Expect(h.kstatus("acme")).To(gomega.Equal(status.CurrentStatus))

	acme := mustGet(h, "acme", &v1alpha1.Instance{})
	acme.Status.Conditions, acme.Status.Rollout = nil, v1alpha1.RolloutStatus{}
	want := v1alpha1.InstanceStatus{
		ObservedGeneration: 1,
		URL:                "https://acme." + h.namespace + ".svc",
		Server:             v1alpha1.ServerBuild{Image: serverImage, Revision: resources.Revision},
		Models:             []v1alpha1.Model{{ID: "service-en", Version: newestVersion}},
		ModelIDs:           "service-en",
		Storage:            "Embedded",
		Encrypted:          true,
		Replicas:           1,
		ReadyReplicas:      1,
		Inventory: []v1alpha1.InventoryEntry{
			{Kind: "ConfigMap", Name: "acme-ca"},
			{Kind: "ConfigMap", Name: "acme-config"},
			{Kind: "Deployment", Name: "acme"},
			{Kind: "NetworkPolicy", Name: "acme"},
			{Kind: "PersistentVolumeClaim", Name: "acme-data"},
			{Kind: "Secret", Name: "acme-app-default"},
			{Kind: "Secret", Name: "acme-credentials"},
			{Kind: "Secret", Name: "acme-keysets"},
			{Kind: "Secret", Name: "acme-serving-tls"},
			{Kind: "Secret", Name: "acme-signing-keys"},
			{Kind: "Service", Name: "acme"},
			{Kind: "ServiceAccount", Name: "acme"},
		},
	}
	if diff := cmp.Diff(want, acme.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestOwnedObjectsExceptDataHaveOwnerReference(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	acme := mustGet(h, "acme", &v1alpha1.Instance{})
	for _, entry := range acme.Status.Inventory {
		object := mustGet(h, entry.Name, inventory.NewObject(entry.Kind))
		if inventory.IsData(acme, inventory.Key{Kind: entry.Kind, Name: entry.Name}) {
			h.Expect(object.GetOwnerReferences()).To(gomega.BeEmpty(), "data must not have an owner")
			h.Expect(object.GetLabels()).To(gomega.HaveKeyWithValue(v1alpha1.InstanceUIDLabel, string(acme.UID)))
			continue
		}
		owner := metav1.GetControllerOf(object)
		if owner == nil || owner.UID != acme.UID {
			t.Errorf("%s %s: got owner %v, want the Instance", entry.Kind, entry.Name, owner)
		}
	}
}

func TestNewInstanceIsNotReportedReady(t *testing.T) {
	h := newHarness(t)
	h.stop()
	h.mustCreate(h.newInstance("acme"))
	h.Expect(mustGet(h, "acme", &v1alpha1.Instance{}).Status.ObservedGeneration).To(gomega.Equal(int64(-1)))
	h.Expect(h.kstatus("acme")).To(gomega.Equal(status.InProgressStatus))
}

func TestSettledInstanceIsReconciledWithoutWrites(t *testing.T) {
	for name, build := range map[string]func(*harness) *v1alpha1.Instance{
		"embedded": func(h *harness) *v1alpha1.Instance {
			instance := h.newInstance("acme")
			instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
			return instance
		},
		"external": func(h *harness) *v1alpha1.Instance {
			instance := h.newExternalInstance("acme")
			instance.Spec.Applications = []v1alpha1.Application{{Name: "portal", Scopes: []v1alpha1.Scope{"survey:read"}}, {Name: "kiosk"}}
			instance.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU:    mustQuantity("1000m"),
				corev1.ResourceMemory: mustQuantity("1024Mi"),
			}}
			return instance
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.mustCreate(build(h))
			h.waitForConditions("acme", "Ready=True Ready")
			h.expectNoWritesWhenSettled("acme")
			before := h.writes.all()
			if len(before) == 0 {
				t.Fatal("no write was recorded for a new Instance")
			}
			for range 3 {
				h.triggerReconcile("acme")
			}
			h.waitUntilIdle()
			if diff := cmp.Diff(before, h.writes.all()); diff != "" {
				t.Errorf("writes of a settled Instance (-before +after):\n%s", diff)
			}
			h.startOperator(serverImage)
			h.waitUntilIdle()
			if diff := cmp.Diff(before, h.writes.all()); diff != "" || h.reconcileCount() == 0 {
				t.Errorf("writes of a restarted operator in %d reconciles (-before +after):\n%s", h.reconcileCount(), diff)
			}
		})
	}
}

func TestFieldsOfOtherManagersAreKept(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	mustUpdate(h, "acme", &appsv1.Deployment{}, func(deployment *appsv1.Deployment) {
		metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, "other.example/owner", "other")
		deployment.Spec.Template.Spec.Containers = append(deployment.Spec.Template.Spec.Containers, corev1.Container{Name: "sidecar", Image: "sidecar"})
	})
	h.Eventually(func() bool {
		deployment := mustGet(h, "acme", &appsv1.Deployment{})
		return deployment.Status.ObservedGeneration == deployment.Generation
	}).Should(gomega.BeTrue())
	h.waitForConditions("acme", "Ready=True Ready")
	h.expectNoWritesWhenSettled("acme")
	h.Expect(mustGet(h, "acme", &appsv1.Deployment{}).Spec.Template.Spec.Containers).To(gomega.HaveLen(2))
}

func TestDriftIsReverted(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	for name, change := range map[string]struct {
		drift      func()
		isReverted func() bool
	}{
		"a port of the Service": {
			drift: func() {
				mustUpdate(h, "acme", &corev1.Service{}, func(service *corev1.Service) { service.Spec.Ports[0].TargetPort = intstr.FromInt32(1) })
			},
			isReverted: func() bool {
				return mustGet(h, "acme", &corev1.Service{}).Spec.Ports[0].TargetPort == intstr.FromString("https")
			},
		},
		"the number of a port of the Service": {
			drift: func() {
				mustUpdate(h, "acme", &corev1.Service{}, func(service *corev1.Service) { service.Spec.Ports[0].Port = 444 })
			},
			isReverted: func() bool {
				ports := mustGet(h, "acme", &corev1.Service{}).Spec.Ports
				return len(ports) == 1 && ports[0].Port == 443
			},
		},
		"the image of the Deployment": {
			drift: func() {
				mustUpdate(h, "acme", &appsv1.Deployment{}, func(deployment *appsv1.Deployment) {
					deployment.Spec.Template.Spec.Containers[0].Image = "evil"
				})
			},
			isReverted: func() bool {
				return mustGet(h, "acme", &appsv1.Deployment{}).Spec.Template.Spec.Containers[0].Image == serverImage
			},
		},
		"the NetworkPolicy is gone": {
			drift: func() {
				if err := h.Delete(t.Context(), mustGet(h, "acme", &networkingv1.NetworkPolicy{})); err != nil {
					t.Fatal(err)
				}
			},
			isReverted: func() bool { return h.get("acme", &networkingv1.NetworkPolicy{}) },
		},
		"the operator's label is gone": {
			drift: func() {
				mustUpdate(h, "acme", &corev1.ServiceAccount{}, func(account *corev1.ServiceAccount) { account.Labels = nil })
			},
			isReverted: func() bool {
				return mustGet(h, "acme", &corev1.ServiceAccount{}).Labels[resources.ManagedByLabel] != ""
			},
		},
	} {
		change.drift()
		h.Eventually(change.isReverted).Should(gomega.BeTrue(), name)
	}
}

func TestStaleObjectsArePruned(t *testing.T) {
	h := newHarness(t)
	instance := h.newExternalInstance("acme")
	instance.Spec.Applications = []v1alpha1.Application{{Name: "portal"}, {Name: "kiosk"}}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(h.get("acme", &policyv1.PodDisruptionBudget{})).To(gomega.BeTrue())
	key := mustGet(h, "acme-app-portal", &corev1.Secret{}).Data["key"]

	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Applications = instance.Spec.Applications[:1]
		instance.Spec.Replicas = 1
	})
	h.Eventually(func() bool {
		return h.get("acme-app-kiosk", &corev1.Secret{}) || h.get("acme", &policyv1.PodDisruptionBudget{})
	}).Should(gomega.BeFalse())
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(mustGet(h, "acme-app-portal", &corev1.Secret{}).Data["key"]).To(gomega.Equal(key), "a remaining application must keep its key")
	h.Expect(mustGet(h, "acme-credentials", &corev1.Secret{}).Data).To(gomega.And(gomega.HaveKey("portal.json"), gomega.HaveKey("operator.json"), gomega.HaveLen(2)))
	for _, entry := range mustGet(h, "acme", &v1alpha1.Instance{}).Status.Inventory {
		h.Expect(entry.Name).NotTo(gomega.ContainSubstring("kiosk"))
		h.Expect(entry.Kind).NotTo(gomega.Equal("Job"), "the preflight Job must be deleted")
	}
}

func TestForeignObjectStallsInstance(t *testing.T) {
	h := newHarness(t)
	foreign := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: h.namespace},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	h.mustCreate(foreign)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=False ObjectNotOwned", "Stalled=True ObjectNotOwned")
	h.Expect(h.kstatus("acme")).To(gomega.Equal(status.FailedStatus))
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("Service acme"))
	h.Expect(mustGet(h, "acme", &corev1.Service{}).ResourceVersion).To(gomega.Equal(foreign.ResourceVersion), "the foreign Service must not change")

	if err := h.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	h.triggerReconcile("acme")
	h.waitForConditions("acme", "Ready=True Ready")
}

func TestReconcileWaitsForObjectsOfEarlierInstance(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) { c.namespace = "elsewhere" })
	leftover := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: h.namespace, OwnerReferences: []metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "Instance", Name: "acme", UID: "earlier", Controller: new(bool),
	}}}}
	*leftover.OwnerReferences[0].Controller = true
	h.mustCreate(leftover)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=False ObjectTerminating", "Reconciling=True ObjectTerminating")
	h.Expect(h.kstatus("acme")).To(gomega.Equal(status.InProgressStatus))
}

func TestSuspendedInstanceIsUnchanged(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Suspend, instance.Spec.Replicas = true, 3 })
	h.waitForConditions("acme", "Ready=True Suspended")
	h.Expect(h.kstatus("acme")).To(gomega.Equal(status.CurrentStatus))
	if err := h.Delete(t.Context(), mustGet(h, "acme", &networkingv1.NetworkPolicy{})); err != nil {
		t.Fatal(err)
	}
	h.waitUntilIdle()
	h.Expect(h.get("acme", &networkingv1.NetworkPolicy{})).To(gomega.BeFalse())
	h.Expect(*mustGet(h, "acme", &appsv1.Deployment{}).Spec.Replicas).To(gomega.Equal(int32(2)))

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Suspend = false })
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(*mustGet(h, "acme", &appsv1.Deployment{}).Spec.Replicas).To(gomega.Equal(int32(3)))
	h.Expect(h.get("acme", &networkingv1.NetworkPolicy{})).To(gomega.BeTrue())
}

func TestHibernatedInstanceRunsNoPodsAndKeepsItsData(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	claim := mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{})
	key := mustGet(h, "acme-app-default", &corev1.Secret{}).Data["key"]

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = true })
	h.waitForConditions("acme", "Ready=True Hibernated", "Available=False Hibernated")
	h.Expect(h.kstatus("acme")).To(gomega.Equal(status.CurrentStatus))
	h.Expect(mustGet(h, "acme", &v1alpha1.Instance{}).Status.Replicas).To(gomega.BeZero())

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = false })
	h.waitForConditions("acme", "Ready=True Ready", "Available=True Serving")
	h.Expect(mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{}).UID).To(gomega.Equal(claim.UID))
	h.Expect(mustGet(h, "acme-app-default", &corev1.Secret{}).Data["key"]).To(gomega.Equal(key))
}

func TestHibernatedInstanceRunsNoPodsDespiteFailures(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "missing"}}
		instance.Spec.Models[0].ID = "service-xx"
	})
	h.waitForConditions("acme", "Ready=False ModelsUnavailable", "Available=True Serving")
	serving := mustGet(h, "acme", &appsv1.Deployment{})

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = true })
	h.waitForConditions("acme", "Ready=False ModelsUnavailable", "Available=False Hibernated")
	hibernated := mustGet(h, "acme", &appsv1.Deployment{})
	h.Expect(*hibernated.Spec.Replicas).To(gomega.BeZero())
	h.Expect(hibernated.Spec.Template).To(gomega.Equal(serving.Spec.Template))

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS = nil })
	h.waitForConditions("acme", "Stalled=True ModelsUnavailable", "Available=False Hibernated")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Models[0].ID, instance.Spec.Hibernate = "service-en", false
	})
	h.waitForConditions("acme", "Ready=True Ready", "Available=True Serving")
}

// deleteInstance deletes an Instance and waits until it and its owned objects are gone.
func (h *harness) deleteInstance(name string) {
	h.t.Helper()
	if err := h.Delete(h.t.Context(), mustGet(h, name, &v1alpha1.Instance{})); err != nil {
		h.t.Fatal(err)
	}
	h.Eventually(func() bool { return h.get(name, &v1alpha1.Instance{}) || h.get(name, &appsv1.Deployment{}) }).Should(gomega.BeFalse())
}

func TestRetainedDataIsAdoptedOnlyByUID(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	earlier := mustGet(h, "acme", &v1alpha1.Instance{}).UID
	claim := mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{})
	h.deleteInstance("acme")
	h.Expect(mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{}).UID).To(gomega.Equal(claim.UID), "the data must be retained")

	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=False DataNotOwned", "StorageReady=False DataNotOwned", "Stalled=True DataNotOwned")
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("anamnesis.dev/adopt: " + string(earlier)))
	h.Expect(h.get("acme", &appsv1.Deployment{})).To(gomega.BeFalse(), "no pod must use data of another Instance")

	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: string(earlier)}
	})
	h.waitForConditions("acme", "Ready=True Ready")
	adopted := mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{})
	h.Expect(adopted.UID).To(gomega.Equal(claim.UID))
	h.Expect(adopted.Labels).To(gomega.HaveKeyWithValue(v1alpha1.InstanceUIDLabel, string(mustGet(h, "acme", &v1alpha1.Instance{}).UID)))
}

func TestUnadoptedDataIsKept(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	earlier := mustGet(h, "acme", &v1alpha1.Instance{}).UID
	h.deleteInstance("acme")

	second := h.newInstance("acme")
	second.Annotations = map[string]string{v1alpha1.AdoptAnnotation: string(earlier)}
	second.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	second.Spec.Suspend = true
	h.mustCreate(second)
	h.waitForConditions("acme", "Ready=False Suspended")
	h.deleteInstance("acme")
	claim := mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{})
	h.Expect(claim.DeletionTimestamp.IsZero()).To(gomega.BeTrue())
	h.Expect(claim.Labels).To(gomega.HaveKeyWithValue(v1alpha1.InstanceUIDLabel, string(earlier)))
}

func TestDeletePolicyDeletesData(t *testing.T) {
	h := newHarness(t)
	instance := h.newInstance("acme")
	instance.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready")
	h.deleteInstance("acme")
	h.Eventually(func() bool { return h.get("acme-data", &corev1.PersistentVolumeClaim{}) }).Should(gomega.BeFalse())
}

func TestDataIsReleasedAfterPodsTerminate(t *testing.T) {
	h := newHarness(t)
	instance := h.newInstance("acme")
	instance.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "acme-1", Namespace: h.namespace, Labels: resources.Selector(instance)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "apiserver", Image: serverImage}}},
	}
	h.mustCreate(pod)
	if err := h.Delete(t.Context(), mustGet(h, "acme", &v1alpha1.Instance{})); err != nil {
		t.Fatal(err)
	}
	h.Eventually(func() string { return h.conditionMessage("acme", "Ready") }).Should(gomega.Equal("the pods are terminating"))
	h.Expect(mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{}).DeletionTimestamp).To(gomega.BeNil())
	if err := h.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	h.Eventually(func() bool {
		return h.get("acme", &v1alpha1.Instance{}) || h.get("acme-data", &corev1.PersistentVolumeClaim{})
	}).Should(gomega.BeFalse())
}

func TestEventsAreRecordedOnTransitionsOnly(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	for range 3 {
		h.triggerReconcile("acme")
	}
	reasons := func() []string {
		var events corev1.EventList
		if err := h.List(t.Context(), &events, client.InNamespace(h.namespace)); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, event := range events.Items {
			if event.InvolvedObject.Kind == "Instance" {
				lines = append(lines, fmt.Sprint(event.Type, " ", event.Reason))
			}
		}
		return lines
	}
	h.Eventually(reasons).Should(gomega.ContainElement("Normal Ready"))
	h.waitUntilIdle()
	counts := map[string]int{}
	for _, reason := range reasons() {
		counts[reason]++
	}
	h.Expect(counts["Normal Ready"]).To(gomega.Equal(1))
}

func TestPrinterColumns(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	settings := controlplanetest.Get(t).AdminConfig()
	settings.GroupVersion, settings.APIPath = &v1alpha1.GroupVersion, "/apis"
	settings.NegotiatedSerializer = clientgoscheme.Codecs.WithoutConversion()
	api, err := rest.RESTClientFor(settings)
	if err != nil {
		t.Fatal(err)
	}
	response, err := api.Get().Namespace(h.namespace).Resource("instances").Name("acme").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(response, &table); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for i, column := range table.ColumnDefinitions {
		got[column.Name] = table.Rows[0].Cells[i]
	}
	delete(got, "Age")
	want := map[string]any{
		"Name": "acme", "Ready": "True", "Reason": "Ready", "Models": "service-en", "Replicas": float64(1),
		"Storage": "Embedded", "URL": "https://acme." + h.namespace + ".svc",
		"Server": serverImage, "Rollout": "Current",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}
