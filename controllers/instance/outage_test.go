// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"net/http"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// TestAPIServerOutageOnlyDelaysReconciles checks that an API server outage in the middle
// of a reconcile only delays the desired state.

func TestAPIServerOutageOnlyDelaysReconciles(t *testing.T) {
	outage := max(soakDuration(t), 10*time.Second)
	h := newHarness(t)
	h.SetDefaultEventuallyTimeout(eventuallyTimeout + 2*outage)
	h.mustCreate(h.newInstance("acme"))
	h.mustCreate(h.newExternalInstance("other"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.waitForConditions("other", "Ready=True Ready")
	h.waitUntilIdle()
	before := h.goroutineCount()
	if before == 0 {
		t.Fatal("found no goroutine of the operator")
	}
	readiness := map[metav1.ConditionStatus]bool{}
	stop := h.watchObjects(&v1alpha1.InstanceList{}, func(object runtime.Object) {
		ready := meta.FindStatusCondition(object.(*v1alpha1.Instance).Status.Conditions, v1alpha1.ConditionReady)
		readiness[ready.Status] = true
	})

	h.disconnectAtNextWrite()
	h.updateInstance("acme", allowPortalOrigin)
	h.Eventually(h.connection.isDisconnected).Should(gomega.BeTrue())
	h.updateInstance("other", func(instance *v1alpha1.Instance) { instance.Spec.Replicas = 3 })
	if err := h.Delete(t.Context(), mustGet(h, "other", &networkingv1.NetworkPolicy{})); err != nil {
		t.Fatal(err)
	}
	time.Sleep(outage)
	h.connection.reconnect()
	reconnectedAt := time.Now()

	h.waitForConditions("acme", "Ready=True Ready")
	h.waitForConditions("other", "Ready=True Ready")
	t.Logf("ready %s after an outage of %s", time.Since(reconnectedAt).Round(100*time.Millisecond), outage)
	h.Expect(mustGet(h, "acme-config", &corev1.ConfigMap{}).Data["config.yaml"]).To(gomega.ContainSubstring("https://portal.example"))
	h.Expect(*mustGet(h, "other", &appsv1.Deployment{}).Spec.Replicas).To(gomega.Equal(int32(3)))
	h.Eventually(func() bool { return h.get("other", &networkingv1.NetworkPolicy{}) }).Should(gomega.BeTrue())
	h.waitUntilIdle()
	stop()
	h.Expect(readiness).NotTo(gomega.HaveKey(metav1.ConditionUnknown), "an outage must not change the conditions of an Instance")
	h.Eventually(h.goroutineCount).Should(gomega.BeNumerically("<=", before+before/10), "goroutines, %d before", before)
}

// disconnectAtNextWrite disconnects the operator at its next write.
func (h *harness) disconnectAtNextWrite() {
	connection := h.connection
	h.writes.rejectWrites(func(*http.Request) error {
		connection.disconnect()
		h.writes.rejectFunc = nil // called with the lock held
		return errDisconnected
	})
}

func allowPortalOrigin(instance *v1alpha1.Instance) {
	instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
}
