// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/hack/platform"
)

// rolloutWatchPeriod is the time to watch for unwanted changes after an upgrade. It is
// longer than the interval at which the rollout checks for work.
const rolloutWatchPeriod = 15 * time.Second

// TestUpgrade upgrades the operator to another server image while clients send requests
// to two existing Instances. While their update windows are closed, no request may fail,
// no pod may change, and both Instances must stay ready. After one window opens, only
// that Instance is updated, under load and without failed requests.
func TestUpgrade(t *testing.T) {
	oldImages := installPreviousServer(t)
	// Instances of other tests would otherwise start with the earlier server, which this
	// test covers.
	defer deleteInstances(t)
	namespace := newNamespace(t, "upgrade")
	spec := externalSpec(t, namespace)
	busy, small := createInstance(t, namespace, "busy", spec), createInstance(t, namespace, "small", embeddedSpec())
	tenants := []tenant{busy, small}
	for _, n := range tenants {
		n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	}

	survived := t.Run("touches no pod", func(t *testing.T) {
		before := podRestarts(tenants)
		loads := []*load{startLoad(t, busy, diagnosisLoad), startLoad(t, small, diagnosisLoad)}
		for _, n := range tenants {
			n.edit(closeUpdateWindow)
		}
		if err := cluster.Install(t.Context(), images); err != nil {
			t.Fatal(err)
		}
		waitForOldOperatorExit(t)
		for _, n := range tenants {
			n.edit(func(s *v1alpha1.InstanceSpec) {
				s.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
			})
			n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
		}
		time.Sleep(rolloutWatchPeriod)
		for _, load := range loads {
			load.stop(t)
		}
		if diff := cmp.Diff(before, podRestarts(tenants)); diff != "" {
			t.Errorf("upgrade changed pods (-before +after):\n%s", diff)
		}
		for _, n := range tenants {
			n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
			if got := n.get().Status.Server.Image; got != oldImages.Server {
				t.Errorf("%s runs image %s although its window is closed, want %s", n.key, got, oldImages.Server)
			}
		}
	})
	if !survived {
		return
	}
	t.Run("moves whose window is open", func(t *testing.T) {
		before, kept := busy.podNames(), podRestarts([]tenant{small})
		load := startLoad(t, busy, searchLoad)
		busy.edit(func(s *v1alpha1.InstanceSpec) { s.Rollout = nil })
		NewWithT(t).Eventually(func() string { return busy.get().Status.Server.Image }, defaultTimeout, "500ms").Should(Equal(images.Server))
		waitForNewPods(t, busy, before)
		load.stop(t)
		if diff := cmp.Diff(kept, podRestarts([]tenant{small})); diff != "" {
			t.Errorf("Instance with a closed window was changed (-before +after):\n%s", diff)
		}
	})
}

// installPreviousServer makes the operator use another server image, and returns the
// images. It restores the current image for the other tests when the test ends.
func installPreviousServer(t *testing.T) platform.Images {
	t.Helper()
	t.Cleanup(func() {
		if err := cluster.Install(context.Background(), images); err != nil {
			t.Errorf("restoring the operator: %v", err)
		}
	})
	deleteInstances(t)
	server, err := cluster.LoadServerImage(t.Context(), "previous")
	if err != nil {
		t.Fatal(err)
	}
	previous := platform.Images{Server: server, Operator: images.Operator}
	if err := cluster.Install(t.Context(), previous); err != nil {
		t.Fatal(err)
	}
	waitForOldOperatorExit(t)
	return previous
}

// deleteInstances deletes all remaining Instances while an operator is running to remove
// their finalizers.
func deleteInstances(t *testing.T) {
	t.Helper()
	NewWithT(t).Eventually(func(g Gomega) {
		list := &v1alpha1.InstanceList{}
		g.Expect(kubeClient.List(t.Context(), list)).To(Succeed())
		for _, instance := range list.Items {
			g.Expect(client.IgnoreNotFound(kubeClient.Delete(t.Context(), &instance))).To(Succeed())
		}
		g.Expect(list.Items).To(BeEmpty())
	}, defaultTimeout, "500ms").Should(Succeed())
}

// closeUpdateWindow sets a window that opens in 12 hours. Until then, only spec changes
// replace pods.
func closeUpdateWindow(spec *v1alpha1.InstanceSpec) {
	opens := time.Now().UTC().Add(12 * time.Hour)
	spec.Rollout = &v1alpha1.RolloutSpec{Window: &v1alpha1.MaintenanceWindow{
		Start: v1alpha1.TimeOfDay(opens.Format("15:04")), End: v1alpha1.TimeOfDay(opens.Add(time.Hour).Format("15:04")), TimeZone: "UTC",
	}}
}

// waitForOldOperatorExit waits until the previous operator pod is gone, so that only the
// new operator acts on later changes.
func waitForOldOperatorExit(t *testing.T) {
	t.Helper()
	NewWithT(t).Eventually(func() (int, error) {
		list := &corev1.PodList{}
		err := kubeClient.List(t.Context(), list, client.InNamespace(platform.Namespace), client.MatchingLabels{"app.kubernetes.io/name": "anamnesis-operator"})
		return len(list.Items), err
	}, defaultTimeout, "500ms").Should(Equal(1))
}

// podRestarts returns the UID and the restart count of each pod, by pod name.
func podRestarts(tenants []tenant) map[string]string {
	found := map[string]string{}
	for _, n := range tenants {
		for _, pod := range n.pods() {
			restarts := int32(0)
			for _, container := range pod.Status.ContainerStatuses {
				restarts += container.RestartCount
			}
			found[pod.Name] = fmt.Sprintf("%s, %d restarts", pod.UID, restarts)
		}
	}
	return found
}
