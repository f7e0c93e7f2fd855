// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// otherInstances maps names of situations to the states of the other Instances.
var otherInstances = map[string][]instanceState{
	"empty":   nil,
	"proven":  {newHealthyState("proof", targetBuild)},
	"waiting": {newHealthyState("z", currentBuild)},
	"soaking": {newHealthyState("soaking", targetBuild, healthyFor(time.Minute)), newHealthyState("z", currentBuild)},
	"failed":  {newHealthyState("failed", targetBuild, movingFor(0), failedWith(v1alpha1.FailureReasonServer, 0))},
}

func TestDecide(t *testing.T) {
	t.Parallel()
	serverReason, instanceReason := v1alpha1.FailureReasonServer, v1alpha1.FailureReasonInstance
	pinnedBuild := v1alpha1.ServerBuild{Image: "server:9", Revision: 1}
	closed := func(instance *instanceState) {
		instance.window = &v1alpha1.MaintenanceWindow{Start: "02:00", End: "03:00", TimeZone: "Europe/Berlin"}
	}
	type changes = []func(*instanceState)
	for name, test := range map[string]struct {
		others  string
		pin     v1alpha1.ServerBuild
		changes changes
		server  v1alpha1.ServerBuild
		want    string
		// says is a substring of the expected message.
		contains string
	}{
		"current":                     {"proven", targetBuild, nil, targetBuild, "True Current", "runs the target server image server:2 (revision 2)"},
		"current, and suspended":      {"proven", targetBuild, changes{withSuspend}, targetBuild, "True Current", ""},
		"current, and not ready":      {"proven", targetBuild, changes{stalledFor("Own", 0)}, targetBuild, "True Current", ""},
		"current, another one failed": {"failed", targetBuild, nil, targetBuild, "True Current", ""},

		"chosen as canary":         {"waiting", currentBuild, nil, targetBuild, "False Canary", "is the canary for server:2 (revision 2): the rollout continues once it has been ready for 10m0s"},
		"canary on its way":        {"waiting", targetBuild, changes{movingFor(0)}, targetBuild, "False Canary", ""},
		"canary soaks":             {"waiting", targetBuild, changes{healthyFor(time.Minute)}, targetBuild, "True Soaking", "since 2026-11-21T11:59:00Z: the rollout continues at 2026-11-21T12:09:00Z"},
		"canary soaked":            {"waiting", targetBuild, changes{healthyFor(soakDuration), withServerReason(ReasonSoaking)}, targetBuild, "True Current", ""},
		"canary failed":            {"waiting", targetBuild, changes{movingFor(0), failedWith(serverReason, 0)}, targetBuild, "False Failed", "(it crashes), and the rollout is halted: fix the Instance, set spec.rollout.image"},
		"canary failed in soak":    {"waiting", targetBuild, changes{healthyFor(time.Minute), failedWith(serverReason, 0)}, targetBuild, "False Failed", "anamnesis.dev/retry"},
		"canary fell down in soak": {"waiting", targetBuild, changes{healthyFor(5 * time.Minute), unreadyFor(3 * time.Minute)}, targetBuild, "False Failed", "(RolloutProgressing)"},
		"canary in own trouble":    {"waiting", targetBuild, changes{movingFor(0), failedWith(instanceReason, 0)}, targetBuild, "False InstanceUnhealthy", "for an unrelated reason (it crashes)"},
		"canary stalled in soak":   {"waiting", targetBuild, changes{healthyFor(time.Minute), stalledFor("Own", 0)}, targetBuild, "True InstanceUnhealthy", "cannot advance the rollout"},
		"the second canary":        {"soaking", targetBuild, changes{healthyFor(0), withServerReason(ReasonCanary)}, targetBuild, "True Soaking", ""},

		"waits":                        {"soaking", currentBuild, nil, currentBuild, "False Queued", "a canary soaks for 10m0s, and then at most 3 Instances move at a time"},
		"its turn":                     {"proven", currentBuild, nil, targetBuild, "False NotReady", "is moving to server:2 (revision 2)"},
		"on its way":                   {"proven", targetBuild, changes{movingFor(0)}, targetBuild, "False NotReady", "is moving to server:2 (revision 2)"},
		"on its way for very long":     {"proven", targetBuild, changes{movingFor(time.Hour)}, targetBuild, "False InstanceUnhealthy", "since 2026-11-21T11:00:00Z and has neither become ready nor failed (RolloutProgressing)"},
		"on its way, suspended":        {"proven", targetBuild, changes{movingFor(0), withSuspend}, targetBuild, "False Suspended", "spec.suspend"},
		"on its way, paused":           {"proven", targetBuild, changes{movingFor(0), withPause}, targetBuild, "False Paused", "spec.rollout.pause"},
		"failed later than the canary": {"proven", targetBuild, changes{movingFor(0), failedWith(serverReason, 0)}, targetBuild, "False Failed", ""},
		"new, failed":                  {"proven", targetBuild, changes{neverServed, movingFor(0), failedWith(serverReason, 0)}, targetBuild, "False InstanceUnhealthy", "was never ready on server:2 (revision 2) (it crashes)"},
		"new, being made":              {"proven", targetBuild, changes{neverServed, movingFor(0)}, targetBuild, "False NotReady", ""},
		"halted":                       {"failed", currentBuild, nil, currentBuild, "False Halted", "which failed on Instance tenants/failed: fix that Instance"},
		"own trouble, not the halt":    {"failed", currentBuild, changes{stalledFor("CertificateInvalid", 0)}, currentBuild, "False InstanceUnhealthy", "while it is stalled for an unrelated reason (CertificateInvalid)"},
		"being changed":                {"proven", currentBuild, changes{unreadyFor(time.Minute)}, currentBuild, "False NotReady", "once it is ready on server:1 (revision 1)"},
		"suspended":                    {"proven", currentBuild, changes{withSuspend}, currentBuild, "False Suspended", ""},
		"paused":                       {"proven", currentBuild, changes{withPause}, currentBuild, "False Paused", ""},
		"outside its window":           {"proven", currentBuild, changes{closed}, currentBuild, "False OutsideWindow", "which opens at 2026-11-22T01:00:00Z"},
		"a window that is none":        {"proven", currentBuild, changes{closed, func(instance *instanceState) { instance.window.TimeZone = "Mars/Olympus" }}, currentBuild, "False OutsideWindow", `never opens: unknown time zone "Mars/Olympus": expected an IANA name, such as Europe/Berlin`},

		"wants another image":                  {"proven", currentBuild, changes{withImage("server:9")}, v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, "False Pinned", "is pinned by spec.rollout.image"},
		"wants another image outside a window": {"proven", currentBuild, changes{withImage("server:9"), closed}, v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, "False Pinned", ""},
		"wants another image before a proof":   {"waiting", currentBuild, changes{withImage("server:9")}, pinnedBuild, "False Pinned", ""},
		"wants another image, and is paused":   {"proven", currentBuild, changes{withImage("server:9"), withPause}, currentBuild, "False Paused", ""},
		"wants back what it was well with":     {"proven", targetBuild, changes{movingFor(0), func(instance *instanceState) { instance.lastHealthy = currentBuild }, withImage("server:1")}, currentBuild, "False Pinned", ""},
		"has another image":                    {"waiting", pinnedBuild, changes{withImage("server:9")}, pinnedBuild, "False Pinned", ""},
		"has another image, revision in turn":  {"proven", pinnedBuild, changes{withImage("server:9")}, v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, "False Pinned", ""},
		"has another image and is not well":    {"proven", v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, changes{withImage("server:9"), movingFor(0), failedWith(serverReason, 0)}, v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, "False InstanceUnhealthy", ""},
		"wants the target before its turn":     {"failed", currentBuild, changes{withImage("server:2")}, targetBuild, "False NotReady", ""},
		"has the target in its own spec":       {"proven", targetBuild, changes{withImage("server:2")}, targetBuild, "True Current", ""},
	} {
		instance := newHealthyState("one", test.pin, test.changes...)
		p := newPlan(targetBuild, Options{Limit: 3, Soak: soakDuration}, append([]instanceState{instance}, otherInstances[test.others]...), nil, noon)
		got := p.decide(&instance, noon)
		if state := string(got.Status) + " " + string(got.Reason); state != test.want || got.Server != test.server {
			t.Errorf("%s: got %s on %v, want %s on %v", name, state, got.Server, test.want, test.server)
		}
		if !slices.Contains(Reasons, got.Reason) {
			t.Errorf("%s: reason %s is missing from Reasons", name, got.Reason)
		}
		if got.Message == "" || !strings.Contains(got.Message, test.contains) {
			t.Errorf("%s: got message %q, want one that contains %q", name, got.Message, test.contains)
		}
	}
}

// TestMoveFollowsSpecChange checks that a reconcile with an outdated plan does not move
// an Instance if its spec no longer allows the move.
func TestMoveFollowsSpecChange(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*instanceState)
		server v1alpha1.ServerBuild
		want   Reason
	}{
		"nothing":          {func(*instanceState) {}, targetBuild, ReasonCanary},
		"it was paused":    {withPause, currentBuild, ReasonPaused},
		"it was suspended": {withSuspend, currentBuild, ReasonSuspended},
		"it got a window": {func(instance *instanceState) {
			instance.window = &v1alpha1.MaintenanceWindow{Start: "02:00", End: "03:00"}
		}, currentBuild, ReasonOutsideWindow},
		"it wants another":    {withImage("server:9"), v1alpha1.ServerBuild{Image: "server:9", Revision: 1}, ReasonPinned},
		"it is on its way":    {unreadyFor(0), targetBuild, ReasonCanary},
		"it is just stalled ": {stalledFor("Own", 0), targetBuild, ReasonCanary},
	} {
		instance := newHealthyState("one", currentBuild)
		p := newPlan(targetBuild, Options{Limit: 1, Soak: soakDuration}, []instanceState{instance}, nil, noon)
		test.change(&instance)
		if got := p.decide(&instance, noon); got.Server != test.server || got.Reason != test.want {
			t.Errorf("%s: got %v, %s, want %v, %s", name, got.Server, got.Reason, test.server, test.want)
		}
	}
}

// TestMoveIsNotUndone checks that a reconcile with a stale cache, which shows the
// Deployment and its saved state from before the move, does not move an Instance back.
func TestMoveIsNotUndone(t *testing.T) {
	t.Parallel()
	instance := newHealthyState("one", currentBuild)
	first := newPlan(targetBuild, Options{Limit: 1, Soak: soakDuration}, []instanceState{instance}, nil, noon)
	moved := newHealthyState("one", targetBuild, movingFor(0))
	second := newPlan(targetBuild, Options{Limit: 1, Soak: soakDuration}, []instanceState{moved}, first, noon)
	third := newPlan(targetBuild, Options{Limit: 1, Soak: soakDuration}, []instanceState{moved}, second, noon)
	unreadyFor(0)(&instance)
	for i, p := range []*plan{first, second, third} {
		if got := p.decide(&instance, noon); got.Server != targetBuild || got.Reason != ReasonCanary {
			t.Errorf("plan %d: got %v, %s, want %v, %s", i+1, got.Server, got.Reason, targetBuild, ReasonCanary)
		}
	}
	fourth := newPlan(targetBuild, Options{Limit: 1, Soak: soakDuration}, []instanceState{newHealthyState("one", targetBuild)}, third, noon)
	if fourth.isScheduled(&instance) {
		t.Error("the Instance is still scheduled after its move completed")
	}
}
