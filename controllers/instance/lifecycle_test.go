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
func (p *harness) kstatus(name string) status.Status {
	p.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Instance"))
	mustGet(p, name, object)
	result, err := status.Compute(object)
	if err != nil {
		p.t.Fatal(err)
	}
	return result.Status
}

func TestInstanceBecomesReady(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready", "StorageReady=True VolumeBound", "ModelsReady=True ModelsPinned", "Available=True Serving")
	p.Expect(p.kstatus("acme")).To(gomega.Equal(status.CurrentStatus))

	acme := mustGet(p, "acme", &v1alpha1.Instance{})
	acme.Status.Conditions, acme.Status.Rollout = nil, v1alpha1.RolloutStatus{}
	want := v1alpha1.InstanceStatus{
		ObservedGeneration: 1,
		URL:                "https://acme." + p.namespace + ".svc",
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
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	acme := mustGet(p, "acme", &v1alpha1.Instance{})
	for _, entry := range acme.Status.Inventory {
		object := mustGet(p, entry.Name, inventory.NewObject(entry.Kind))
		if inventory.IsData(acme, inventory.Key{Kind: entry.Kind, Name: entry.Name}) {
			p.Expect(object.GetOwnerReferences()).To(gomega.BeEmpty(), "data outlives its Instance")
			p.Expect(object.GetLabels()).To(gomega.HaveKeyWithValue(v1alpha1.InstanceUIDLabel, string(acme.UID)))
			continue
		}
		owner := metav1.GetControllerOf(object)
		if owner == nil || owner.UID != acme.UID {
			t.Errorf("%s %s is owned by %v", entry.Kind, entry.Name, owner)
		}
	}
}

func TestNewInstanceIsNotReportedReady(t *testing.T) {
	p := newHarness(t)
	p.stop()
	p.mustCreate(p.newInstance("acme"))
	p.Expect(mustGet(p, "acme", &v1alpha1.Instance{}).Status.ObservedGeneration).To(gomega.Equal(int64(-1)))
	p.Expect(p.kstatus("acme")).To(gomega.Equal(status.InProgressStatus))
}

func TestSettledInstanceIsReconciledWithoutWrites(t *testing.T) {
	for name, build := range map[string]func(*harness) *v1alpha1.Instance{
		"embedded": func(p *harness) *v1alpha1.Instance {
			instance := p.newInstance("acme")
			instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
			return instance
		},
		"external": func(p *harness) *v1alpha1.Instance {
			instance := p.newExternalInstance("acme")
			instance.Spec.Applications = []v1alpha1.Application{{Name: "portal", Scopes: []v1alpha1.Scope{"survey:read"}}, {Name: "kiosk"}}
			instance.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU:    mustQuantity("1000m"),
				corev1.ResourceMemory: mustQuantity("1024Mi"),
			}}
			return instance
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t)
			p.mustCreate(build(p))
			p.waitForConditions("acme", "Ready=True Ready")
			p.expectNoWritesWhenSettled("acme")
			before := p.writes.all()
			if len(before) == 0 {
				t.Fatal("the operator made an Instance without a write: the counter does not count")
			}
			for range 3 {
				p.triggerReconcile("acme")
			}
			p.waitUntilIdle()
			if diff := cmp.Diff(before, p.writes.all()); diff != "" {
				t.Errorf("writes at rest (+):\n%s", diff)
			}
			p.startOperator(serverImage)
			p.waitUntilIdle()
			if diff := cmp.Diff(before, p.writes.all()); diff != "" || p.reconcileCount() == 0 {
				t.Errorf("writes of an operator that was restarted, in %d visits (+):\n%s", p.reconcileCount(), diff)
			}
		})
	}
}

func TestFieldsOfOtherManagersAreKept(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	mustUpdate(p, "acme", &appsv1.Deployment{}, func(deployment *appsv1.Deployment) {
		metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, "other.example/owner", "other")
		deployment.Spec.Template.Spec.Containers = append(deployment.Spec.Template.Spec.Containers, corev1.Container{Name: "sidecar", Image: "sidecar"})
	})
	p.Eventually(func() bool {
		deployment := mustGet(p, "acme", &appsv1.Deployment{})
		return deployment.Status.ObservedGeneration == deployment.Generation
	}).Should(gomega.BeTrue())
	p.waitForConditions("acme", "Ready=True Ready")
	p.expectNoWritesWhenSettled("acme")
	p.Expect(mustGet(p, "acme", &appsv1.Deployment{}).Spec.Template.Spec.Containers).To(gomega.HaveLen(2))
}

func TestDriftIsReverted(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	for name, change := range map[string]struct {
		harm   func()
		healed func() bool
	}{
		"a port of the Service": {
			harm: func() {
				mustUpdate(p, "acme", &corev1.Service{}, func(service *corev1.Service) { service.Spec.Ports[0].TargetPort = intstr.FromInt32(1) })
			},
			healed: func() bool {
				return mustGet(p, "acme", &corev1.Service{}).Spec.Ports[0].TargetPort == intstr.FromString("https")
			},
		},
		"the number of a port of the Service": {
			harm: func() {
				mustUpdate(p, "acme", &corev1.Service{}, func(service *corev1.Service) { service.Spec.Ports[0].Port = 444 })
			},
			healed: func() bool {
				ports := mustGet(p, "acme", &corev1.Service{}).Spec.Ports
				return len(ports) == 1 && ports[0].Port == 443
			},
		},
		"the image of the Deployment": {
			harm: func() {
				mustUpdate(p, "acme", &appsv1.Deployment{}, func(deployment *appsv1.Deployment) {
					deployment.Spec.Template.Spec.Containers[0].Image = "evil"
				})
			},
			healed: func() bool {
				return mustGet(p, "acme", &appsv1.Deployment{}).Spec.Template.Spec.Containers[0].Image == serverImage
			},
		},
		"the NetworkPolicy is gone": {
			harm: func() {
				if err := p.Delete(t.Context(), mustGet(p, "acme", &networkingv1.NetworkPolicy{})); err != nil {
					t.Fatal(err)
				}
			},
			healed: func() bool { return p.get("acme", &networkingv1.NetworkPolicy{}) },
		},
		"the operator's label is gone": {
			harm: func() {
				mustUpdate(p, "acme", &corev1.ServiceAccount{}, func(account *corev1.ServiceAccount) { account.Labels = nil })
			},
			healed: func() bool {
				return mustGet(p, "acme", &corev1.ServiceAccount{}).Labels[resources.ManagedByLabel] != ""
			},
		},
	} {
		change.harm()
		p.Eventually(change.healed).Should(gomega.BeTrue(), name)
	}
}

func TestStaleObjectsArePruned(t *testing.T) {
	p := newHarness(t)
	instance := p.newExternalInstance("acme")
	instance.Spec.Applications = []v1alpha1.Application{{Name: "portal"}, {Name: "kiosk"}}
	p.mustCreate(instance)
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(p.get("acme", &policyv1.PodDisruptionBudget{})).To(gomega.BeTrue())
	key := mustGet(p, "acme-app-portal", &corev1.Secret{}).Data["key"]

	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Applications = instance.Spec.Applications[:1]
		instance.Spec.Replicas = 1
	})
	p.Eventually(func() bool {
		return p.get("acme-app-kiosk", &corev1.Secret{}) || p.get("acme", &policyv1.PodDisruptionBudget{})
	}).Should(gomega.BeFalse())
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(mustGet(p, "acme-app-portal", &corev1.Secret{}).Data["key"]).To(gomega.Equal(key), "an application that stays keeps its key")
	p.Expect(mustGet(p, "acme-credentials", &corev1.Secret{}).Data).To(gomega.And(gomega.HaveKey("portal.json"), gomega.HaveKey("operator.json"), gomega.HaveLen(2)))
	for _, entry := range mustGet(p, "acme", &v1alpha1.Instance{}).Status.Inventory {
		p.Expect(entry.Name).NotTo(gomega.ContainSubstring("kiosk"))
		p.Expect(entry.Kind).NotTo(gomega.Equal("Job"), "the preflight Job is cleaned up")
	}
}

func TestForeignObjectStallsInstance(t *testing.T) {
	p := newHarness(t)
	foreign := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: p.namespace},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	p.mustCreate(foreign)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=False ObjectNotOwned", "Stalled=True ObjectNotOwned")
	p.Expect(p.kstatus("acme")).To(gomega.Equal(status.FailedStatus))
	p.Expect(p.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("Service acme"))
	p.Expect(mustGet(p, "acme", &corev1.Service{}).ResourceVersion).To(gomega.Equal(foreign.ResourceVersion), "it was not touched")

	if err := p.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	p.triggerReconcile("acme")
	p.waitForConditions("acme", "Ready=True Ready")
}

func TestReconcileWaitsForObjectsOfEarlierInstance(t *testing.T) {
	p := newHarness(t)
	p.cluster.update(func(w *fakeCluster) { w.namespace = "elsewhere" })
	left := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: p.namespace, OwnerReferences: []metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "Instance", Name: "acme", UID: "earlier", Controller: new(bool),
	}}}}
	*left.OwnerReferences[0].Controller = true
	p.mustCreate(left)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=False ObjectTerminating", "Reconciling=True ObjectTerminating")
	p.Expect(p.kstatus("acme")).To(gomega.Equal(status.InProgressStatus))
}

func TestSuspendedInstanceIsUnchanged(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Suspend, instance.Spec.Replicas = true, 3 })
	p.waitForConditions("acme", "Ready=True Suspended")
	p.Expect(p.kstatus("acme")).To(gomega.Equal(status.CurrentStatus))
	if err := p.Delete(t.Context(), mustGet(p, "acme", &networkingv1.NetworkPolicy{})); err != nil {
		t.Fatal(err)
	}
	p.waitUntilIdle()
	p.Expect(p.get("acme", &networkingv1.NetworkPolicy{})).To(gomega.BeFalse())
	p.Expect(*mustGet(p, "acme", &appsv1.Deployment{}).Spec.Replicas).To(gomega.Equal(int32(2)))

	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Suspend = false })
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(*mustGet(p, "acme", &appsv1.Deployment{}).Spec.Replicas).To(gomega.Equal(int32(3)))
	p.Expect(p.get("acme", &networkingv1.NetworkPolicy{})).To(gomega.BeTrue())
}

func TestHibernatedInstanceRunsNoPodsAndKeepsItsData(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	claim := mustGet(p, "acme-data", &corev1.PersistentVolumeClaim{})
	key := mustGet(p, "acme-app-default", &corev1.Secret{}).Data["key"]

	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = true })
	p.waitForConditions("acme", "Ready=True Hibernated", "Available=False Hibernated")
	p.Expect(p.kstatus("acme")).To(gomega.Equal(status.CurrentStatus))
	p.Expect(mustGet(p, "acme", &v1alpha1.Instance{}).Status.Replicas).To(gomega.BeZero())

	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = false })
	p.waitForConditions("acme", "Ready=True Ready", "Available=True Serving")
	p.Expect(mustGet(p, "acme-data", &corev1.PersistentVolumeClaim{}).UID).To(gomega.Equal(claim.UID))
	p.Expect(mustGet(p, "acme-app-default", &corev1.Secret{}).Data["key"]).To(gomega.Equal(key))
}

func TestHibernatedInstanceRunsNoPodsDespiteFailures(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "missing"}}
		instance.Spec.Models[0].ID = "service-xx"
	})
	p.waitForConditions("acme", "Ready=False ModelsUnavailable", "Available=True Serving")
	serving := mustGet(p, "acme", &appsv1.Deployment{})

	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Hibernate = true })
	p.waitForConditions("acme", "Ready=False ModelsUnavailable", "Available=False Hibernated")
	asleep := mustGet(p, "acme", &appsv1.Deployment{})
	p.Expect(*asleep.Spec.Replicas).To(gomega.BeZero())
	p.Expect(asleep.Spec.Template).To(gomega.Equal(serving.Spec.Template))

	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS = nil })
	p.waitForConditions("acme", "Stalled=True ModelsUnavailable", "Available=False Hibernated")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Models[0].ID, instance.Spec.Hibernate = "service-en", false
	})
	p.waitForConditions("acme", "Ready=True Ready", "Available=True Serving")
}

// deleteInstance deletes an Instance and waits until it and its owned objects are gone.
func (p *harness) deleteInstance(name string) {
	p.t.Helper()
	if err := p.Delete(p.t.Context(), mustGet(p, name, &v1alpha1.Instance{})); err != nil {
		p.t.Fatal(err)
	}
	p.Eventually(func() bool { return p.get(name, &v1alpha1.Instance{}) || p.get(name, &appsv1.Deployment{}) }).Should(gomega.BeFalse())
}

func TestRetainedDataIsAdoptedOnlyByUID(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	earlier := mustGet(p, "acme", &v1alpha1.Instance{}).UID
	claim := mustGet(p, "acme-data", &corev1.PersistentVolumeClaim{})
	p.deleteInstance("acme")
	p.Expect(mustGet(p, "acme-data", &corev1.PersistentVolumeClaim{}).UID).To(gomega.Equal(claim.UID), "the data is still there")

	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=False DataNotOwned", "StorageReady=False DataNotOwned", "Stalled=True DataNotOwned")
	p.Expect(p.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("anamnesis.dev/adopt: " + string(earlier)))
	p.Expect(p.get("acme", &appsv1.Deployment{})).To(gomega.BeFalse(), "no pod touches data that is not its own")

	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: string(earlier)}
	})
	p.waitForConditions("acme", "Ready=True Ready")
	adopted := mustGet(p, "acme-data", &corev1.PersistentVolumeClaim{})
	p.Expect(adopted.UID).To(gomega.Equal(claim.UID))
	p.Expect(adopted.Labels).To(gomega.HaveKeyWithValue(v1alpha1.InstanceUIDLabel, string(mustGet(p, "acme", &v1alpha1.Instance{}).UID)))
}

func TestUnadoptedDataIsKept(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	earlier := mustGet(p, "acme", &v1alpha1.Instance{}).UID
	p.deleteInstance("acme")

	again := p.newInstance("acme")
	again.Annotations = map[string]string{v1alpha1.AdoptAnnotation: string(earlier)}
	again.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	again.Spec.Suspend = true
	p.mustCreate(again)
	p.waitForConditions("acme", "Ready=False Suspended")
	p.deleteInstance("acme")
	claim := mustGet(p, "acme-data", &corev1.PersistentVolumeClaim{})
	p.Expect(claim.DeletionTimestamp.IsZero()).To(gomega.BeTrue())
	p.Expect(claim.Labels).To(gomega.HaveKeyWithValue(v1alpha1.InstanceUIDLabel, string(earlier)))
}

func TestDeletePolicyDeletesData(t *testing.T) {
	p := newHarness(t)
	instance := p.newInstance("acme")
	instance.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	p.mustCreate(instance)
	p.waitForConditions("acme", "Ready=True Ready")
	p.deleteInstance("acme")
	p.Eventually(func() bool { return p.get("acme-data", &corev1.PersistentVolumeClaim{}) }).Should(gomega.BeFalse())
}

func TestDataIsReleasedAfterPodsTerminate(t *testing.T) {
	p := newHarness(t)
	instance := p.newInstance("acme")
	instance.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	p.mustCreate(instance)
	p.waitForConditions("acme", "Ready=True Ready")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "acme-1", Namespace: p.namespace, Labels: resources.Selector(instance)},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "apiserver", Image: serverImage}}},
	}
	p.mustCreate(pod)
	if err := p.Delete(t.Context(), mustGet(p, "acme", &v1alpha1.Instance{})); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() string { return p.conditionMessage("acme", "Ready") }).Should(gomega.Equal("the pods are terminating"))
	p.Expect(mustGet(p, "acme-data", &corev1.PersistentVolumeClaim{}).DeletionTimestamp).To(gomega.BeNil())
	if err := p.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() bool {
		return p.get("acme", &v1alpha1.Instance{}) || p.get("acme-data", &corev1.PersistentVolumeClaim{})
	}).Should(gomega.BeFalse())
}

func TestEventsAreRecordedOnTransitionsOnly(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	for range 3 {
		p.triggerReconcile("acme")
	}
	reasons := func() []string {
		var events corev1.EventList
		if err := p.List(t.Context(), &events, client.InNamespace(p.namespace)); err != nil {
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
	p.Eventually(reasons).Should(gomega.ContainElement("Normal Ready"))
	p.waitUntilIdle()
	counts := map[string]int{}
	for _, reason := range reasons() {
		counts[reason]++
	}
	p.Expect(counts["Normal Ready"]).To(gomega.Equal(1))
}

func TestPrinterColumns(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	settings := controlplanetest.Get(t).AdminConfig()
	settings.GroupVersion, settings.APIPath = &v1alpha1.GroupVersion, "/apis"
	settings.NegotiatedSerializer = clientgoscheme.Codecs.WithoutConversion()
	api, err := rest.RESTClientFor(settings)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := api.Get().Namespace(p.namespace).Resource("instances").Name("acme").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(answer, &table); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for i, column := range table.ColumnDefinitions {
		got[column.Name] = table.Rows[0].Cells[i]
	}
	delete(got, "Age")
	want := map[string]any{
		"Name": "acme", "Ready": "True", "Reason": "Ready", "Models": "service-en", "Replicas": float64(1),
		"Storage": "Embedded", "URL": "https://acme." + p.namespace + ".svc",
		"Server": serverImage, "Rollout": "Current",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}
