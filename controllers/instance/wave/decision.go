// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A Reason is the reason of an Instance's ServerCurrent condition, which explains why the
// Instance does or does not run the target build.
type Reason string

// Reasons while ServerCurrent is True.
const (
	// ReasonCurrent means that the Instance is healthy on the target.
	ReasonCurrent Reason = "Current"
	// ReasonSoaking means that the Instance is the canary and is healthy on the target, and
	// that the other Instances wait until it has soaked.
	ReasonSoaking Reason = "Soaking"
)

// Reasons while ServerCurrent is False.
const (
	// ReasonCanary means that the Instance is the first to move to the target.
	ReasonCanary Reason = "Canary"
	// ReasonNotReady means that the Instance is not ready, either on the target or on its
	// current build, on which it must be healthy before it may move.
	ReasonNotReady Reason = "NotReady"
	// ReasonQueued means that other Instances move first.
	ReasonQueued Reason = "Queued"
	// ReasonOutsideWindow means that the maintenance window is closed.
	ReasonOutsideWindow Reason = "OutsideWindow"
	// ReasonPinned means that the spec names another image.
	ReasonPinned Reason = "Pinned"
	// ReasonPaused means that the spec pauses rollouts.
	ReasonPaused Reason = "Paused"
	// ReasonSuspended means that the Instance is suspended and must not change.
	ReasonSuspended Reason = "Suspended"
	// ReasonInstanceUnhealthy means that a problem of the Instance itself keeps it from
	// running the target.
	ReasonInstanceUnhealthy Reason = "InstanceUnhealthy"
	// ReasonFailed means that the target failed on this Instance, which halts the rollout.
	ReasonFailed Reason = "Failed"
	// ReasonHalted means that the target failed on another Instance.
	ReasonHalted Reason = "Halted"
)

// Reasons lists all reasons.
var Reasons = []Reason{
	ReasonCurrent, ReasonSoaking, ReasonCanary, ReasonNotReady, ReasonQueued, ReasonOutsideWindow,
	ReasonPinned, ReasonPaused, ReasonSuspended, ReasonInstanceUnhealthy, ReasonFailed, ReasonHalted,
}

// A Decision is the decision for one Instance.
type Decision struct {
	// Server is the build that the Instance must run now.
	Server v1alpha1.ServerBuild
	// Status, Reason and Message are the values of the ServerCurrent condition.
	Status  metav1.ConditionStatus
	Reason  Reason
	Message string
}

// decide returns the decision for one Instance.
func (p *plan) decide(instance *instanceState, now time.Time) Decision {
	if !instance.isNew() && instance.build == p.desiredBuild(instance) {
		status, reason := p.evaluateArrived(instance, now)
		return Decision{instance.build, status, reason, p.message(instance, reason, now)}
	}
	blocker := p.blockingReason(instance, now)
	reason := p.evaluateBehind(instance, blocker)
	return Decision{p.selectServer(instance, blocker), metav1.ConditionFalse, reason, p.message(instance, reason, now)}
}

// evaluateArrived returns the status and reason of an Instance that runs its desired
// build.
func (p *plan) evaluateArrived(instance *instanceState, now time.Time) (metav1.ConditionStatus, Reason) {
	switch {
	case p.hasFailed(instance, now):
		return metav1.ConditionFalse, ReasonFailed
	case instance.build == p.target && instance.wasHealthy():
		return metav1.ConditionTrue, p.evaluateHealthy(instance, now)
	}
	return metav1.ConditionFalse, p.evaluateUnhealthy(instance, now)
}

// evaluateHealthy returns the reason for an Instance that is healthy on the target.
func (p *plan) evaluateHealthy(instance *instanceState, now time.Time) Reason {
	switch {
	case p.proven || instance.hasSoaked(now, p.options.Soak):
		return ReasonCurrent
	case instance.fault(now, p.options.Soak) == instanceFault && instance.becameUnreadyWithin(p.options.Soak):
		return ReasonInstanceUnhealthy
	case p.isCanary(instance), instance.wasCanary():
		return ReasonSoaking
	}
	return ReasonCurrent
}

// evaluateUnhealthy returns the reason for an Instance that is not healthy on the target, or
// whose spec names another image.
func (p *plan) evaluateUnhealthy(instance *instanceState, now time.Time) Reason {
	isUnhealthy := !instance.wasHealthy() && instance.fault(now, p.options.Soak) != noFault
	switch {
	case instance.build != p.target && !isUnhealthy:
		return ReasonPinned
	case instance.build != p.target:
		return ReasonInstanceUnhealthy
	case instance.suspended:
		return ReasonSuspended
	case instance.paused:
		return ReasonPaused
	case isUnhealthy:
		return ReasonInstanceUnhealthy
	case p.isCanary(instance):
		return ReasonCanary
	}
	return ReasonNotReady
}

func (p *plan) isCanary(instance *instanceState) bool {
	return p.canary != nil && p.canary.uid == instance.uid
}

// evaluateBehind returns the reason for an Instance that does not run its desired build.
// blocker is the result of blockingReason.
func (p *plan) evaluateBehind(instance *instanceState, blocker Reason) Reason {
	hasOtherTarget := p.desiredBuild(instance) != p.target
	switch {
	case blocker == ReasonSuspended, blocker == ReasonPaused:
		return blocker
	case blocker != "" && !hasOtherTarget && !instance.requestsOtherImage() && !p.canMoveNow(instance, blocker):
		return blocker
	case hasOtherTarget:
		return ReasonPinned
	case p.isScheduled(instance) && p.isCanary(instance):
		return ReasonCanary
	case p.isScheduled(instance), instance.requestsOtherImage():
		return ReasonNotReady
	case p.failed != nil:
		return ReasonHalted
	}
	return ReasonQueued
}

// blockingReason returns the reason that keeps an outdated Instance from moving when its
// turn comes, or an empty string if it may move.
func (p *plan) blockingReason(instance *instanceState, now time.Time) Reason {
	switch {
	case instance.suspended:
		return ReasonSuspended
	case instance.paused:
		return ReasonPaused
	case instance.serving && !isOpen(instance.window, now):
		return ReasonOutsideWindow
	case instance.ready, p.mayBenefit(instance, now):
		return ""
	case instance.stalled:
		return ReasonInstanceUnhealthy
	}
	return ReasonNotReady
}

// mayBenefit reports whether another build may help an Instance that is not ready, either
// because its current build may be the cause or because it serves no requests anyway.
// Otherwise, a second change at the same time would not help.
func (p *plan) mayBenefit(instance *instanceState, now time.Time) bool {
	hasGivenUp := instance.stalled || instance.isStuck(now)
	switch {
	case instance.wasHealthy():
		return instance.fault(now, p.options.Soak) == serverFault || hasGivenUp && !instance.serving
	case instance.everServed:
		return true
	}
	return hasGivenUp
}

// selectServer returns the build that an outdated Instance must run now. The Instance
// keeps its current build until its turn comes, except that an image in its own spec
// applies immediately.
func (p *plan) selectServer(instance *instanceState, blocker Reason) v1alpha1.ServerBuild {
	switch {
	case instance.isNew() && instance.image == "":
		return p.start
	case instance.isNew(), instance.requestsOtherImage() && !instance.suspended && !instance.paused:
		return p.requestedBuild(instance)
	case p.canMoveNow(instance, blocker):
		return p.desiredBuild(instance)
	}
	return instance.build
}

// canMoveNow reports whether a scheduled Instance may move in this reconcile, which its
// spec may have forbidden since the plan was made. An unready Instance may move, because
// it may already be moving while the cached Deployment is stale.
func (p *plan) canMoveNow(instance *instanceState, blocker Reason) bool {
	return p.isScheduled(instance) && (blocker == "" || blocker == ReasonNotReady || blocker == ReasonInstanceUnhealthy)
}

// requestedBuild returns the build with the image in the Instance's spec. Its revision is
// the revision at which the Instance was last healthy with that image, or else the
// revision for new Instances.
func (p *plan) requestedBuild(instance *instanceState) v1alpha1.ServerBuild {
	switch instance.image {
	case p.target.Image:
		return p.target
	case instance.lastHealthy.Image:
		return instance.lastHealthy
	}
	return v1alpha1.ServerBuild{Image: instance.image, Revision: p.start.Revision}
}

// messages holds the messages that do not depend on the Instance, built once per plan.
// They contain no elapsed times, so that the status of waiting Instances does not change.
type messages struct {
	target   string
	byReason map[Reason]string
}

func (p *plan) newMessages() messages {
	target := describeBuild(p.target)
	byReason := map[Reason]string{
		ReasonCurrent: "runs the target server image " + target,
		ReasonCanary: fmt.Sprintf("is the canary for %s: the rollout continues once it has been ready for %s",
			target, p.options.Soak),
		ReasonQueued: fmt.Sprintf("is queued to move to %s: a canary soaks for %s, and then at most %d Instances move at a time",
			target, p.options.Soak, p.options.Limit),
		ReasonPinned:    "is pinned by spec.rollout.image while other Instances move to " + target,
		ReasonPaused:    "does not move to " + target + " while spec.rollout.pause is set",
		ReasonSuspended: "does not move to " + target + " while spec.suspend is set",
	}
	if p.failed != nil {
		byReason[ReasonHalted] = fmt.Sprintf("does not move to %s, which failed on Instance %s: fix that Instance, set its spec.rollout.image to an image it was healthy on, or configure another server image for the operator",
			target, p.failed.key)
	}
	return messages{target: target, byReason: byReason}
}

// describeBuild formats a build for condition messages.
func describeBuild(build v1alpha1.ServerBuild) string {
	return fmt.Sprintf("%s (revision %d)", build.Image, build.Revision)
}

// message returns the condition message for a reason. The Instance is the implied subject
// of the sentence.
func (p *plan) message(instance *instanceState, reason Reason, now time.Time) string {
	if text, ok := p.messages.byReason[reason]; ok {
		return text
	}
	switch reason {
	case ReasonSoaking:
		return fmt.Sprintf("has been healthy on %s since %s: the rollout continues at %s if it stays healthy",
			p.messages.target, formatTime(instance.lastHealthyAt), formatTime(instance.soakEnd(p.options.Soak)))
	case ReasonOutsideWindow:
		return fmt.Sprintf("moves to %s in its maintenance window, %s", p.messages.target, describeOpening(instance.window, now))
	case ReasonFailed:
		return fmt.Sprintf("failed on %s (%s), and the rollout is halted: fix the Instance, set spec.rollout.image to an image it was healthy on, or configure another server image for the operator; the annotation %s retries",
			p.messages.target, p.failureDetail(instance), v1alpha1.RetryAnnotation)
	case ReasonInstanceUnhealthy:
		return p.describeUnhealthy(instance, now)
	case ReasonNotReady:
		return p.describeUnready(instance)
	}
	return string(reason)
}

func (p *plan) describeUnhealthy(instance *instanceState, now time.Time) string {
	desired := describeBuild(p.desiredBuild(instance))
	switch {
	case instance.build != p.desiredBuild(instance):
		return fmt.Sprintf("does not move to %s while it is stalled for an unrelated reason (%s): resolve what Ready reports, and it rejoins the rollout",
			desired, instance.readyReason)
	case instance.wasHealthy():
		return fmt.Sprintf("runs %s, but cannot advance the rollout while it is stalled for an unrelated reason (%s): resolve what Ready reports", desired, instance.readyReason)
	case !instance.everServed:
		return fmt.Sprintf("was never ready on %s (%s): resolve what Ready reports; the other Instances do not wait for it", desired, p.failureDetail(instance))
	case instance.failure.server != instance.build && !instance.stalled && instance.isStuck(now):
		return fmt.Sprintf("has been moving to %s since %s and has neither become ready nor failed (%s): resolve what Ready reports; the other Instances do not wait for it",
			desired, formatTime(instance.reconcilingSince), instance.readyReason)
	}
	return fmt.Sprintf("did not become ready on %s for an unrelated reason (%s): resolve what Ready reports; the other Instances do not wait for it", desired, p.failureDetail(instance))
}

func (p *plan) describeUnready(instance *instanceState) string {
	desired := describeBuild(p.desiredBuild(instance))
	if instance.isNew() || instance.build == p.desiredBuild(instance) || p.isScheduled(instance) || instance.requestsOtherImage() {
		return "is moving to " + desired
	}
	return fmt.Sprintf("moves to %s in its turn, once it is ready on %s", desired, describeBuild(instance.build))
}

// failureDetail describes the failure as precisely as possible, without details that
// change between reconciles.
func (p *plan) failureDetail(instance *instanceState) string {
	message := ""
	if instance.failure.server == instance.build {
		message = instance.failure.message
	}
	return cmp.Or(message, instance.readyReason)
}
