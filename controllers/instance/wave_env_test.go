// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
)

// createReadyInstances creates Instances and waits until they are ready.
func (h *harness) createReadyInstances(names ...string) {
	h.t.Helper()
	for _, name := range names {
		h.mustCreate(h.newInstance(name))
	}
	for _, name := range names {
		h.waitForConditions(name, "Ready=True Ready", "ServerCurrent=True Current")
	}
}

// breakImage keeps the pods of a server image from becoming ready.
func (h *harness) breakImage(image string) {
	h.cluster.update(func(c *fakeCluster) {
		c.brokenTemplate = func(template corev1.PodTemplateSpec) bool { return template.Spec.Containers[0].Image == image }
	})
}

// eventCounts counts the events of an Instance by type and reason.
func (h *harness) eventCounts(name string) map[string]int {
	h.t.Helper()
	var list corev1.EventList
	if err := h.List(h.t.Context(), &list, client.InNamespace(h.namespace)); err != nil {
		h.t.Fatal(err)
	}
	counts := map[string]int{}
	for _, event := range list.Items {
		if event.InvolvedObject.Kind == "Instance" && event.InvolvedObject.Name == name {
			counts[event.Type+" "+event.Reason]++
		}
	}
	return counts
}

// triggerReconciles makes the operator reconcile Instances once more and waits for it.
func (h *harness) triggerReconciles(names []string) {
	h.t.Helper()
	for _, name := range names {
		h.triggerReconcile(name)
	}
	h.waitUntilIdle()
}

// expectNoWritesSince checks that no write was sent since the given writes.
func (h *harness) expectNoWritesSince(before []string) {
	h.t.Helper()
	h.Expect(h.writes.all()[len(before):]).To(gomega.BeEmpty(), "waiting Instances must cause no writes")
}

// serverImages returns the pinned image of an Instance and the image of its pods.
func (h *harness) serverImages(name string) (pinned, running string) {
	h.t.Helper()
	pinned = mustGet(h, name, &v1alpha1.Instance{}).Status.Server.Image
	deployment := &appsv1.Deployment{}
	if h.get(name, deployment) {
		running = deployment.Spec.Template.Spec.Containers[0].Image
	}
	return pinned, running
}

func TestServerRolloutContinuesAfterCanarySoak(t *testing.T) {
	h := newHarness(t)
	h.createReadyInstances("one", "three", "two")
	h.canarySoak = time.Hour
	h.startOperator(nextServerImage)
	h.waitForConditions("one", "ServerCurrent=True Soaking", "Ready=True Ready")
	h.Expect(h.conditionMessage("one", "ServerCurrent")).To(gomega.ContainSubstring("the rollout continues at 2"))
	for _, name := range []string{"two", "three"} {
		h.waitForConditions(name, "ServerCurrent=False Queued", "Ready=True Ready")
	}

	h.mustCreate(h.newInstance("four"))
	h.waitForConditions("four", "Ready=True Ready", "ServerCurrent=False Queued")
	h.waitUntilIdle()
	for _, name := range []string{"two", "three", "four"} {
		pinned, running := h.serverImages(name)
		h.Expect([]string{pinned, running}).To(gomega.Equal([]string{serverImage, serverImage}), name)
	}
	before := h.writes.all()
	h.startOperator(nextServerImage)
	h.triggerReconcile("two")
	h.waitUntilIdle()
	h.expectNoWritesSince(before)
	state, reasons, _ := h.reconciler.serverRollout.Summary()
	h.Expect(state).To(gomega.Equal(wave.Soaking))
	h.Expect(reasons).To(gomega.Equal(map[wave.Reason]int{wave.ReasonSoaking: 1, wave.ReasonQueued: 3}))

	h.canarySoak = 0
	h.startOperator(nextServerImage)
	for _, name := range []string{"one", "two", "three", "four"} {
		h.waitForConditions(name, "Ready=True Ready", "ServerCurrent=True Current")
		pinned, running := h.serverImages(name)
		h.Expect([]string{pinned, running}).To(gomega.Equal([]string{nextServerImage, nextServerImage}), name)
	}
	h.Eventually(func() map[string]int { return h.eventCounts("one") }).Should(gomega.And(
		gomega.HaveKeyWithValue("Normal ServerCanary", 1), gomega.HaveKeyWithValue("Normal ServerPassed", 1)))
	h.Expect(h.eventCounts("two")).NotTo(gomega.HaveKey("Normal ServerCanary"))
}

func TestNewInstanceSkipsFailedServerImage(t *testing.T) {
	h := newHarness(t)
	h.createReadyInstances("one", "two")
	h.breakImage(nextServerImage)
	h.startOperator(nextServerImage)
	h.waitForConditions("one", "ServerCurrent=False Failed", "Stalled=True RolloutFailed", "Available=True Serving")
	h.waitForConditions("two", "ServerCurrent=False Halted", "Ready=True Ready")
	h.Expect(h.conditionMessage("two", "ServerCurrent")).To(gomega.ContainSubstring("Instance " + h.namespace + "/one"))
	h.Eventually(func() map[string]int { return h.eventCounts("one") }).Should(gomega.HaveKeyWithValue("Warning ServerHalted", 1))

	h.mustCreate(h.newInstance("three"))
	h.waitForConditions("three", "Ready=True Ready", "ServerCurrent=False Halted")
	h.startOperator(nextServerImage)
	h.mustCreate(h.newInstance("four"))
	h.waitForConditions("four", "Ready=True Ready", "ServerCurrent=False Halted")
	h.expectGauges(map[string]float64{"halted": 1}, map[string]float64{"Failed": 1, "Halted": 3})
	h.Expect(h.eventCounts("one")).To(gomega.HaveKeyWithValue("Warning ServerHalted", 1), "a restarted operator must not repeat events")

	h.breakImage("none")
	h.updateInstance("one", func(instance *v1alpha1.Instance) {
		instance.Spec.Rollout = &v1alpha1.RolloutSpec{Image: serverImage}
	})
	h.waitForConditions("one", "Ready=True Ready", "ServerCurrent=False Pinned")
	for _, name := range []string{"two", "three", "four"} {
		h.waitForConditions(name, "Ready=True Ready", "ServerCurrent=True Current")
	}
	h.expectGauges(map[string]float64{"idle": 1}, map[string]float64{"Pinned": 1, "Current": 3})
	h.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Rollout = nil })
	h.waitForConditions("one", "Ready=True Ready", "ServerCurrent=True Current")
}

// expectGauges waits until the metrics of the server rollout have the given values, and
// are zero otherwise.
func (h *harness) expectGauges(states, reasons map[string]float64) {
	h.t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(serverRolloutCollector{h.reconciler.serverRollout})
	h.Eventually(func() string {
		families, err := registry.Gather()
		if err != nil {
			h.t.Fatal(err)
		}
		got := map[string]map[string]float64{"anamnesis_operator_wave_state": {}, "anamnesis_operator_wave_instances": {}}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				if value := metric.GetGauge().GetValue(); value != 0 {
					got[family.GetName()][metric.GetLabel()[0].GetValue()] = value
				}
			}
		}
		return cmp.Diff(map[string]map[string]float64{"anamnesis_operator_wave_state": states, "anamnesis_operator_wave_instances": reasons}, got)
	}).Should(gomega.BeEmpty())
}

func TestCanaryFailureAfterReadyHaltsServerRollout(t *testing.T) {
	h := newHarness(t)
	h.createReadyInstances("one", "two")
	h.canarySoak = time.Hour
	h.startOperator(nextServerImage)
	h.waitForConditions("one", "ServerCurrent=True Soaking", "Ready=True Ready")
	h.waitForConditions("two", "ServerCurrent=False Queued")
	h.breakModel(olderVersion)
	h.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	h.waitForConditions("one", "ServerCurrent=False Failed", "Stalled=True RolloutFailed")
	h.waitForConditions("two", "ServerCurrent=False Halted", "Ready=True Ready")

	h.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = newestVersion })
	h.waitForConditions("one", "ServerCurrent=True Soaking", "Ready=True Ready")
	h.waitForConditions("two", "ServerCurrent=False Queued", "Ready=True Ready")
}

func TestTenantFailureOfCanaryDoesNotHaltServerRollout(t *testing.T) {
	h := newHarness(t)
	h.createReadyInstances("one", "two")
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = true })
	h.startOperator(nextServerImage)
	h.waitForConditions("one", "ServerCurrent=False Canary", "Reconciling=True PreflightRunning")
	h.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	h.waitForConditions("one", "ServerCurrent=False InstanceUnhealthy", "Stalled=True ForbiddenByAPIServer", "Available=True Serving")
	h.Expect(h.conditionMessage("one", "ServerCurrent")).To(gomega.ContainSubstring("ForbiddenByAPIServer"))
	h.waitForConditions("two", "ServerCurrent=False Canary")
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = false })
	h.waitForConditions("two", "Ready=True Ready", "ServerCurrent=True Current")
	h.waitForConditions("one", "ServerCurrent=False InstanceUnhealthy", "Available=True Serving")
	h.Expect(h.eventCounts("one")).NotTo(gomega.HaveKey("Warning ServerHalted"))
	h.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("1Gi") })
	h.waitForConditions("one", "Ready=True Ready", "ServerCurrent=True Current")
}

func TestStalledInstanceReportsWhyItIsNotUpgraded(t *testing.T) {
	h := newHarness(t)
	h.createReadyInstances("one", "two")
	h.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	h.waitForConditions("one", "Stalled=True ForbiddenByAPIServer", "Available=True Serving")
	h.startOperator(nextServerImage)
	h.waitForConditions("two", "Ready=True Ready", "ServerCurrent=True Current")
	h.waitForConditions("one", "ServerCurrent=False InstanceUnhealthy", "Available=True Serving")
	h.Expect(h.conditionMessage("one", "ServerCurrent")).To(gomega.ContainSubstring("ForbiddenByAPIServer"))
	h.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("1Gi") })
	h.waitForConditions("one", "Ready=True Ready", "ServerCurrent=True Current")
}

func TestInstanceIsUpgradedWhenSpecAllows(t *testing.T) {
	h := newHarness(t)
	h.createReadyInstances("hibernated", "ordinary", "paused", "suspended", "windowed")
	later := time.Now().UTC().Add(6 * time.Hour)
	clock := func(at time.Time) v1alpha1.TimeOfDay { return v1alpha1.TimeOfDay(at.Format("15:04")) }
	set := func(name string, change func(*v1alpha1.InstanceSpec)) {
		h.updateInstance(name, func(instance *v1alpha1.Instance) { change(&instance.Spec) })
	}
	set("hibernated", func(spec *v1alpha1.InstanceSpec) { spec.Hibernate = true })
	set("paused", func(spec *v1alpha1.InstanceSpec) { spec.Rollout = &v1alpha1.RolloutSpec{Pause: true} })
	set("suspended", func(spec *v1alpha1.InstanceSpec) { spec.Suspend = true })
	set("windowed", func(spec *v1alpha1.InstanceSpec) {
		spec.Rollout = &v1alpha1.RolloutSpec{Window: &v1alpha1.MaintenanceWindow{Start: clock(later), End: clock(later.Add(time.Hour))}}
	})
	h.waitForConditions("hibernated", "Ready=True Hibernated")
	h.startOperator(nextServerImage)
	h.waitForConditions("ordinary", "Ready=True Ready", "ServerCurrent=True Current")
	h.Eventually(func() string {
		pinned, _ := h.serverImages("hibernated")
		return pinned
	}).Should(gomega.Equal(nextServerImage)) // until then, the condition describes the previous image
	h.waitForConditions("hibernated", "Ready=True Hibernated", "ServerCurrent=True Current")
	h.waitForConditions("paused", "Ready=True Ready", "ServerCurrent=False Paused")
	h.waitForConditions("suspended", "Ready=True Suspended", "ServerCurrent=False Suspended")
	h.waitForConditions("windowed", "Ready=True Ready", "ServerCurrent=False OutsideWindow")
	h.Expect(h.conditionMessage("windowed", "ServerCurrent")).To(gomega.ContainSubstring(fmt.Sprintf("opens at %s", later.Truncate(time.Minute).Format(time.RFC3339))))
	waiting := []string{"paused", "suspended", "windowed"}
	h.triggerReconciles(waiting) // the client's first update also sets the rollout deadline, which changes the spec
	before := h.writes.all()
	h.triggerReconciles(waiting)
	h.expectNoWritesSince(before)
	for _, name := range waiting {
		pinned, running := h.serverImages(name)
		h.Expect([]string{pinned, running}).To(gomega.Equal([]string{serverImage, serverImage}), name)
	}

	set("paused", func(spec *v1alpha1.InstanceSpec) { spec.Rollout.Pause = false })
	set("suspended", func(spec *v1alpha1.InstanceSpec) { spec.Suspend = false })
	set("windowed", func(spec *v1alpha1.InstanceSpec) { spec.Rollout.Window.Start = clock(time.Now().UTC().Add(-time.Hour)) })
	for _, name := range waiting {
		h.waitForConditions(name, "Ready=True Ready", "ServerCurrent=True Current")
	}
}
