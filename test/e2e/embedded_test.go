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

// asked is how many diagnoses the tests of embedded storage ask for.
const asked = 7

// askAndCount asks for some diagnoses and waits until the Instance has counted
// them.
func askAndCount(t *testing.T, n tenant, want int) {
	t.Helper()
	api := n.dial("http/1.1")
	for range asked {
		api.mustDiagnose(t)
	}
	waitForCount(t, api, want)
}

func waitForCount(t *testing.T, api apiClient, want int) {
	t.Helper()
	NewWithT(t).Eventually(func() (int, error) {
		return api.diagnosesCounted(t.Context())
	}, "30s", "500ms").Should(Equal(want))
}

func TestCountsSurviveThePod(t *testing.T) {
	t.Parallel()
	n := apply(t, newNamespace(t, "survive"), "kept", embedded())
	askAndCount(t, n, asked)

	before := n.pods()
	if len(before) != 1 {
		t.Fatalf("%d pods, want one", len(before))
	}
	if err := kube.Delete(t.Context(), &before[0]); err != nil {
		t.Fatal(err)
	}
	NewWithT(t).Eventually(n.podNames, patience, "500ms").Should(And(HaveLen(1), Not(ContainElement(before[0].Name))))
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")

	askAndCount(t, n, 2*asked)
}

func TestHibernateKeepsTheData(t *testing.T) {
	t.Parallel()
	n := apply(t, newNamespace(t, "hibernate"), "sleeper", embedded())
	askAndCount(t, n, asked)

	n.edit(func(s *v1alpha1.InstanceSpec) { s.Hibernate = true })
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "Hibernated")
	NewWithT(t).Eventually(n.podNames, patience, "500ms").Should(BeEmpty())

	n.edit(func(s *v1alpha1.InstanceSpec) { s.Hibernate = false })
	NewWithT(t).Eventually(n.podNames, patience, "500ms").Should(HaveLen(1))
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	waitForCount(t, n.dial("h2"), asked)
}

func TestRetainedDataIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "retain")
	box := startLetterbox(t, namespace)
	n := apply(t, namespace, "phoenix", sendBy(embedded()))
	askAndCount(t, n, asked)
	user := n.dial("h2").mustCreateUser(t)
	box.mustSignIn(n)
	uid := string(n.get().UID)
	key := n.secret("phoenix-app-default", "key")
	n.delete()
	if got := claims(t, namespace); len(got) != 1 {
		t.Fatalf("after a deletion with Retain there are %d volume claims, want one", len(got))
	}

	instance := &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "phoenix"}, Spec: sendBy(embedded())}
	if err := kube.Create(t.Context(), instance); err != nil {
		t.Fatal(err)
	}
	n.waitFor(v1alpha1.ConditionStalled, metav1.ConditionTrue, "")

	NewWithT(t).Eventually(func() error {
		instance := n.get()
		instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: uid}
		return kube.Update(t.Context(), instance)
	}, "10s", "200ms").Should(Succeed())
	n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	waitForCount(t, n.dial("http/1.1"), asked)
	n.dial("h2").mustFindUser(t, user) // by an address that only the former keysets find
	box.mustSignIn(n)
	if got := n.secret("phoenix-app-default", "key"); got != key {
		t.Error("the application of adopted data has another key")
	}
}

func TestDeletePolicyDeletesTheData(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "delete")
	spec := embedded()
	spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	n := apply(t, namespace, "gone", spec)
	n.delete()
	NewWithT(t).Eventually(func() []corev1.PersistentVolumeClaim {
		return claims(t, namespace)
	}, patience, "500ms").Should(BeEmpty())
}

func claims(t *testing.T, namespace string) []corev1.PersistentVolumeClaim {
	t.Helper()
	list := &corev1.PersistentVolumeClaimList{}
	if err := kube.List(context.WithoutCancel(t.Context()), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	return list.Items
}
