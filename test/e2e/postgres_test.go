// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

// TestPodReplacementLosesNoRequest verifies that no request of eight clients fails
// while the pods of an Instance with two replicas on PostgreSQL are deleted one after
// another, and while an edit rolls out.
func TestPodReplacementLosesNoRequest(t *testing.T) {
	namespace := newNamespace(t, "postgres")
	n := createReadyInstance(t, namespace, "busy", externalSpec(t, namespace))
	NewWithT(t).Eventually(n.podNames, defaultTimeout, "500ms").Should(HaveLen(2))

	t.Run("while pods are deleted", func(t *testing.T) {
		load := startLoad(t, n, diagnosisLoad)
		time.Sleep(2 * time.Second) // let every client make a request on its own connection first
		for _, pod := range n.pods() {
			if err := kubeClient.Delete(t.Context(), &pod); err != nil {
				t.Fatal(err)
			}
			NewWithT(t).Eventually(n.podNames, defaultTimeout, "500ms").Should(And(HaveLen(2), Not(ContainElement(pod.Name))))
			NewWithT(t).Eventually(func() int32 { return n.get().Status.ReadyReplicas }, defaultTimeout, "500ms").Should(BeEquivalentTo(2))
			waitForPodDeletion(t, pod)
		}
		load.stop(t)
	})
	t.Run("while an edit rolls out", func(t *testing.T) {
		before := n.podNames()
		load := startLoad(t, n, diagnosisLoad)
		n.edit(increaseMemory)
		waitForNewPods(t, n, before)
		load.stop(t)
	})
}

// waitForPodDeletion waits until a deleted pod has drained and terminated.
func waitForPodDeletion(t *testing.T, pod corev1.Pod) {
	t.Helper()
	NewWithT(t).Eventually(func() bool {
		list := &corev1.PodList{}
		if err := kubeClient.List(t.Context(), list); err != nil {
			return false
		}
		for _, other := range list.Items {
			if other.UID == pod.UID {
				return false
			}
		}
		return true
	}, defaultTimeout, "500ms").Should(BeTrue(), "pod %s is still there", pod.Name)
}
