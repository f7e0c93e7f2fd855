// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/conditions"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

var (
	oldServer  = v1alpha1.ServerBuild{Image: "server:1", Revision: 1}
	newServer  = v1alpha1.ServerBuild{Image: "server:2", Revision: 2}
	lastServer = v1alpha1.ServerBuild{Image: "server:3", Revision: 2}
)

const soak = 10 * time.Minute

// settled returns a tenant that has long been healthy on a build.
func settled(name string, pin v1alpha1.ServerBuild, changes ...func(*tenant)) tenant {
	one := tenant{
		uid: types.UID(name), key: client.ObjectKey{Namespace: "tenants", Name: name},
		pin: pin, proven: pin, served: true, serving: true, ready: true,
		because: "Ready", deadline: resources.DefaultProgressDeadline,
	}
	for _, change := range changes {
		change(&one)
	}
	return one
}

// onItsWay changes a tenant to have been moved to its build a while ago, after being
// healthy on another.
func onItsWay(since time.Duration) func(*tenant) {
	return func(one *tenant) {
		one.proven = v1alpha1.ServerBuild{Image: "server:0", Revision: 1}
		one.ready, one.because = false, "RolloutProgressing"
		one.unreadySince, one.workingSince = noon.Add(-since), noon.Add(-since)
	}
}

// provenFor changes a tenant to have become healthy on its build a while ago.
func provenFor(since time.Duration) func(*tenant) {
	return func(one *tenant) { one.provenAt = noon.Add(-since) }
}

// readyFor changes a tenant to have become ready a while ago.
func readyFor(since time.Duration) func(*tenant) {
	return func(one *tenant) { one.readySince = noon.Add(-since) }
}

// stalledBy changes a tenant to have been stalled for a while.
func stalledBy(reason string, since time.Duration) func(*tenant) {
	return func(one *tenant) {
		one.ready, one.stalled, one.because = false, true, reason
		one.unreadySince, one.workingSince = noon.Add(-since), time.Time{}
	}
}

// failedWith changes a tenant to have failed its rollout a while ago.
func failedWith(cause v1alpha1.FailureReason, since time.Duration) func(*tenant) {
	return func(one *tenant) {
		stalledBy("RolloutFailed", since)(one)
		one.failure = failure{server: one.pin, cause: cause, at: noon.Add(-since), because: "it crashes"}
	}
}

// downFor changes a tenant to have had unready pods for a while.
func downFor(since time.Duration) func(*tenant) {
	return func(one *tenant) {
		one.ready, one.serving, one.because = false, false, "RolloutProgressing"
		one.unreadySince, one.workingSince = noon.Add(-since), noon.Add(-since)
	}
}

func newborn(one *tenant) {
	one.served, one.serving = false, false
}

func suspended(one *tenant)  { one.suspended = true }
func hibernated(one *tenant) { one.hibernated, one.serving = true, false }
func paused(one *tenant)     { one.paused = true }
func deleted(one *tenant)    { one.deleted = true }

func image(name string) func(*tenant) { return func(one *tenant) { one.image = name } }

// told changes a tenant to have a condition with the given reason.
func told(reason Reason) func(*tenant) {
	return func(one *tenant) { one.told = &metav1.Condition{Reason: string(reason)} }
}

func TestTenantOf(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(noon.Add(-time.Hour))
	window := &v1alpha1.MaintenanceWindow{Start: "02:00", End: "05:00"}
	acme := func(failures []error, change func(*v1alpha1.Instance)) tenant {
		instance := &v1alpha1.Instance{}
		instance.Namespace, instance.Name, instance.UID = "tenants", "acme", "acme"
		instance.Status.Server = newServer
		instance.Status.Rollout = v1alpha1.RolloutStatus{LastReady: "x", LastHealthyServer: newServer}
		conditions.Set(&instance.Status.Conditions, 0, noon, v1alpha1.ConditionAvailable, metav1.ConditionTrue, "Serving", "")
		for _, failure := range failures {
			if found := problem.FromError(failure); found != nil && found.Condition != "" {
				conditions.Set(&instance.Status.Conditions, 0, noon, found.Condition, metav1.ConditionFalse, found.Reason, found.Message)
			}
		}
		conditions.SetReady(&instance.Status.Conditions, 0, noon, problem.Worst(failures), "Ready", "")
		change(instance)
		return tenantOf(instance)
	}
	failed := []error{problem.Stalled("", "RolloutFailed", "failed")}
	asks := problem.Waiting(v1alpha1.ConditionModelsReady, "PreflightRunning", "asks")
	for name, test := range map[string]struct {
		got, want tenant
	}{
		"settled": {
			acme(nil, func(*v1alpha1.Instance) {}),
			settled("acme", newServer, readyFor(0)),
		},
		"its spec": {
			acme(nil, func(i *v1alpha1.Instance) {
				i.Spec.Suspend, i.Spec.Hibernate = true, true
				i.DeletionTimestamp, i.Status.Rollout.LastHealthyAt = &at, &at
				i.Spec.Rollout = &v1alpha1.RolloutSpec{Deadline: metav1.Duration{Duration: time.Hour}, Pause: true, Image: "server:9", Window: window}
			}),
			settled("acme", newServer, readyFor(0), suspended, deleted, paused, provenFor(time.Hour), image("server:9"), func(one *tenant) {
				one.hibernated, one.deadline, one.window = true, time.Hour, window
			}),
		},
		"on its way": {
			acme([]error{problem.Waiting("", "RolloutProgressing", "goes on")}, func(i *v1alpha1.Instance) {
				i.Status.Rollout.LastHealthyServer = v1alpha1.ServerBuild{Image: "server:0", Revision: 1}
			}),
			settled("acme", newServer, onItsWay(0)),
		},
		"refused by its image": {
			acme([]error{problem.Stalled(v1alpha1.ConditionModelsReady, "ModelsUnavailable", "none")}, func(*v1alpha1.Instance) {}),
			settled("acme", newServer, stalledBy("ModelsUnavailable", 0), func(one *tenant) { one.refused = true }),
		},
		"the image is unavailable": {
			acme([]error{problem.Stalled(v1alpha1.ConditionModelsReady, "ServerImageUnavailable", "none")}, func(*v1alpha1.Instance) {}),
			settled("acme", newServer, stalledBy("ServerImageUnavailable", 0), func(one *tenant) { one.refused = true }),
		},
		"its image could not be asked": {
			acme([]error{problem.Stalled(v1alpha1.ConditionModelsReady, "PreflightTimedOut", "quota")}, func(*v1alpha1.Instance) {}),
			settled("acme", newServer, stalledBy("PreflightTimedOut", 0)),
		},
		"stalled by its own while its image is asked": {
			acme([]error{problem.Stalled("", "TLSSecretInvalid", "none"), asks}, func(*v1alpha1.Instance) {}),
			settled("acme", newServer, stalledBy("TLSSecretInvalid", 0)),
		},
		"failed": {
			acme(failed, func(i *v1alpha1.Instance) {
				i.Status.Rollout.Failed, i.Status.Rollout.FailureMessage = "y", "it crashes"
				i.Status.Rollout.FailedServer, i.Status.Rollout.FailureReason, i.Status.Rollout.FailedAt = newServer, v1alpha1.FailureReasonInstance, &at
			}),
			settled("acme", newServer, failedWith(v1alpha1.FailureReasonInstance, time.Hour), stalledBy("RolloutFailed", 0)),
		},
		"failed, as an earlier operator remembers it": {
			acme(failed, func(i *v1alpha1.Instance) { i.Status.Rollout.Failed = "y" }),
			settled("acme", newServer, stalledBy("RolloutFailed", 0), func(one *tenant) { one.failure.server = newServer }),
		},
		"failed with an earlier build, as an earlier operator remembers it": {
			acme([]error{asks}, func(i *v1alpha1.Instance) { i.Status.Rollout.Failed = "y" }),
			settled("acme", newServer, func(one *tenant) {
				one.ready, one.because, one.unreadySince, one.workingSince = false, "PreflightRunning", noon, noon
			}),
		},
		"a failure that is over": {
			acme(nil, func(i *v1alpha1.Instance) { i.Status.Rollout.FailedServer = newServer }),
			settled("acme", newServer, readyFor(0)),
		},
	} {
		if diff := cmp.Diff(test.want, test.got, cmp.AllowUnexported(tenant{}, failure{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTells(t *testing.T) {
	t.Parallel()
	decision := Decision{newServer, metav1.ConditionTrue, ReasonCurrent, "has it"}
	said := metav1.Condition{Status: metav1.ConditionTrue, Reason: "Current", Message: "has it"}
	for name, test := range map[string]struct {
		change func(*tenant, *metav1.Condition)
		want   bool
	}{
		"all":             {func(*tenant, *metav1.Condition) {}, true},
		"nothing":         {func(one *tenant, _ *metav1.Condition) { one.told = nil }, false},
		"another server":  {func(one *tenant, _ *metav1.Condition) { one.pin = oldServer }, false},
		"another status":  {func(_ *tenant, said *metav1.Condition) { said.Status = metav1.ConditionFalse }, false},
		"another reason":  {func(_ *tenant, said *metav1.Condition) { said.Reason = "Soaking" }, false},
		"another message": {func(_ *tenant, said *metav1.Condition) { said.Message = "had it" }, false},
	} {
		one, condition := settled("a", newServer), said
		one.told = &condition
		if test.change(&one, &condition); one.tells(decision) != test.want {
			t.Errorf("%s: got %v, want %v", name, !test.want, test.want)
		}
	}
}
