// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// diagnosisCount is the number of diagnoses that each test of embedded storage requests.
const diagnosisCount = 7

// diagnoseAndWaitForCount requests diagnosisCount diagnoses and waits until the Instance
// reports want in total.
func diagnoseAndWaitForCount(t *testing.T, n tenant, want int) {
	t.Helper()
	api := n.newAPIClient("http/1.1")
	for range diagnosisCount {
		api.mustDiagnose(t)
	}
	waitForCount(t, api, want)
}

func waitForCount(t *testing.T, api apiClient, want int) {
	t.Helper()
	NewWithT(t).Eventually(func() (int, error) {
		return api.countDiagnoses(t.Context())
	}, "30s", "500ms").Should(Equal(want))
}

func TestUsageCountsSurvivePodRestart(t *testing.T) {
	t.Parallel()
	n := createReadyInstance(t, newNamespace(t, "survive"), "kept", embeddedSpec())
	diagnoseAndWaitForCount(t, n, diagnosisCount)

	before := n.pods()
	if len(before) != 1 {
		t.Fatalf("got %d pods, want 1", len(before))
	}
	if err := kubeClient.Delete(t.Context(), &before[0]); err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Eventually(n.podNames, defaultTimeout, "500ms").Should(And(HaveLen(1), Not(ContainElement(before[0].Name))))
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")

	diagnoseAndWaitForCount(t, n, 2*diagnosisCount)
}

func TestHibernationKeepsData(t *testing.T) {
	t.Parallel()
	n := createReadyInstance(t, newNamespace(t, "hibernate"), "sleeper", embeddedSpec())
	diagnoseAndWaitForCount(t, n, diagnosisCount)

	n.edit(func(s *v1alpha1.InstanceSpec) { s.Hibernate = true })
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "Hibernated")
	NewWithT(t).Eventually(n.podNames, defaultTimeout, "500ms").Should(BeEmpty())

	n.edit(func(s *v1alpha1.InstanceSpec) { s.Hibernate = false })
	NewWithT(t).Eventually(n.podNames, defaultTimeout, "500ms").Should(HaveLen(1))
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	waitForCount(t, n.newAPIClient("h2"), diagnosisCount)
}

func TestRetainedDataIsReused(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "retain")
	box := startSMTPSink(t, namespace)
	n := createReadyInstance(t, namespace, "phoenix", withSMTPSink(embeddedSpec()))
	diagnoseAndWaitForCount(t, n, diagnosisCount)
	user := n.newAPIClient("h2").mustCreateUser(t)
	box.mustSignIn(n)
	uid := string(n.get().UID)
	key := n.secret("phoenix-app-default", "key")
	n.delete()
	if got := listClaims(t, namespace); len(got) != 1 {
		t.Fatalf("got %d volume claims after a deletion with Retain, want 1", len(got))
	}

	instance := &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "phoenix"}, Spec: withSMTPSink(embeddedSpec())}
	if err := kubeClient.Create(t.Context(), instance); err != nil {
		t.Fatal(err)
	}
	n.waitFor(v1alpha1.ConditionStalled, metav1.ConditionTrue, "")

	NewWithT(t).Eventually(func() error {
		instance := n.get()
		instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: uid}
		return kubeClient.Update(t.Context(), instance)
	}, "10s", "200ms").Should(Succeed())
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	waitForCount(t, n.newAPIClient("http/1.1"), diagnosisCount)
	n.newAPIClient("h2").mustFindUser(t, user) // the email lookup requires the original keysets
	box.mustSignIn(n)
	if got := n.secret("phoenix-app-default", "key"); got != key {
		t.Error("application key changed after the data was adopted")
	}
}

func TestDeletePolicyDeletesData(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "delete")
	spec := embeddedSpec()
	spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	n := createReadyInstance(t, namespace, "gone", spec)
	n.delete()
	NewWithT(t).Eventually(func() []corev1.PersistentVolumeClaim {
		return listClaims(t, namespace)
	}, defaultTimeout, "500ms").Should(BeEmpty())
}

func listClaims(t *testing.T, namespace string) []corev1.PersistentVolumeClaim {
	t.Helper()
	list := &corev1.PersistentVolumeClaimList{}
	if err := kubeClient.List(context.WithoutCancel(t.Context()), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	return list.Items
}
