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
func (p *harness) createReadyInstances(names ...string) {
	p.t.Helper()
	for _, name := range names {
		p.mustCreate(p.newInstance(name))
	}
	for _, name := range names {
		p.waitForConditions(name, "Ready=True Ready", "ServerCurrent=True Current")
	}
}

// breakImage keeps the pods of a server image from becoming ready.
func (p *harness) breakImage(image string) {
	p.cluster.update(func(w *fakeCluster) {
		w.brokenTemplate = func(template corev1.PodTemplateSpec) bool { return template.Spec.Containers[0].Image == image }
	})
}

// eventCounts counts the events of an Instance by type and reason.
func (p *harness) eventCounts(name string) map[string]int {
	p.t.Helper()
	var list corev1.EventList
	if err := p.List(p.t.Context(), &list, client.InNamespace(p.namespace)); err != nil {
		p.t.Fatal(err)
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
func (p *harness) triggerReconciles(names []string) {
	p.t.Helper()
	for _, name := range names {
		p.triggerReconcile(name)
	}
	p.waitUntilIdle()
}

// expectNoWritesSince checks that waiting Instances are not written to.
func (p *harness) expectNoWritesSince(before []string) {
	p.t.Helper()
	p.Expect(p.writes.all()[len(before):]).To(gomega.BeEmpty(), "writes while nothing happens")
}

// serverImages returns the image that an Instance is pinned to and the image of its
// pods.
func (p *harness) serverImages(name string) (pinned, run string) {
	p.t.Helper()
	pinned = mustGet(p, name, &v1alpha1.Instance{}).Status.Server.Image
	deployment := &appsv1.Deployment{}
	if p.get(name, deployment) {
		run = deployment.Spec.Template.Spec.Containers[0].Image
	}
	return pinned, run
}

func TestServerRolloutContinuesAfterCanarySoak(t *testing.T) {
	p := newHarness(t)
	p.createReadyInstances("one", "three", "two")
	p.canarySoak = time.Hour
	p.startOperator(nextServerImage)
	p.waitForConditions("one", "ServerCurrent=True Soaking", "Ready=True Ready")
	p.Expect(p.conditionMessage("one", "ServerCurrent")).To(gomega.ContainSubstring("the rollout continues at 2"))
	for _, name := range []string{"two", "three"} {
		p.waitForConditions(name, "ServerCurrent=False Queued", "Ready=True Ready")
	}

	p.mustCreate(p.newInstance("four"))
	p.waitForConditions("four", "Ready=True Ready", "ServerCurrent=False Queued")
	p.waitUntilIdle()
	for _, name := range []string{"two", "three", "four"} {
		pinned, run := p.serverImages(name)
		p.Expect([]string{pinned, run}).To(gomega.Equal([]string{serverImage, serverImage}), name)
	}
	before := p.writes.all()
	p.startOperator(nextServerImage)
	p.triggerReconcile("two")
	p.waitUntilIdle()
	p.expectNoWritesSince(before)
	state, reasons, _ := p.reconciler.serverRollout.Summary()
	p.Expect(state).To(gomega.Equal(wave.Soaking))
	p.Expect(reasons).To(gomega.Equal(map[wave.Reason]int{wave.ReasonSoaking: 1, wave.ReasonQueued: 3}))

	p.canarySoak = 0
	p.startOperator(nextServerImage)
	for _, name := range []string{"one", "two", "three", "four"} {
		p.waitForConditions(name, "Ready=True Ready", "ServerCurrent=True Current")
		pinned, run := p.serverImages(name)
		p.Expect([]string{pinned, run}).To(gomega.Equal([]string{nextServerImage, nextServerImage}), name)
	}
	p.Eventually(func() map[string]int { return p.eventCounts("one") }).Should(gomega.And(
		gomega.HaveKeyWithValue("Normal ServerCanary", 1), gomega.HaveKeyWithValue("Normal ServerPassed", 1)))
	p.Expect(p.eventCounts("two")).NotTo(gomega.HaveKey("Normal ServerCanary"))
}

func TestNewInstanceSkipsFailedServerImage(t *testing.T) {
	p := newHarness(t)
	p.createReadyInstances("one", "two")
	p.breakImage(nextServerImage)
	p.startOperator(nextServerImage)
	p.waitForConditions("one", "ServerCurrent=False Failed", "Stalled=True RolloutFailed", "Available=True Serving")
	p.waitForConditions("two", "ServerCurrent=False Halted", "Ready=True Ready")
	p.Expect(p.conditionMessage("two", "ServerCurrent")).To(gomega.ContainSubstring("Instance " + p.namespace + "/one"))
	p.Eventually(func() map[string]int { return p.eventCounts("one") }).Should(gomega.HaveKeyWithValue("Warning ServerHalted", 1))

	p.mustCreate(p.newInstance("three"))
	p.waitForConditions("three", "Ready=True Ready", "ServerCurrent=False Halted")
	p.startOperator(nextServerImage)
	p.mustCreate(p.newInstance("four"))
	p.waitForConditions("four", "Ready=True Ready", "ServerCurrent=False Halted")
	p.expectGauges(map[string]float64{"halted": 1}, map[string]float64{"Failed": 1, "Halted": 3})
	p.Expect(p.eventCounts("one")).To(gomega.HaveKeyWithValue("Warning ServerHalted", 1), "a restarted operator repeats no event")

	p.breakImage("none")
	p.updateInstance("one", func(instance *v1alpha1.Instance) {
		instance.Spec.Rollout = &v1alpha1.RolloutSpec{Image: serverImage}
	})
	p.waitForConditions("one", "Ready=True Ready", "ServerCurrent=False Pinned")
	for _, name := range []string{"two", "three", "four"} {
		p.waitForConditions(name, "Ready=True Ready", "ServerCurrent=True Current")
	}
	p.expectGauges(map[string]float64{"idle": 1}, map[string]float64{"Pinned": 1, "Current": 3})
	p.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Rollout = nil })
	p.waitForConditions("one", "Ready=True Ready", "ServerCurrent=True Current")
}

// expectGauges waits until the metrics of the server rollout have the given values, and
// are zero otherwise.
func (p *harness) expectGauges(states, reasons map[string]float64) {
	p.t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(serverRolloutCollector{p.reconciler.serverRollout})
	p.Eventually(func() string {
		families, err := registry.Gather()
		if err != nil {
			p.t.Fatal(err)
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
	p := newHarness(t)
	p.createReadyInstances("one", "two")
	p.canarySoak = time.Hour
	p.startOperator(nextServerImage)
	p.waitForConditions("one", "ServerCurrent=True Soaking", "Ready=True Ready")
	p.waitForConditions("two", "ServerCurrent=False Queued")
	p.breakModel(olderVersion)
	p.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.waitForConditions("one", "ServerCurrent=False Failed", "Stalled=True RolloutFailed")
	p.waitForConditions("two", "ServerCurrent=False Halted", "Ready=True Ready")

	p.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = newestVersion })
	p.waitForConditions("one", "ServerCurrent=True Soaking", "Ready=True Ready")
	p.waitForConditions("two", "ServerCurrent=False Queued", "Ready=True Ready")
}

func TestTenantFailureOfCanaryDoesNotHaltServerRollout(t *testing.T) {
	p := newHarness(t)
	p.createReadyInstances("one", "two")
	p.cluster.update(func(w *fakeCluster) { w.jobsPaused = true })
	p.startOperator(nextServerImage)
	p.waitForConditions("one", "ServerCurrent=False Canary", "Reconciling=True PreflightRunning")
	p.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	p.waitForConditions("one", "ServerCurrent=False InstanceUnhealthy", "Stalled=True ForbiddenByAPIServer", "Available=True Serving")
	p.Expect(p.conditionMessage("one", "ServerCurrent")).To(gomega.ContainSubstring("ForbiddenByAPIServer"))
	p.waitForConditions("two", "ServerCurrent=False Canary")
	p.cluster.update(func(w *fakeCluster) { w.jobsPaused = false })
	p.waitForConditions("two", "Ready=True Ready", "ServerCurrent=True Current")
	p.waitForConditions("one", "ServerCurrent=False InstanceUnhealthy", "Available=True Serving")
	p.Expect(p.eventCounts("one")).NotTo(gomega.HaveKey("Warning ServerHalted"))
	p.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("1Gi") })
	p.waitForConditions("one", "Ready=True Ready", "ServerCurrent=True Current")
}

func TestStalledInstanceReportsWhyItIsNotUpgraded(t *testing.T) {
	p := newHarness(t)
	p.createReadyInstances("one", "two")
	p.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	p.waitForConditions("one", "Stalled=True ForbiddenByAPIServer", "Available=True Serving")
	p.startOperator(nextServerImage)
	p.waitForConditions("two", "Ready=True Ready", "ServerCurrent=True Current")
	p.waitForConditions("one", "ServerCurrent=False InstanceUnhealthy", "Available=True Serving")
	p.Expect(p.conditionMessage("one", "ServerCurrent")).To(gomega.ContainSubstring("ForbiddenByAPIServer"))
	p.updateInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("1Gi") })
	p.waitForConditions("one", "Ready=True Ready", "ServerCurrent=True Current")
}

func TestInstanceIsUpgradedWhenSpecAllows(t *testing.T) {
	p := newHarness(t)
	p.createReadyInstances("hibernated", "ordinary", "paused", "suspended", "windowed")
	later := time.Now().UTC().Add(6 * time.Hour)
	clock := func(at time.Time) v1alpha1.TimeOfDay { return v1alpha1.TimeOfDay(at.Format("15:04")) }
	set := func(name string, change func(*v1alpha1.InstanceSpec)) {
		p.updateInstance(name, func(instance *v1alpha1.Instance) { change(&instance.Spec) })
	}
	set("hibernated", func(spec *v1alpha1.InstanceSpec) { spec.Hibernate = true })
	set("paused", func(spec *v1alpha1.InstanceSpec) { spec.Rollout = &v1alpha1.RolloutSpec{Pause: true} })
	set("suspended", func(spec *v1alpha1.InstanceSpec) { spec.Suspend = true })
	set("windowed", func(spec *v1alpha1.InstanceSpec) {
		spec.Rollout = &v1alpha1.RolloutSpec{Window: &v1alpha1.MaintenanceWindow{Start: clock(later), End: clock(later.Add(time.Hour))}}
	})
	p.waitForConditions("hibernated", "Ready=True Hibernated")
	p.startOperator(nextServerImage)
	p.waitForConditions("ordinary", "Ready=True Ready", "ServerCurrent=True Current")
	p.Eventually(func() string {
		pinned, _ := p.serverImages("hibernated")
		return pinned
	}).Should(gomega.Equal(nextServerImage)) // until then its condition is of the former image
	p.waitForConditions("hibernated", "Ready=True Hibernated", "ServerCurrent=True Current")
	p.waitForConditions("paused", "Ready=True Ready", "ServerCurrent=False Paused")
	p.waitForConditions("suspended", "Ready=True Suspended", "ServerCurrent=False Suspended")
	p.waitForConditions("windowed", "Ready=True Ready", "ServerCurrent=False OutsideWindow")
	p.Expect(p.conditionMessage("windowed", "ServerCurrent")).To(gomega.ContainSubstring(fmt.Sprintf("opens at %s", later.Truncate(time.Minute).Format(time.RFC3339))))
	waiting := []string{"paused", "suspended", "windowed"}
	p.triggerReconciles(waiting) // this also writes the rollout deadline as the client does
	before := p.writes.all()
	p.triggerReconciles(waiting)
	p.expectNoWritesSince(before)
	for _, name := range waiting {
		pinned, run := p.serverImages(name)
		p.Expect([]string{pinned, run}).To(gomega.Equal([]string{serverImage, serverImage}), name)
	}

	set("paused", func(spec *v1alpha1.InstanceSpec) { spec.Rollout.Pause = false })
	set("suspended", func(spec *v1alpha1.InstanceSpec) { spec.Suspend = false })
	set("windowed", func(spec *v1alpha1.InstanceSpec) { spec.Rollout.Window.Start = clock(time.Now().UTC().Add(-time.Hour)) })
	for _, name := range waiting {
		p.waitForConditions(name, "Ready=True Ready", "ServerCurrent=True Current")
	}
}
