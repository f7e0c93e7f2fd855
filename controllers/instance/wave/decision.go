// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A Reason says why an Instance has, or has not, the build that all are to have:
// the reason of its condition ServerCurrent.
type Reason string

// Reasons while ServerCurrent is True.
const (
	// ReasonCurrent says that it is well with the target.
	ReasonCurrent Reason = "Current"
	// ReasonSoaking says that it is the canary and well with the target, and the
	// others wait until it has been so for long enough.
	ReasonSoaking Reason = "Soaking"
)

// Reasons while ServerCurrent is False.
const (
	// ReasonCanary says that it is the first that moves to the target.
	ReasonCanary Reason = "Canary"
	// ReasonNotReady says that it is not ready yet, with the target or with what it
	// has to be well with before it may move.
	ReasonNotReady Reason = "NotReady"
	// ReasonWaitingForTurn says that others move first.
	ReasonWaitingForTurn Reason = "WaitingForTurn"
	// ReasonOutsideWindow says that its window is closed.
	ReasonOutsideWindow Reason = "OutsideWindow"
	// ReasonPinned says that its spec names another image.
	ReasonPinned Reason = "Pinned"
	// ReasonPaused says that its spec pauses rollouts.
	ReasonPaused Reason = "Paused"
	// ReasonSuspended says that nothing of it is changed.
	ReasonSuspended Reason = "Suspended"
	// ReasonOwnTrouble says that something of its own keeps it from the target.
	ReasonOwnTrouble Reason = "OwnTrouble"
	// ReasonFailed says that the target failed it, which halts the wave.
	ReasonFailed Reason = "Failed"
	// ReasonHalted says that the target failed another.
	ReasonHalted Reason = "Halted"
)

// Reasons are all reasons.
var Reasons = []Reason{
	ReasonCurrent, ReasonSoaking, ReasonCanary, ReasonNotReady, ReasonWaitingForTurn, ReasonOutsideWindow,
	ReasonPinned, ReasonPaused, ReasonSuspended, ReasonOwnTrouble, ReasonFailed, ReasonHalted,
}

// A Decision is what a wave decided for one Instance.
type Decision struct {
	// Server is the build that it is to have now.
	Server v1alpha1.ServerPin
	// Status, Reason and Message are those of its condition ServerCurrent.
	Status  metav1.ConditionStatus
	Reason  Reason
	Message string
}

// decide decides for one Instance.
func (p *plan) decide(one *tenant, now time.Time) Decision {
	if !one.isNew() && one.pin == p.goal(one) {
		status, reason := p.judgeArrived(one, now)
		return Decision{one.pin, status, reason, p.message(one, reason, now)}
	}
	hindrance := p.hindrance(one, now)
	reason := p.judgeBehind(one, hindrance)
	return Decision{p.serverOf(one, hindrance), metav1.ConditionFalse, reason, p.message(one, reason, now)}
}

// judgeArrived judges one that has got the build that it is to have.
func (p *plan) judgeArrived(one *tenant, now time.Time) (metav1.ConditionStatus, Reason) {
	switch {
	case p.hasFailed(one, now):
		return metav1.ConditionFalse, ReasonFailed
	case one.pin == p.target && one.isProven():
		return metav1.ConditionTrue, p.judgeProven(one, now)
	}
	return metav1.ConditionFalse, p.judgeUnproven(one, now)
}

// judgeProven judges one that is well with the target.
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

// judgeUnproven judges one that is not well with the target, or has another image
// by its own wish.
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

// judgeBehind judges one that has not got the build that it is to have, by what
// hinders it.
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

// hindrance says what keeps one that is behind from moving when its turn comes;
// empty for nothing.
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

// mayGain says whether another build may help one that is not ready: when what it
// has may be the trouble, or when it has nothing to lose. Else a second change at
// a time helps nobody.
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

// serverOf is the build that one that is behind is to have now: what it has,
// until its turn comes. What its own spec names, it gets at once.
func (p *plan) serverOf(one *tenant, hindrance Reason) v1alpha1.ServerPin {
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

// goes says whether one that was told to move may do so in this visit: unless its
// spec says otherwise by now. That it is not ready may be because it is on its way
// already, and the cache is behind with its Deployment.
func (p *plan) goes(one *tenant, hindrance Reason) bool {
	return p.told(one) && (hindrance == "" || hindrance == ReasonNotReady || hindrance == ReasonOwnTrouble)
}

// named is the build with the image that a spec names, of the revision that it
// was well with; where it was not, of the one that new Instances get.
func (p *plan) named(one *tenant) v1alpha1.ServerPin {
	switch one.image {
	case p.target.Image:
		return p.target
	case one.proven.Image:
		return one.proven
	}
	return v1alpha1.ServerPin{Image: one.image, Revision: p.start.Revision}
}

// words are the messages that do not depend on the Instance, made once for all.
// They hold no time that passes, so that nobody who waits is written to.
type words struct {
	target string
	said   map[Reason]string
}

func (p *plan) newWords() words {
	target := describe(p.target)
	said := map[Reason]string{
		ReasonCurrent: "has " + target + ", as all Instances are to have",
		ReasonCanary: fmt.Sprintf("is the first to move to %s; the others follow when it has been ready with that for %s",
			target, p.options.Soak),
		ReasonWaitingForTurn: fmt.Sprintf("waits for its turn to move to %s: one Instance tries it for %s, and then no more than %d move at a time",
			target, p.options.Soak, p.options.Limit),
		ReasonPinned:    "keeps the image that spec.rollout.image names, while others move to " + target,
		ReasonPaused:    "does not move to " + target + " while spec.rollout.pause is set",
		ReasonSuspended: "does not move to " + target + " while spec.suspend is set",
	}
	if p.failed != nil {
		said[ReasonHalted] = fmt.Sprintf("does not move to %s, which failed Instance %s: mend that one, let its spec.rollout.image name an image that it was well with, or give the operator another image",
			target, p.failed.key)
	}
	return words{target: target, said: said}
}

// describe names a build for people.
func describe(pin v1alpha1.ServerPin) string {
	return fmt.Sprintf("%s (revision %d)", pin.Image, pin.Revision)
}

// message says in a sentence without subject what a reason is for one Instance.
func (p *plan) message(one *tenant, reason Reason, now time.Time) string {
	if said, ok := p.words.said[reason]; ok {
		return said
	}
	switch reason {
	case ReasonSoaking:
		return fmt.Sprintf("is well with %s since %s: the others follow at %s if it stays so",
			p.words.target, utc(one.provenAt), utc(one.soakEnd(p.options.Soak)))
	case ReasonOutsideWindow:
		return fmt.Sprintf("moves to %s in its window, %s", p.words.target, describeOpening(one.window, now))
	case ReasonFailed:
		return fmt.Sprintf("is not well with %s (%s), and nobody else moves to it: mend it, let spec.rollout.image name an image that it was well with, or give the operator another image; the annotation %s tries again",
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
		return fmt.Sprintf("does not move to %s while it is stalled for a reason of its own (%s): solve what Ready says, and it moves in its turn",
			goal, one.because)
	case one.isProven():
		return fmt.Sprintf("has %s, and proves nothing to others while it is stalled for a reason of its own (%s): solve what Ready says", goal, one.because)
	case !one.served:
		return fmt.Sprintf("was never ready with %s (%s): solve what Ready says; the others do not wait for it", goal, p.complaint(one))
	case one.failure.server != one.pin && !one.stalled && one.waitsForEver(now):
		return fmt.Sprintf("has been on its way to %s since %s and neither came there nor failed (%s): solve what Ready says; the others do not wait for it",
			goal, utc(one.workingSince), one.because)
	}
	return fmt.Sprintf("did not become ready with %s for a reason of its own (%s): solve what Ready says; the others do not wait for it", goal, p.complaint(one))
}

func (p *plan) describeUnready(one *tenant) string {
	goal := describe(p.goal(one))
	if one.isNew() || one.pin == p.goal(one) || p.told(one) || one.wantsAnotherImage() {
		return "is on its way to " + goal
	}
	return fmt.Sprintf("moves to %s in its turn, once it is ready with %s", goal, describe(one.pin))
}

// complaint is what was wrong, in as many words as are known and do not change.
func (p *plan) complaint(one *tenant) string {
	because := ""
	if one.failure.server == one.pin {
		because = one.failure.because
	}
	return cmp.Or(because, one.because)
}
