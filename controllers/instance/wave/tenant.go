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

// A tenant is what the wave knows of an Instance.
type tenant struct {
	uid types.UID
	key client.ObjectKey
	// pin is the build that it has, proven the one that its spec was last
	// fulfilled with, since provenAt; that is zero when it is long ago.
	pin, proven v1alpha1.ServerPin
	provenAt    time.Time
	// served says whether its pods were ever ready, serving whether one is.
	served, serving bool
	// ready and stalled as its conditions say, because the reason of Ready. It has
	// been ready or not since one of two times, of which the other is zero, as
	// workingSince is unless the operator is working on it.
	ready, stalled                         bool
	because                                string
	readySince, unreadySince, workingSince time.Time
	// refused says that it is stalled because of what its image answered, or did
	// not, when it was asked for the models.
	refused bool
	failure failure
	// image is the one that its spec names, deadline how long a rollout may take.
	image                                  string
	window                                 *v1alpha1.Window
	deadline                               time.Duration
	paused, suspended, hibernated, deleted bool
	// told is what it says of its server; nil for nothing yet.
	told *metav1.Condition
}

// A failure is a rollout that was given up; with the zero value, none was.
type failure struct {
	server v1alpha1.ServerPin
	cause  v1alpha1.FailureCause
	// at is zero when it is not known.
	at time.Time
	// because is what kept the pods from becoming ready, where that is known.
	because string
}

func tenantOf(instance *v1alpha1.Instance) tenant {
	status := &instance.Status
	one := tenant{
		uid:        instance.UID,
		key:        client.ObjectKeyFromObject(instance),
		pin:        status.Server,
		proven:     status.Rollout.ProvenServer,
		served:     status.Rollout.LastReady != "",
		deadline:   resources.Deadline(instance),
		suspended:  instance.Spec.Suspend,
		hibernated: instance.Spec.Hibernate,
		deleted:    !instance.DeletionTimestamp.IsZero(),
	}
	if at := status.Rollout.ProvenAt; at != nil {
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
		case v1alpha1.ConditionServerCurrent:
			t.told = condition
		}
	}
	t.refused = t.stalled && unanswered == t.because && preflight.IsOfServer(unanswered)
}

// isNew says whether no server was chosen for it yet.
func (t *tenant) isNew() bool { return t.pin == v1alpha1.ServerPin{} }

// isProven says whether it was as wished with the build that it has.
func (t *tenant) isProven() bool { return t.proven == t.pin && !t.isNew() }

// tells says whether it has the server, and says what was decided for it.
func (t *tenant) tells(decision Decision) bool {
	return t.told != nil && t.pin == decision.Server &&
		t.told.Status == decision.Status && t.told.Reason == string(decision.Reason) && t.told.Message == decision.Message
}

// says is whether it gives a reason for how it stands to the target.
func (t *tenant) says(reason Reason) bool { return t.told != nil && t.told.Reason == string(reason) }

// saysCanary is whether it says that it is the canary.
func (t *tenant) saysCanary() bool { return t.says(ReasonCanary) || t.says(ReasonSoaking) }
