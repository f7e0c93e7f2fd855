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
	currentBuild = v1alpha1.ServerBuild{Image: "server:1", Revision: 1}
	targetBuild  = v1alpha1.ServerBuild{Image: "server:2", Revision: 2}
	otherBuild   = v1alpha1.ServerBuild{Image: "server:3", Revision: 2}
)

const soakDuration = 10 * time.Minute

// newHealthyState returns the state of an Instance that has long been healthy on a build.
func newHealthyState(name string, pin v1alpha1.ServerBuild, changes ...func(*instanceState)) instanceState {
	instance := instanceState{
		uid: types.UID(name), key: client.ObjectKey{Namespace: "tenants", Name: name},
		build: pin, lastHealthy: pin, everServed: true, serving: true, ready: true,
		readyReason: "Ready", deadline: resources.DefaultProgressDeadline,
	}
	for _, change := range changes {
		change(&instance)
	}
	return instance
}

// movingFor makes an Instance move to its build for a while after being healthy on
// another build.
func movingFor(duration time.Duration) func(*instanceState) {
	return func(instance *instanceState) {
		instance.lastHealthy = v1alpha1.ServerBuild{Image: "server:0", Revision: 1}
		instance.ready, instance.readyReason = false, "RolloutProgressing"
		instance.unreadySince, instance.reconcilingSince = noon.Add(-duration), noon.Add(-duration)
	}
}

// healthyFor makes an Instance healthy on its build for a while.
func healthyFor(duration time.Duration) func(*instanceState) {
	return func(instance *instanceState) { instance.lastHealthyAt = noon.Add(-duration) }
}

// readyFor makes an Instance ready for a while.
func readyFor(duration time.Duration) func(*instanceState) {
	return func(instance *instanceState) { instance.readySince = noon.Add(-duration) }
}

// stalledFor makes an Instance stalled for a while.
func stalledFor(reason string, duration time.Duration) func(*instanceState) {
	return func(instance *instanceState) {
		instance.ready, instance.stalled, instance.readyReason = false, true, reason
		instance.unreadySince, instance.reconcilingSince = noon.Add(-duration), time.Time{}
	}
}

// failedWith makes the rollout of an Instance fail a while ago.
func failedWith(cause v1alpha1.FailureReason, duration time.Duration) func(*instanceState) {
	return func(instance *instanceState) {
		stalledFor("RolloutFailed", duration)(instance)
		instance.failure = failure{server: instance.build, cause: cause, failedAt: noon.Add(-duration), message: "it crashes"}
	}
}

// unreadyFor makes the pods of an Instance unready for a while.
func unreadyFor(duration time.Duration) func(*instanceState) {
	return func(instance *instanceState) {
		instance.ready, instance.serving, instance.readyReason = false, false, "RolloutProgressing"
		instance.unreadySince, instance.reconcilingSince = noon.Add(-duration), noon.Add(-duration)
	}
}

func neverServed(instance *instanceState) {
	instance.everServed, instance.serving = false, false
}

func withSuspend(instance *instanceState)   { instance.suspended = true }
func withHibernate(instance *instanceState) { instance.hibernated, instance.serving = true, false }
func withPause(instance *instanceState)     { instance.paused = true }
func withDeletion(instance *instanceState)  { instance.deleted = true }

func withImage(name string) func(*instanceState) {
	return func(instance *instanceState) { instance.image = name }
}

// withServerReason sets the reason of the ServerCurrent condition.
func withServerReason(reason Reason) func(*instanceState) {
	return func(instance *instanceState) { instance.serverCondition = &metav1.Condition{Reason: string(reason)} }
}

func TestNewInstanceState(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(noon.Add(-time.Hour))
	window := &v1alpha1.MaintenanceWindow{Start: "02:00", End: "05:00"}
	stateAfter := func(failures []error, modify func(*v1alpha1.Instance)) instanceState {
		instance := &v1alpha1.Instance{}
		instance.Namespace, instance.Name, instance.UID = "tenants", "acme", "acme"
		instance.Status.Server = targetBuild
		instance.Status.Rollout = v1alpha1.RolloutStatus{LastReadyTemplateHash: "x", LastHealthyServer: targetBuild}
		conditions.Set(&instance.Status.Conditions, 0, noon, v1alpha1.ConditionAvailable, metav1.ConditionTrue, "Serving", "")
		for _, failure := range failures {
			if found := problem.FromError(failure); found != nil && found.Condition != "" {
				conditions.Set(&instance.Status.Conditions, 0, noon, found.Condition, metav1.ConditionFalse, found.Reason, found.Message)
			}
		}
		conditions.SetReady(&instance.Status.Conditions, 0, noon, problem.Worst(failures), "Ready", "")
		modify(instance)
		return newInstanceState(instance)
	}
	failed := []error{problem.Stalled("", "RolloutFailed", "failed")}
	waiting := problem.Waiting(v1alpha1.ConditionModelsReady, "PreflightRunning", "asks")
	for name, test := range map[string]struct {
		got, want instanceState
	}{
		"settled": {
			stateAfter(nil, func(*v1alpha1.Instance) {}),
			newHealthyState("acme", targetBuild, readyFor(0)),
		},
		"its spec": {
			stateAfter(nil, func(i *v1alpha1.Instance) {
				i.Spec.Suspend, i.Spec.Hibernate = true, true
				i.DeletionTimestamp, i.Status.Rollout.LastHealthyAt = &at, &at
				i.Spec.Rollout = &v1alpha1.RolloutSpec{Deadline: metav1.Duration{Duration: time.Hour}, Pause: true, Image: "server:9", Window: window}
			}),
			newHealthyState("acme", targetBuild, readyFor(0), withSuspend, withDeletion, withPause, healthyFor(time.Hour), withImage("server:9"), func(instance *instanceState) {
				instance.hibernated, instance.deadline, instance.window = true, time.Hour, window
			}),
		},
		"on its way": {
			stateAfter([]error{problem.Waiting("", "RolloutProgressing", "goes on")}, func(i *v1alpha1.Instance) {
				i.Status.Rollout.LastHealthyServer = v1alpha1.ServerBuild{Image: "server:0", Revision: 1}
			}),
			newHealthyState("acme", targetBuild, movingFor(0)),
		},
		"refused by its image": {
			stateAfter([]error{problem.Stalled(v1alpha1.ConditionModelsReady, "ModelsUnavailable", "none")}, func(*v1alpha1.Instance) {}),
			newHealthyState("acme", targetBuild, stalledFor("ModelsUnavailable", 0), func(instance *instanceState) { instance.failedPreflight = true }),
		},
		"the image is unavailable": {
			stateAfter([]error{problem.Stalled(v1alpha1.ConditionModelsReady, "ServerImageUnavailable", "none")}, func(*v1alpha1.Instance) {}),
			newHealthyState("acme", targetBuild, stalledFor("ServerImageUnavailable", 0), func(instance *instanceState) { instance.failedPreflight = true }),
		},
		"its image could not be asked": {
			stateAfter([]error{problem.Stalled(v1alpha1.ConditionModelsReady, "PreflightTimedOut", "quota")}, func(*v1alpha1.Instance) {}),
			newHealthyState("acme", targetBuild, stalledFor("PreflightTimedOut", 0)),
		},
		"stalled by its own while its image is asked": {
			stateAfter([]error{problem.Stalled("", "TLSSecretInvalid", "none"), waiting}, func(*v1alpha1.Instance) {}),
			newHealthyState("acme", targetBuild, stalledFor("TLSSecretInvalid", 0)),
		},
		"failed": {
			stateAfter(failed, func(i *v1alpha1.Instance) {
				i.Status.Rollout.FailedTemplateHash, i.Status.Rollout.FailureMessage = "y", "it crashes"
				i.Status.Rollout.FailedServer, i.Status.Rollout.FailureReason, i.Status.Rollout.FailedAt = targetBuild, v1alpha1.FailureReasonInstance, &at
			}),
			newHealthyState("acme", targetBuild, failedWith(v1alpha1.FailureReasonInstance, time.Hour), stalledFor("RolloutFailed", 0)),
		},
		"failed, as an earlier operator remembers it": {
			stateAfter(failed, func(i *v1alpha1.Instance) { i.Status.Rollout.FailedTemplateHash = "y" }),
			newHealthyState("acme", targetBuild, stalledFor("RolloutFailed", 0), func(instance *instanceState) { instance.failure.server = targetBuild }),
		},
		"failed with an earlier build, as an earlier operator remembers it": {
			stateAfter([]error{waiting}, func(i *v1alpha1.Instance) { i.Status.Rollout.FailedTemplateHash = "y" }),
			newHealthyState("acme", targetBuild, func(instance *instanceState) {
				instance.ready, instance.readyReason, instance.unreadySince, instance.reconcilingSince = false, "PreflightRunning", noon, noon
			}),
		},
		"a failure that is over": {
			stateAfter(nil, func(i *v1alpha1.Instance) { i.Status.Rollout.FailedServer = targetBuild }),
			newHealthyState("acme", targetBuild, readyFor(0)),
		},
	} {
		if diff := cmp.Diff(test.want, test.got, cmp.AllowUnexported(instanceState{}, failure{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestHasReported(t *testing.T) {
	t.Parallel()
	decision := Decision{targetBuild, metav1.ConditionTrue, ReasonCurrent, "has it"}
	want := metav1.Condition{Status: metav1.ConditionTrue, Reason: "Current", Message: "has it"}
	for name, test := range map[string]struct {
		change func(*instanceState, *metav1.Condition)
		want   bool
	}{
		"all":             {func(*instanceState, *metav1.Condition) {}, true},
		"nothing":         {func(instance *instanceState, _ *metav1.Condition) { instance.serverCondition = nil }, false},
		"another server":  {func(instance *instanceState, _ *metav1.Condition) { instance.build = currentBuild }, false},
		"another status":  {func(_ *instanceState, want *metav1.Condition) { want.Status = metav1.ConditionFalse }, false},
		"another reason":  {func(_ *instanceState, want *metav1.Condition) { want.Reason = "Soaking" }, false},
		"another message": {func(_ *instanceState, want *metav1.Condition) { want.Message = "had it" }, false},
	} {
		instance, condition := newHealthyState("a", targetBuild), want
		instance.serverCondition = &condition
		if test.change(&instance, &condition); instance.hasReported(decision) != test.want {
			t.Errorf("%s: got %v, want %v", name, !test.want, test.want)
		}
	}
}
