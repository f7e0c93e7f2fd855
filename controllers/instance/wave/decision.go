// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A Reason is the reason of an Instance's condition ServerCurrent: why it does or does
// not run the target build.
type Reason string

// Reasons while ServerCurrent is True.
const (
	// ReasonCurrent means that the Instance is healthy on the target.
	ReasonCurrent Reason = "Current"
	// ReasonSoaking means that the Instance is the canary and healthy on the target, and the
	// others wait until the soak time is over.
	ReasonSoaking Reason = "Soaking"
)

// Reasons while ServerCurrent is False.
const (
	// ReasonCanary means that the Instance is the first to move to the target.
	ReasonCanary Reason = "Canary"
	// ReasonNotReady means that the Instance is not ready, either on the target or on the
	// build on which it must be healthy before it may move.
	ReasonNotReady Reason = "NotReady"
	// ReasonWaitingForTurn means that other Instances move first.
	ReasonWaitingForTurn Reason = "Queued"
	// ReasonOutsideWindow means that the maintenance window is closed.
	ReasonOutsideWindow Reason = "OutsideWindow"
	// ReasonPinned means that the spec names another image.
	ReasonPinned Reason = "Pinned"
	// ReasonPaused means that the spec pauses rollouts.
	ReasonPaused Reason = "Paused"
	// ReasonSuspended means that the Instance is suspended and not changed.
	ReasonSuspended Reason = "Suspended"
	// ReasonOwnTrouble means that a problem of the Instance itself keeps it from the target.
	ReasonOwnTrouble Reason = "InstanceUnhealthy"
	// ReasonFailed means that the target failed on this Instance, which halts the rollout.
	ReasonFailed Reason = "Failed"
	// ReasonHalted means that the target failed on another Instance.
	ReasonHalted Reason = "Halted"
)

// Reasons lists all reasons.
var Reasons = []Reason{
	ReasonCurrent, ReasonSoaking, ReasonCanary, ReasonNotReady, ReasonWaitingForTurn, ReasonOutsideWindow,
	ReasonPinned, ReasonPaused, ReasonSuspended, ReasonOwnTrouble, ReasonFailed, ReasonHalted,
}

// A Decision is the decision for one Instance.
type Decision struct {
	// Server is the build that the Instance must run now.
	Server v1alpha1.ServerBuild
	// Status, Reason and Message belong to the condition ServerCurrent.
	Status  metav1.ConditionStatus
	Reason  Reason
	Message string
}

// decide returns the decision for one Instance.
func (p *plan) decide(one *tenant, now time.Time) Decision {
	if !one.isNew() && one.pin == p.goal(one) {
		status, reason := p.judgeArrived(one, now)
		return Decision{one.pin, status, reason, p.message(one, reason, now)}
	}
	hindrance := p.hindrance(one, now)
	reason := p.judgeBehind(one, hindrance)
	return Decision{p.serverOf(one, hindrance), metav1.ConditionFalse, reason, p.message(one, reason, now)}
}

// judgeArrived returns the condition of an Instance that runs its goal build.
func (p *plan) judgeArrived(one *tenant, now time.Time) (metav1.ConditionStatus, Reason) {
	switch {
	case p.hasFailed(one, now):
		return metav1.ConditionFalse, ReasonFailed
	case one.pin == p.target && one.isProven():
		return metav1.ConditionTrue, p.judgeProven(one, now)
	}
	return metav1.ConditionFalse, p.judgeUnproven(one, now)
}

// judgeProven returns the reason for an Instance that is healthy on the target.
func (p *plan) judgeProven(one *tenant, now time.Time) Reason {
	switch {
	case p.proven || one.soaked(now, p.options.Soak):
		return ReasonCurrent
	case one.fault(now, p.options.Soak) == tenantFault && one.fellWithin(p.options.Soak):
		return ReasonOwnTrouble
	case p.isCanary(one), one.saysCanary():
		return ReasonSoaking
	}
	return ReasonCurrent
}

// judgeUnproven returns the reason for an Instance that is not healthy on the target, or
// whose spec names another image.
func (p *plan) judgeUnproven(one *tenant, now time.Time) Reason {
	isInTrouble := !one.isProven() && one.fault(now, p.options.Soak) != noFault
	switch {
	case one.pin != p.target && !isInTrouble:
		return ReasonPinned
	case one.pin != p.target:
		return ReasonOwnTrouble
	case one.suspended:
		return ReasonSuspended
	case one.paused:
		return ReasonPaused
	case isInTrouble:
		return ReasonOwnTrouble
	case p.isCanary(one):
		return ReasonCanary
	}
	return ReasonNotReady
}

func (p *plan) isCanary(one *tenant) bool { return p.canary != nil && p.canary.uid == one.uid }

// judgeBehind returns the reason for an Instance that does not run its goal build, given
// its hindrance.
func (p *plan) judgeBehind(one *tenant, hindrance Reason) Reason {
	elsewhere := p.goal(one) != p.target
	switch {
	case hindrance == ReasonSuspended, hindrance == ReasonPaused:
		return hindrance
	case hindrance != "" && !elsewhere && !one.wantsAnotherImage() && !p.goes(one, hindrance):
		return hindrance
	case elsewhere:
		return ReasonPinned
	case p.told(one) && p.isCanary(one):
		return ReasonCanary
	case p.told(one), one.wantsAnotherImage():
		return ReasonNotReady
	case p.failed != nil:
		return ReasonHalted
	}
	return ReasonWaitingForTurn
}

// hindrance returns what keeps an Instance that is behind from moving when its turn
// comes. Empty if nothing does.
func (p *plan) hindrance(one *tenant, now time.Time) Reason {
	switch {
	case one.suspended:
		return ReasonSuspended
	case one.paused:
		return ReasonPaused
	case one.serving && !isOpen(one.window, now):
		return ReasonOutsideWindow
	case one.ready, p.mayGain(one, now):
		return ""
	case one.stalled:
		return ReasonOwnTrouble
	}
	return ReasonNotReady
}

// mayGain reports whether another build may help an Instance that is not ready: its
// current build may be the cause, or it has nothing to lose. Otherwise, a second change
// at the same time would not help.
func (p *plan) mayGain(one *tenant, now time.Time) bool {
	gaveUp := one.stalled || one.waitsForEver(now)
	switch {
	case one.isProven():
		return one.fault(now, p.options.Soak) == serverFault || gaveUp && !one.serving
	case one.served:
		return true
	}
	return gaveUp
}

// serverOf returns the build that an Instance that is behind must run now: its current
// one until its turn comes. An image named in its own spec applies immediately.
func (p *plan) serverOf(one *tenant, hindrance Reason) v1alpha1.ServerBuild {
	switch {
	case one.isNew() && one.image == "":
		return p.start
	case one.isNew(), one.wantsAnotherImage() && !one.suspended && !one.paused:
		return p.named(one)
	case p.goes(one, hindrance):
		return p.goal(one)
	}
	return one.pin
}

// goes reports whether an Instance that the plan moves may do so in this reconcile,
// that is, unless its spec has changed since. It may move although it is not ready: it
// may already be moving while the cache of its Deployment is stale.
func (p *plan) goes(one *tenant, hindrance Reason) bool {
	return p.told(one) && (hindrance == "" || hindrance == ReasonNotReady || hindrance == ReasonOwnTrouble)
}

// named returns the build with the image that the spec names. Its revision is the one on
// which the Instance was last healthy with that image, or else the revision that new
// Instances get.
func (p *plan) named(one *tenant) v1alpha1.ServerBuild {
	switch one.image {
	case p.target.Image:
		return p.target
	case one.proven.Image:
		return one.proven
	}
	return v1alpha1.ServerBuild{Image: one.image, Revision: p.start.Revision}
}

// words are the messages that do not depend on the Instance, built once per plan. They
// contain no elapsed times, so that the status of waiting Instances does not change.
type words struct {
	target string
	said   map[Reason]string
}

func (p *plan) newWords() words {
	target := describe(p.target)
	said := map[Reason]string{
		ReasonCurrent: "runs the target server image " + target,
		ReasonCanary: fmt.Sprintf("is the canary for %s: the rollout continues once it has been ready for %s",
			target, p.options.Soak),
		ReasonWaitingForTurn: fmt.Sprintf("is queued to move to %s: a canary soaks for %s, and then at most %d Instances move at a time",
			target, p.options.Soak, p.options.Limit),
		ReasonPinned:    "is pinned by spec.rollout.image while other Instances move to " + target,
		ReasonPaused:    "does not move to " + target + " while spec.rollout.pause is set",
		ReasonSuspended: "does not move to " + target + " while spec.suspend is set",
	}
	if p.failed != nil {
		said[ReasonHalted] = fmt.Sprintf("does not move to %s, which failed on Instance %s: fix that Instance, set its spec.rollout.image to an image it was healthy on, or configure another server image for the operator",
			target, p.failed.key)
	}
	return words{target: target, said: said}
}

// describe formats a build for people.
func describe(pin v1alpha1.ServerBuild) string {
	return fmt.Sprintf("%s (revision %d)", pin.Image, pin.Revision)
}

// message describes a reason for one Instance, as a sentence without its subject.
func (p *plan) message(one *tenant, reason Reason, now time.Time) string {
	if said, ok := p.words.said[reason]; ok {
		return said
	}
	switch reason {
	case ReasonSoaking:
		return fmt.Sprintf("has been healthy on %s since %s: the rollout continues at %s if it stays healthy",
			p.words.target, utc(one.provenAt), utc(one.soakEnd(p.options.Soak)))
	case ReasonOutsideWindow:
		return fmt.Sprintf("moves to %s in its maintenance window, %s", p.words.target, describeOpening(one.window, now))
	case ReasonFailed:
		return fmt.Sprintf("failed on %s (%s), and the rollout is halted: fix the Instance, set spec.rollout.image to an image it was healthy on, or configure another server image for the operator; the annotation %s retries",
			p.words.target, p.complaint(one), v1alpha1.RetryAnnotation)
	case ReasonOwnTrouble:
		return p.describeOwnTrouble(one, now)
	case ReasonNotReady:
		return p.describeUnready(one)
	}
	return string(reason)
}

func (p *plan) describeOwnTrouble(one *tenant, now time.Time) string {
	goal := describe(p.goal(one))
	switch {
	case one.pin != p.goal(one):
		return fmt.Sprintf("does not move to %s while it is stalled for an unrelated reason (%s): resolve what Ready reports, and it rejoins the rollout",
			goal, one.because)
	case one.isProven():
		return fmt.Sprintf("runs %s, but cannot advance the rollout while it is stalled for an unrelated reason (%s): resolve what Ready reports", goal, one.because)
	case !one.served:
		return fmt.Sprintf("was never ready on %s (%s): resolve what Ready reports; the other Instances do not wait for it", goal, p.complaint(one))
	case one.failure.server != one.pin && !one.stalled && one.waitsForEver(now):
		return fmt.Sprintf("has been moving to %s since %s and has neither become ready nor failed (%s): resolve what Ready reports; the other Instances do not wait for it",
			goal, utc(one.workingSince), one.because)
	}
	return fmt.Sprintf("did not become ready on %s for an unrelated reason (%s): resolve what Ready reports; the other Instances do not wait for it", goal, p.complaint(one))
}

func (p *plan) describeUnready(one *tenant) string {
	goal := describe(p.goal(one))
	if one.isNew() || one.pin == p.goal(one) || p.told(one) || one.wantsAnotherImage() {
		return "is moving to " + goal
	}
	return fmt.Sprintf("moves to %s in its turn, once it is ready on %s", goal, describe(one.pin))
}

// complaint describes what was wrong, as precisely as known, without details that vary.
func (p *plan) complaint(one *tenant) string {
	because := ""
	if one.failure.server == one.pin {
		because = one.failure.because
	}
	return cmp.Or(because, one.because)
}
