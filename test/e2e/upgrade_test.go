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

// watchWave is how long is looked on after an upgrade: longer than the wave
// leaves between two looks of its own.
const watchWave = 15 * time.Second

// TestUpgrade upgrades the operator from an earlier commit as the chart's README
// says, with another server image, while clients ask two Instances that the
// earlier operator made. Their windows for moving to that image are closed: not a
// request fails, not a pod is touched, and both stay ready. Then one window is
// opened, and that Instance alone moves, under load and without a failed request.
func TestUpgrade(t *testing.T) {
	old, oldImages := released(t)
	goBack(t, old, oldImages)
	// Else those of other tests would begin with the earlier server, which is proven.
	defer endInstances(t)
	namespace := newNamespace(t, "upgrade")
	spec := external(t, namespace)
	busy, small := create(t, namespace, "busy", spec), create(t, namespace, "small", embedded())
	tenants := []tenant{busy, small}
	for _, n := range tenants {
		n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
	}

	survived := t.Run("touches no pod", func(t *testing.T) {
		before := podsOf(tenants)
		loads := []*load{startLoad(t, busy, diagnoses), startLoad(t, small, diagnoses)}
		if err := cluster.UpgradeResources(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, n := range tenants {
			n.edit(closeWindow)
		}
		if err := cluster.Install(t.Context(), images); err != nil {
			t.Fatal(err)
		}
		waitForOneOperator(t)
		for _, n := range tenants {
			n.edit(func(s *v1alpha1.InstanceSpec) {
				s.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example"}}
			})
			n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
		}
		time.Sleep(watchWave)
		for _, load := range loads {
			load.stop(t)
		}
		if diff := cmp.Diff(before, podsOf(tenants)); diff != "" {
			t.Errorf("the upgrade touched pods (-before +after):\n%s", diff)
		}
		for _, n := range tenants {
			n.waitFor(v1alpha1.ConditionReady, metav1.ConditionTrue, "")
			if got := n.get().Status.Server.Image; got != oldImages.Server {
				t.Errorf("%s is on the image %s although its window is closed, want %s", n.key, got, oldImages.Server)
			}
		}
	})
	if !survived {
		return
	}
	t.Run("moves whose window is open", func(t *testing.T) {
		before, kept := busy.podNames(), podsOf([]tenant{small})
		load := startLoad(t, busy, searches)
		busy.edit(func(s *v1alpha1.InstanceSpec) { s.Rollout = nil })
		NewWithT(t).Eventually(func() string { return busy.get().Status.Server.Image }, patience, "500ms").Should(Equal(images.Server))
		waitForNewPods(t, busy, before)
		load.stop(t)
		if diff := cmp.Diff(kept, podsOf([]tenant{small})); diff != "" {
			t.Errorf("an Instance whose window is closed was touched (-before +after):\n%s", diff)
		}
	})
}

// goBack removes the operator and the resource definitions, and installs earlier
// ones. What the other tests need comes back at the end.
func goBack(t *testing.T, old platform.Platform, images platform.Images) {
	t.Helper()
	t.Cleanup(func() { comeBack(t) })
	endInstances(t)
	if err := cluster.Uninstall(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{
		{"delete", "--wait", "customresourcedefinition", "instances.anamnesis.dev", "webhookconfigs.anamnesis.dev"},
		{"delete", "--ignore-not-found", "--wait", "--namespace", platform.Namespace, "secret", "anamnesis-authority"},
	} {
		if _, err := cluster.Kubectl(t.Context(), arguments...); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Install(t.Context(), images); err != nil {
		t.Fatal(err)
	}
}

// comeBack leaves the operator and the resource definitions of the tree,
// whatever became of the test.
func comeBack(t *testing.T) {
	ctx := context.Background()
	if err := cluster.UpgradeResources(ctx); err != nil {
		t.Errorf("put the resource definitions back: %v", err)
	}
	if err := cluster.Install(ctx, images); err != nil {
		t.Errorf("put the operator back: %v", err)
	}
}

// endInstances deletes all Instances that earlier tests left, while there is
// still an operator to let them go.
func endInstances(t *testing.T) {
	t.Helper()
	NewWithT(t).Eventually(func(g Gomega) {
		list := &v1alpha1.InstanceList{}
		g.Expect(kube.List(t.Context(), list)).To(Succeed())
		for _, instance := range list.Items {
			g.Expect(client.IgnoreNotFound(kube.Delete(t.Context(), &instance))).To(Succeed())
		}
		g.Expect(list.Items).To(BeEmpty())
	}, patience, "500ms").Should(Succeed())
}

// closeWindow lets nothing but changes of the spec replace pods for half a day.
func closeWindow(spec *v1alpha1.InstanceSpec) {
	opens := time.Now().UTC().Add(12 * time.Hour)
	spec.Rollout = &v1alpha1.RolloutSpec{Window: &v1alpha1.Window{
		Start: v1alpha1.TimeOfDay(opens.Format("15:04")), End: v1alpha1.TimeOfDay(opens.Add(time.Hour).Format("15:04")), TimeZone: "UTC",
	}}
}

// waitForOneOperator waits until the operator before has ended, so that what is
// done from then on is done by the new one.
func waitForOneOperator(t *testing.T) {
	t.Helper()
	NewWithT(t).Eventually(func() (int, error) {
		list := &corev1.PodList{}
		err := kube.List(t.Context(), list, client.InNamespace(platform.Namespace), client.MatchingLabels{"app.kubernetes.io/name": "anamnesis-operator"})
		return len(list.Items), err
	}, patience, "500ms").Should(Equal(1))
}

// podsOf says of each pod of some Instances which it is and how often it was
// restarted.
func podsOf(tenants []tenant) map[string]string {
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
