// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// defaultTimeout is the timeout for conditions that depend on a real kubelet.
const defaultTimeout = 3 * time.Minute

// A tenant is an Instance under test.
type tenant struct {
	t   *testing.T
	key client.ObjectKey
}

// newNamespace creates a namespace with a generated name that enforces the restricted
// Pod Security level. It deletes the namespace when the test ends.
func newNamespace(t *testing.T, name string) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: name + "-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := kubeClient.Create(t.Context(), namespace); err != nil {
		t.Fatalf("creating namespace %s: %v", name, err)
	}
	t.Cleanup(func() {
		if err := kubeClient.Delete(context.Background(), namespace); err != nil {
			t.Errorf("deleting namespace %s: %v", namespace.Name, err)
		}
	})
	return namespace.Name
}

// embeddedSpec returns the spec of an Instance that keeps its data on a volume.
func embeddedSpec() v1alpha1.InstanceSpec {
	return v1alpha1.InstanceSpec{
		Models:  []v1alpha1.Model{{ID: "service-en"}},
		Storage: v1alpha1.Storage{Embedded: &v1alpha1.EmbeddedStorage{Size: resource.MustParse("64Mi")}},
	}
}

// createInstance creates an Instance.
func createInstance(t *testing.T, namespace, name string, spec v1alpha1.InstanceSpec) tenant {
	t.Helper()
	instance := &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec}
	if err := kubeClient.Create(t.Context(), instance); err != nil {
		t.Fatalf("creating Instance %s: %v", name, err)
	}
	return tenant{t: t, key: client.ObjectKeyFromObject(instance)}
}

// createReadyInstance creates an Instance and waits until it is ready.
func createReadyInstance(t *testing.T, namespace, name string, spec v1alpha1.InstanceSpec) tenant {
	t.Helper()
	tenant := createInstance(t, namespace, name, spec)
	tenant.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	return tenant
}

// get returns the current Instance.
func (tn tenant) get() *v1alpha1.Instance {
	tn.t.Helper()
	instance := &v1alpha1.Instance{}
	if err := kubeClient.Get(tn.t.Context(), tn.key, instance); err != nil {
		tn.t.Fatalf("reading Instance %s: %v", tn.key, err)
	}
	return instance
}

// edit updates the spec and retries on conflict.
func (tn tenant) edit(change func(*v1alpha1.InstanceSpec)) {
	tn.t.Helper()
	NewWithT(tn.t).Eventually(func() error {
		instance := tn.get()
		change(&instance.Spec)
		return kubeClient.Update(tn.t.Context(), instance)
	}, "10s", "200ms").Should(Succeed())
}

// waitFor waits until a condition of the latest generation has the given status and, if
// reason is set, the given reason, and returns the condition.
func (tn tenant) waitFor(conditionType string, status metav1.ConditionStatus, reason string) metav1.Condition {
	tn.t.Helper()
	var found metav1.Condition
	NewWithT(tn.t).Eventually(func(g Gomega) {
		instance := tn.get()
		condition := meta.FindStatusCondition(instance.Status.Conditions, conditionType)
		g.Expect(condition).NotTo(BeNil(), "no condition %s: %+v", conditionType, instance.Status.Conditions)
		found = *condition
		g.Expect(found.ObservedGeneration).To(Equal(instance.Generation))
		g.Expect(found.Status).To(Equal(status), found.Message)
		if reason != "" {
			g.Expect(found.Reason).To(Equal(reason), found.Message)
		}
	}, defaultTimeout, "500ms").Should(Succeed())
	return found
}

// delete deletes the Instance and waits until it is gone.
func (tn tenant) delete() {
	tn.t.Helper()
	instance := tn.get()
	if err := kubeClient.Delete(tn.t.Context(), instance); err != nil {
		tn.t.Fatalf("deleting Instance %s: %v", tn.key, err)
	}
	NewWithT(tn.t).Eventually(func() bool {
		err := kubeClient.Get(tn.t.Context(), tn.key, &v1alpha1.Instance{})
		return client.IgnoreNotFound(err) == nil && err != nil
	}, defaultTimeout, "500ms").Should(BeTrue(), "instance %s is still there", tn.key)
}

// pods returns the Instance's running pods.
func (tn tenant) pods() []corev1.Pod {
	tn.t.Helper()
	list := &corev1.PodList{}
	labels := client.MatchingLabels{"app.kubernetes.io/instance": tn.key.Name, "app.kubernetes.io/component": "apiserver"}
	if err := kubeClient.List(tn.t.Context(), list, client.InNamespace(tn.key.Namespace), labels); err != nil {
		tn.t.Fatalf("listing pods of %s: %v", tn.key, err)
	}
	running := list.Items[:0]
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			running = append(running, pod)
		}
	}
	return running
}

// podNames returns the names of the running pods.
func (tn tenant) podNames() []string {
	tn.t.Helper()
	var names []string
	for _, pod := range tn.pods() {
		names = append(names, pod.Name)
	}
	return names
}

// secret returns a value of a Secret in the Instance's namespace.
func (tn tenant) secret(name, key string) string {
	tn.t.Helper()
	secret := &corev1.Secret{}
	if err := kubeClient.Get(tn.t.Context(), client.ObjectKey{Namespace: tn.key.Namespace, Name: name}, secret); err != nil {
		tn.t.Fatalf("reading Secret %s: %v", name, err)
	}
	value, found := secret.Data[key]
	if !found {
		tn.t.Fatalf("Secret %s has no key %s", name, key)
	}
	return string(value)
}
