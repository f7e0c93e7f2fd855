// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/preflight"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// A tenant is the rollout's view of an Instance.
type tenant struct {
	uid types.UID
	key client.ObjectKey
	// pin is the current build. proven is the build with which the spec was last fulfilled,
	// at provenAt, which is zero if that was long ago.
	pin, proven v1alpha1.ServerBuild
	provenAt    time.Time
	// served is set if the Instance's pods were ever ready, serving if one is ready now.
	served, serving bool
	// ready and stalled are the Instance's conditions, because is the reason of Ready. The
	// Instance has been ready or unready since one of two times; the other is zero.
	// workingSince is zero unless the operator is working on the Instance.
	ready, stalled                         bool
	because                                string
	readySince, unreadySince, workingSince time.Time
	// refused is set if the Instance is stalled because of its image's response, or lack of
	// one, to the query for its models.
	refused bool
	failure failure
	// image is the image that the spec names, deadline the maximum duration of a rollout.
	image                                  string
	window                                 *v1alpha1.MaintenanceWindow
	deadline                               time.Duration
	paused, suspended, hibernated, deleted bool
	// told is the current condition ServerCurrent. Nil if not set yet.
	told *metav1.Condition
}

// A failure is a failed rollout. The zero value means that none failed.
type failure struct {
	server v1alpha1.ServerBuild
	cause  v1alpha1.FailureReason
	// at is zero if the time is unknown.
	at time.Time
	// because is what kept the pods from becoming ready, if known.
	because string
}

func tenantOf(instance *v1alpha1.Instance) tenant {
	status := &instance.Status
	one := tenant{
		uid:        instance.UID,
		key:        client.ObjectKeyFromObject(instance),
		pin:        status.Server,
		proven:     status.Rollout.LastHealthyServer,
		served:     status.Rollout.LastReady != "",
		deadline:   resources.RolloutDeadline(instance),
		suspended:  instance.Spec.Suspend,
		hibernated: instance.Spec.Hibernate,
		deleted:    !instance.DeletionTimestamp.IsZero(),
	}
	if at := status.Rollout.LastHealthyAt; at != nil {
		one.provenAt = at.Time
	}
	if spec := instance.Spec.Rollout; spec != nil {
		one.image, one.paused, one.window = spec.Image, spec.Pause, spec.Window
	}
	one.readConditions(status.Conditions)
	one.readFailure(&status.Rollout)
	return one
}

func (t *tenant) readConditions(conditions []metav1.Condition) {
	unanswered := ""
	for i := range conditions {
		condition := &conditions[i]
		holds := condition.Status == metav1.ConditionTrue
		switch condition.Type {
		case v1alpha1.ConditionReady:
			t.ready, t.because = holds, condition.Reason
			if since := condition.LastTransitionTime.Time; holds {
				t.readySince = since
			} else {
				t.unreadySince = since
			}
		case v1alpha1.ConditionReconciling:
			t.workingSince = condition.LastTransitionTime.Time
		case v1alpha1.ConditionStalled:
			t.stalled = holds
		case v1alpha1.ConditionAvailable:
			t.serving = holds
		case v1alpha1.ConditionModelsReady:
			if !holds {
				unanswered = condition.Reason
			}
		case v1alpha1.ConditionServerUpToDate:
			t.told = condition
		}
	}
	t.refused = t.stalled && unanswered == t.because && preflight.IsServerFailure(unanswered)
}

// isNew reports whether no build has been chosen for the Instance yet.
func (t *tenant) isNew() bool { return t.pin == v1alpha1.ServerBuild{} }

// isProven reports whether the Instance matched its spec on its current build.
func (t *tenant) isProven() bool { return t.proven == t.pin && !t.isNew() }

// tells reports whether the Instance runs the decided build and its condition matches
// the decision.
func (t *tenant) tells(decision Decision) bool {
	return t.told != nil && t.pin == decision.Server &&
		t.told.Status == decision.Status && t.told.Reason == string(decision.Reason) && t.told.Message == decision.Message
}

// says reports whether the condition ServerCurrent has the given reason.
func (t *tenant) says(reason Reason) bool { return t.told != nil && t.told.Reason == string(reason) }

// saysCanary reports whether the condition marks the Instance as the canary.
func (t *tenant) saysCanary() bool { return t.says(ReasonCanary) || t.says(ReasonSoaking) }
