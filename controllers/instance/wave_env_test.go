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

// tenants makes Instances that are ready.
func (p *platform) tenants(names ...string) {
	p.t.Helper()
	for _, name := range names {
		p.create(p.instance(name))
	}
	for _, name := range names {
		p.reaches(name, "Ready=True Ready", "ServerCurrent=True Current")
	}
}

// breakServer makes pods of a server image never become ready.
func (p *platform) breakServer(image string) {
	p.world.change(func(w *world) {
		w.broken = func(template corev1.PodTemplateSpec) bool { return template.Spec.Containers[0].Image == image }
	})
}

// events counts the events of an Instance by type and reason.
func (p *platform) events(name string) map[string]int {
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

// visitAllAgain has the operator visit Instances once again, and waits for it.
func (p *platform) visitAllAgain(names []string) {
	p.t.Helper()
	for _, name := range names {
		p.visitAgain(name)
	}
	p.settle()
}

// wroteNothingSince expects that who waits is not written to.
func (p *platform) wroteNothingSince(before []string) {
	p.t.Helper()
	p.Expect(p.writes.all()[len(before):]).To(gomega.BeEmpty(), "writes while nothing happens")
}

// serverOf gives the image that an Instance has, and that its pods are to have.
func (p *platform) serverOf(name string) (pinned, run string) {
	p.t.Helper()
	pinned = read(p, name, &v1alpha1.Instance{}).Status.Server.Image
	deployment := &appsv1.Deployment{}
	if p.get(name, deployment) {
		run = deployment.Spec.Template.Spec.Containers[0].Image
	}
	return pinned, run
}

func TestOthersFollowWhenTheCanaryHasSoaked(t *testing.T) {
	p := newPlatform(t)
	p.tenants("one", "three", "two")
	p.soak = time.Hour
	p.startOperator(nextServerImage)
	p.reaches("one", "ServerCurrent=True Soaking", "Ready=True Ready")
	p.Expect(p.message("one", "ServerCurrent")).To(gomega.ContainSubstring("the others follow at 2"))
	for _, name := range []string{"two", "three"} {
		p.reaches(name, "ServerCurrent=False WaitingForTurn", "Ready=True Ready")
	}

	p.create(p.instance("four"))
	p.reaches("four", "Ready=True Ready", "ServerCurrent=False WaitingForTurn")
	p.settle()
	for _, name := range []string{"two", "three", "four"} {
		pinned, run := p.serverOf(name)
		p.Expect([]string{pinned, run}).To(gomega.Equal([]string{serverImage, serverImage}), name)
	}
	before := p.writes.all()
	p.startOperator(nextServerImage)
	p.visitAgain("two")
	p.settle()
	p.wroteNothingSince(before)
	state, reasons, _ := p.reconciler.wave.Summary()
	p.Expect(state).To(gomega.Equal(wave.Soaking))
	p.Expect(reasons).To(gomega.Equal(map[wave.Reason]int{wave.ReasonSoaking: 1, wave.ReasonWaitingForTurn: 3}))

	p.soak = 0
	p.startOperator(nextServerImage)
	for _, name := range []string{"one", "two", "three", "four"} {
		p.reaches(name, "Ready=True Ready", "ServerCurrent=True Current")
		pinned, run := p.serverOf(name)
		p.Expect([]string{pinned, run}).To(gomega.Equal([]string{nextServerImage, nextServerImage}), name)
	}
	p.Eventually(func() map[string]int { return p.events("one") }).Should(gomega.And(
		gomega.HaveKeyWithValue("Normal ServerCanary", 1), gomega.HaveKeyWithValue("Normal ServerPassed", 1)))
	p.Expect(p.events("two")).NotTo(gomega.HaveKey("Normal ServerCanary"))
}

func TestNewInstanceGetsNoServerThatFailed(t *testing.T) {
	p := newPlatform(t)
	p.tenants("one", "two")
	p.breakServer(nextServerImage)
	p.startOperator(nextServerImage)
	p.reaches("one", "ServerCurrent=False Failed", "Stalled=True RolloutFailed", "Available=True Serving")
	p.reaches("two", "ServerCurrent=False Halted", "Ready=True Ready")
	p.Expect(p.message("two", "ServerCurrent")).To(gomega.ContainSubstring("Instance " + p.namespace + "/one"))
	p.Eventually(func() map[string]int { return p.events("one") }).Should(gomega.HaveKeyWithValue("Warning ServerHalted", 1))

	p.create(p.instance("three"))
	p.reaches("three", "Ready=True Ready", "ServerCurrent=False Halted")
	p.startOperator(nextServerImage)
	p.create(p.instance("four"))
	p.reaches("four", "Ready=True Ready", "ServerCurrent=False Halted")
	p.expectGauges(map[string]float64{"halted": 1}, map[string]float64{"Failed": 1, "Halted": 3})
	p.Expect(p.events("one")).To(gomega.HaveKeyWithValue("Warning ServerHalted", 1), "an operator that starts again says nothing twice")

	p.breakServer("none")
	p.editInstance("one", func(instance *v1alpha1.Instance) {
		instance.Spec.Rollout = &v1alpha1.RolloutSpec{Image: serverImage}
	})
	p.reaches("one", "Ready=True Ready", "ServerCurrent=False Pinned")
	for _, name := range []string{"two", "three", "four"} {
		p.reaches(name, "Ready=True Ready", "ServerCurrent=True Current")
	}
	p.expectGauges(map[string]float64{"idle": 1}, map[string]float64{"Pinned": 1, "Current": 3})
	p.editInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Rollout = nil })
	p.reaches("one", "Ready=True Ready", "ServerCurrent=True Current")
}

// expectGauges waits until the metrics of the wave are as given, and 0 where they
// are not.
func (p *platform) expectGauges(states, reasons map[string]float64) {
	p.t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(waveCollector{p.reconciler.wave})
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

func TestCanaryThatWasReadyAndThenFailsHalts(t *testing.T) {
	p := newPlatform(t)
	p.tenants("one", "two")
	p.soak = time.Hour
	p.startOperator(nextServerImage)
	p.reaches("one", "ServerCurrent=True Soaking", "Ready=True Ready")
	p.reaches("two", "ServerCurrent=False WaitingForTurn")
	p.breakModel(olderVersion)
	p.editInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.reaches("one", "ServerCurrent=False Failed", "Stalled=True RolloutFailed")
	p.reaches("two", "ServerCurrent=False Halted", "Ready=True Ready")

	p.editInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = newestVersion })
	p.reaches("one", "ServerCurrent=True Soaking", "Ready=True Ready")
	p.reaches("two", "ServerCurrent=False WaitingForTurn", "Ready=True Ready")
}

func TestTroubleOfTheCanarysOwnStopsNobody(t *testing.T) {
	p := newPlatform(t)
	p.tenants("one", "two")
	p.world.change(func(w *world) { w.idle = true })
	p.startOperator(nextServerImage)
	p.reaches("one", "ServerCurrent=False Canary", "Reconciling=True PreflightRunning")
	p.editInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	p.reaches("one", "ServerCurrent=False OwnTrouble", "Stalled=True ForbiddenByAPIServer", "Available=True Serving")
	p.Expect(p.message("one", "ServerCurrent")).To(gomega.ContainSubstring("ForbiddenByAPIServer"))
	p.reaches("two", "ServerCurrent=False Canary")
	p.world.change(func(w *world) { w.idle = false })
	p.reaches("two", "Ready=True Ready", "ServerCurrent=True Current")
	p.reaches("one", "ServerCurrent=False OwnTrouble", "Available=True Serving")
	p.Expect(p.events("one")).NotTo(gomega.HaveKey("Warning ServerHalted"))
	p.editInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("1Gi") })
	p.reaches("one", "Ready=True Ready", "ServerCurrent=True Current")
}

func TestOneThatIsStalledAndServesIsToldWhyItDoesNotMove(t *testing.T) {
	p := newPlatform(t)
	p.tenants("one", "two")
	p.editInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	p.reaches("one", "Stalled=True ForbiddenByAPIServer", "Available=True Serving")
	p.startOperator(nextServerImage)
	p.reaches("two", "Ready=True Ready", "ServerCurrent=True Current")
	p.reaches("one", "ServerCurrent=False OwnTrouble", "Available=True Serving")
	p.Expect(p.message("one", "ServerCurrent")).To(gomega.ContainSubstring("ForbiddenByAPIServer"))
	p.editInstance("one", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("1Gi") })
	p.reaches("one", "Ready=True Ready", "ServerCurrent=True Current")
}

func TestInstanceMovesWhenItsSpecLetsIt(t *testing.T) {
	p := newPlatform(t)
	p.tenants("hibernated", "ordinary", "paused", "suspended", "windowed")
	later := time.Now().UTC().Add(6 * time.Hour)
	clock := func(at time.Time) v1alpha1.TimeOfDay { return v1alpha1.TimeOfDay(at.Format("15:04")) }
	set := func(name string, change func(*v1alpha1.InstanceSpec)) {
		p.editInstance(name, func(instance *v1alpha1.Instance) { change(&instance.Spec) })
	}
	set("hibernated", func(spec *v1alpha1.InstanceSpec) { spec.Hibernate = true })
	set("paused", func(spec *v1alpha1.InstanceSpec) { spec.Rollout = &v1alpha1.RolloutSpec{Pause: true} })
	set("suspended", func(spec *v1alpha1.InstanceSpec) { spec.Suspend = true })
	set("windowed", func(spec *v1alpha1.InstanceSpec) {
		spec.Rollout = &v1alpha1.RolloutSpec{Window: &v1alpha1.Window{Start: clock(later), End: clock(later.Add(time.Hour))}}
	})
	p.reaches("hibernated", "Ready=True Hibernated")
	p.startOperator(nextServerImage)
	p.reaches("ordinary", "Ready=True Ready", "ServerCurrent=True Current")
	p.reaches("hibernated", "Ready=True Hibernated", "ServerCurrent=True Current")
	p.reaches("paused", "Ready=True Ready", "ServerCurrent=False Paused")
	p.reaches("suspended", "Ready=True Suspended", "ServerCurrent=False Suspended")
	p.reaches("windowed", "Ready=True Ready", "ServerCurrent=False OutsideWindow")
	p.Expect(p.message("windowed", "ServerCurrent")).To(gomega.ContainSubstring(fmt.Sprintf("opens at %s", later.Truncate(time.Minute).Format(time.RFC3339))))
	waiting := []string{"paused", "suspended", "windowed"}
	p.visitAllAgain(waiting) // which writes the deadline of rollouts as the client does
	before := p.writes.all()
	p.visitAllAgain(waiting)
	p.wroteNothingSince(before)
	for _, name := range waiting {
		pinned, run := p.serverOf(name)
		p.Expect([]string{pinned, run}).To(gomega.Equal([]string{serverImage, serverImage}), name)
	}

	set("paused", func(spec *v1alpha1.InstanceSpec) { spec.Rollout.Pause = false })
	set("suspended", func(spec *v1alpha1.InstanceSpec) { spec.Suspend = false })
	set("windowed", func(spec *v1alpha1.InstanceSpec) { spec.Rollout.Window.Start = clock(time.Now().UTC().Add(-time.Hour)) })
	for _, name := range waiting {
		p.reaches(name, "Ready=True Ready", "ServerCurrent=True Current")
	}
}
