// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

// TestNoRequestIsLost keeps eight clients asking an Instance of two replicas
// over PostgreSQL while its pods are deleted one after the other, and while an
// edit rolls out: not one request may fail.
func TestNoRequestIsLost(t *testing.T) {
	namespace := newNamespace(t, "postgres")
	n := apply(t, namespace, "busy", external(t, namespace))
	NewWithT(t).Eventually(n.podNames, patience, "500ms").Should(HaveLen(2))

	t.Run("while pods are deleted", func(t *testing.T) {
		load := startLoad(t, n, diagnoses)
		time.Sleep(2 * time.Second) // let every client ask on a connection of its own first
		for _, pod := range n.pods() {
			if err := kube.Delete(t.Context(), &pod); err != nil {
				t.Fatal(err)
			}
			NewWithT(t).Eventually(n.podNames, patience, "500ms").Should(And(HaveLen(2), Not(ContainElement(pod.Name))))
			NewWithT(t).Eventually(func() int32 { return n.get().Status.ReadyReplicas }, patience, "500ms").Should(BeEquivalentTo(2))
			waitUntilGone(t, pod)
		}
		load.stop(t)
	})
	t.Run("while an edit rolls out", func(t *testing.T) {
		before := n.podNames()
		load := startLoad(t, n, diagnoses)
		n.edit(moreMemory)
		waitForNewPods(t, n, before)
		load.stop(t)
	})
}

// waitUntilGone waits until a deleted pod has drained and left.
func waitUntilGone(t *testing.T, pod corev1.Pod) {
	t.Helper()
	NewWithT(t).Eventually(func() bool {
		list := &corev1.PodList{}
		if err := kube.List(t.Context(), list); err != nil {
			return false
		}
		for _, other := range list.Items {
			if other.UID == pod.UID {
				return false
			}
		}
		return true
	}, patience, "500ms").Should(BeTrue(), "pod %s is still there", pod.Name)
}
