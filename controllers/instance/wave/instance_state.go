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

// An instanceState holds the fields of an Instance that the rollout depends on.
type instanceState struct {
	uid types.UID
	key client.ObjectKey
	// build is the current build. lastHealthy is the build on which the Instance last matched
	// its spec, and lastHealthyAt the time since which it has. The time is zero if unknown.
	build, lastHealthy v1alpha1.ServerBuild
	lastHealthyAt      time.Time
	// everServed reports whether a pod was ever ready, and serving whether one is ready now.
	everServed, serving bool
	// ready and stalled are the Instance's conditions, and readyReason the reason of Ready.
	// Either readySince or unreadySince is set. reconcilingSince is zero unless the Instance
	// is reconciling.
	ready, stalled                             bool
	readyReason                                string
	readySince, unreadySince, reconcilingSince time.Time
	// failedPreflight reports whether the Instance is stalled because the preflight check of
	// its image failed.
	failedPreflight bool
	failure         failure
	// image is the image in the spec, and deadline the maximum duration of a rollout.
	image                                  string
	window                                 *v1alpha1.MaintenanceWindow
	deadline                               time.Duration
	paused, suspended, hibernated, deleted bool
	// serverCondition is the ServerCurrent condition. It is nil if not set yet.
	serverCondition *metav1.Condition
}

// A failure describes a failed rollout. The zero value means that no rollout failed.
type failure struct {
	server v1alpha1.ServerBuild
	cause  v1alpha1.FailureReason
	// failedAt is zero if unknown.
	failedAt time.Time
	// message explains why the pods did not become ready, if known.
	message string
}

func newInstanceState(instance *v1alpha1.Instance) instanceState {
	status := &instance.Status
	state := instanceState{
		uid:         instance.UID,
		key:         client.ObjectKeyFromObject(instance),
		build:       status.Server,
		lastHealthy: status.Rollout.LastHealthyServer,
		everServed:  status.Rollout.LastReadyTemplateHash != "",
		deadline:    resources.RolloutDeadline(instance),
		suspended:   instance.Spec.Suspend,
		hibernated:  instance.Spec.Hibernate,
		deleted:     !instance.DeletionTimestamp.IsZero(),
	}
	if at := status.Rollout.LastHealthyAt; at != nil {
		state.lastHealthyAt = at.Time
	}
	if spec := instance.Spec.Rollout; spec != nil {
		state.image, state.paused, state.window = spec.Image, spec.Pause, spec.Window
	}
	state.readConditions(status.Conditions)
	state.readFailure(&status.Rollout)
	return state
}

func (s *instanceState) readConditions(conditions []metav1.Condition) {
	modelsReason := ""
	for i := range conditions {
		condition := &conditions[i]
		isTrue := condition.Status == metav1.ConditionTrue
		switch condition.Type {
		case v1alpha1.ConditionReady:
			s.ready, s.readyReason = isTrue, condition.Reason
			if since := condition.LastTransitionTime.Time; isTrue {
				s.readySince = since
			} else {
				s.unreadySince = since
			}
		case v1alpha1.ConditionReconciling:
			s.reconcilingSince = condition.LastTransitionTime.Time
		case v1alpha1.ConditionStalled:
			s.stalled = isTrue
		case v1alpha1.ConditionAvailable:
			s.serving = isTrue
		case v1alpha1.ConditionModelsReady:
			if !isTrue {
				modelsReason = condition.Reason
			}
		case v1alpha1.ConditionServerCurrent:
			s.serverCondition = condition
		}
	}
	s.failedPreflight = s.stalled && modelsReason == s.readyReason && preflight.IsServerFailure(modelsReason)
}

// isNew reports whether no build has been chosen for the Instance yet.
func (s *instanceState) isNew() bool { return s.build == v1alpha1.ServerBuild{} }

// wasHealthy reports whether the Instance has matched its spec on its current build.
func (s *instanceState) wasHealthy() bool { return s.lastHealthy == s.build && !s.isNew() }

// hasReported reports whether the Instance runs the decided build and its ServerCurrent
// condition matches the decision.
func (s *instanceState) hasReported(decision Decision) bool {
	return s.serverCondition != nil && s.build == decision.Server &&
		s.serverCondition.Status == decision.Status && s.serverCondition.Reason == string(decision.Reason) && s.serverCondition.Message == decision.Message
}

// hasServerReason reports whether the ServerCurrent condition has the given reason.
func (s *instanceState) hasServerReason(reason Reason) bool {
	return s.serverCondition != nil && s.serverCondition.Reason == string(reason)
}

// wasCanary reports whether the ServerCurrent condition marks the Instance as the canary.
func (s *instanceState) wasCanary() bool {
	return s.hasServerReason(ReasonCanary) || s.hasServerReason(ReasonSoaking)
}
