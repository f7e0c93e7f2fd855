// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// others are the Instances in addition to the one that is decided for.
var others = map[string][]tenant{
	"empty":   nil,
	"proven":  {settled("proof", newServer)},
	"waiting": {settled("z", oldServer)},
	"soaking": {settled("soaking", newServer, provenFor(time.Minute)), settled("z", oldServer)},
	"failed":  {settled("failed", newServer, onItsWay(0), failedWith(v1alpha1.FailureReasonServer, 0))},
}

func TestDecide(t *testing.T) {
	t.Parallel()
	byServer, byTenant := v1alpha1.FailureReasonServer, v1alpha1.FailureReasonInstance
	special := v1alpha1.ServerBuild{Image: "server:9", Revision: 1}
	closed := func(one *tenant) {
		one.window = &v1alpha1.MaintenanceWindow{Start: "02:00", End: "03:00", TimeZone: "Europe/Berlin"}
	}
	type changes = []func(*tenant)
	for name, test := range map[string]struct {
		others  string
		pin     v1alpha1.ServerBuild
		changes changes
		server  v1alpha1.ServerBuild
		want    string
		// says is a substring of the message.
		says string
	}{
		"current":                     {"proven", newServer, nil, newServer, "True Current", "runs the target server image server:2 (revision 2)"},
		"current, and suspended":      {"proven", newServer, changes{suspended}, newServer, "True Current", ""},
		"current, and not ready":      {"proven", newServer, changes{stalledBy("Own", 0)}, newServer, "True Current", ""},
		"current, another one failed": {"failed", newServer, nil, newServer, "True Current", ""},

		"chosen as canary":         {"waiting", oldServer, nil, newServer, "False Canary", "is the canary for server:2 (revision 2): the rollout continues once it has been ready for 10m0s"},
		"canary on its way":        {"waiting", newServer, changes{onItsWay(0)}, newServer, "False Canary", ""},
		"canary soaks":             {"waiting", newServer, changes{provenFor(time.Minute)}, newServer, "True Soaking", "since 2026-11-21T11:59:00Z: the rollout continues at 2026-11-21T12:09:00Z"},
		"canary soaked":            {"waiting", newServer, changes{provenFor(soak), told(ReasonSoaking)}, newServer, "True Current", ""},
		"canary failed":            {"waiting", newServer, changes{onItsWay(0), failedWith(byServer, 0)}, newServer, "False Failed", "(it crashes), and the rollout is halted: fix the Instance, set spec.rollout.image"},
		"canary failed in soak":    {"waiting", newServer, changes{provenFor(time.Minute), failedWith(byServer, 0)}, newServer, "False Failed", "anamnesis.dev/retry"},
		"canary fell down in soak": {"waiting", newServer, changes{provenFor(5 * time.Minute), downFor(3 * time.Minute)}, newServer, "False Failed", "(RolloutProgressing)"},
		"canary in own trouble":    {"waiting", newServer, changes{onItsWay(0), failedWith(byTenant, 0)}, newServer, "False InstanceUnhealthy", "for an unrelated reason (it crashes)"},
		"canary stalled in soak":   {"waiting", newServer, changes{provenFor(time.Minute), stalledBy("Own", 0)}, newServer, "True InstanceUnhealthy", "cannot advance the rollout"},
		"the second canary":        {"soaking", newServer, changes{provenFor(0), told(ReasonCanary)}, newServer, "True Soaking", ""},

		"waits":                        {"soaking", oldServer, nil, oldServer, "False Queued", "a canary soaks for 10m0s, and then at most 3 Instances move at a time"},
		"its turn":                     {"proven", oldServer, nil, newServer, "False NotReady", "is moving to server:2 (revision 2)"},
		"on its way":                   {"proven", newServer, changes{onItsWay(0)}, newServer, "False NotReady", "is moving to server:2 (revision 2)"},
		"on its way for very long":     {"proven", newServer, changes{onItsWay(time.Hour)}, newServer, "False InstanceUnhealthy", "since 2026-11-21T11:00:00Z and has neither become ready nor failed (RolloutProgressing)"},
		"on its way, suspended":        {"proven", newServer, changes{onItsWay(0), suspended}, newServer, "False Suspended", "spec.suspend"},
		"on its way, paused":           {"proven", newServer, changes{onItsWay(0), paused}, newServer, "False Paused", "spec.rollout.pause"},
		"failed later than the canary": {"proven", newServer, changes{onItsWay(0), failedWith(byServer, 0)}, newServer, "False Failed", ""},
		"new, failed":                  {"proven", newServer, changes{newborn, onItsWay(0), failedWith(byServer, 0)}, newServer, "False InstanceUnhealthy", "was never ready on server:2 (revision 2) (it crashes)"},
		"new, being made":              {"proven", newServer, changes{newborn, onItsWay(0)}, newServer, "False NotReady", ""},
		"halted":                       {"failed", oldServer, nil, oldServer, "False Halted", "which failed on Instance tenants/failed: fix that Instance"},
		"own trouble, not the halt":    {"failed", oldServer, changes{stalledBy("CertificateInvalid", 0)}, oldServer, "False InstanceUnhealthy", "while it is stalled for an unrelated reason (CertificateInvalid)"},
		"being changed":                {"proven", oldServer, changes{downFor(time.Minute)}, oldServer, "False NotReady", "once it is ready on server:1 (revision 1)"},
		"suspended":                    {"proven", oldServer, changes{suspended}, oldServer, "False Suspended", ""},
		"paused":                       {"proven", oldServer, changes{paused}, oldServer, "False Paused", ""},
		"outside its window":           {"proven", oldServer, changes{closed}, oldServer, "False OutsideWindow", "which opens at 2026-11-22T01:00:00Z"},
		"a window that is none":        {"proven", oldServer, changes{closed, func(one *tenant) { one.window.TimeZone = "Mars/Olympus" }}, oldServer, "False OutsideWindow", `never opens: unknown time zone "Mars/Olympus": use an IANA name, such as Europe/Berlin`},

		"wants another image":                  {"proven", oldServer, changes{image("server:9")}, v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, "False Pinned", "is pinned by spec.rollout.image"},
		"wants another image outside a window": {"proven", oldServer, changes{image("server:9"), closed}, v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, "False Pinned", ""},
		"wants another image before a proof":   {"waiting", oldServer, changes{image("server:9")}, special, "False Pinned", ""},
		"wants another image, and is paused":   {"proven", oldServer, changes{image("server:9"), paused}, oldServer, "False Paused", ""},
		"wants back what it was well with":     {"proven", newServer, changes{onItsWay(0), func(one *tenant) { one.proven = oldServer }, image("server:1")}, oldServer, "False Pinned", ""},
		"has another image":                    {"waiting", special, changes{image("server:9")}, special, "False Pinned", ""},
		"has another image, revision in turn":  {"proven", special, changes{image("server:9")}, v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, "False Pinned", ""},
		"has another image and is not well":    {"proven", v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, changes{image("server:9"), onItsWay(0), failedWith(byServer, 0)}, v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, "False InstanceUnhealthy", ""},
		"wants the target before its turn":     {"failed", oldServer, changes{image("server:2")}, newServer, "False NotReady", ""},
		"has the target in its own spec":       {"proven", newServer, changes{image("server:2")}, newServer, "True Current", ""},
	} {
		one := settled("one", test.pin, test.changes...)
		p := newPlan(newServer, Options{Limit: 3, Soak: soak}, append([]tenant{one}, others[test.others]...), nil, noon)
		got := p.decide(&one, noon)
		if state := string(got.Status) + " " + string(got.Reason); state != test.want || got.Server != test.server {
			t.Errorf("%s: got %s with %v, want %s with %v", name, state, got.Server, test.want, test.server)
		}
		if !slices.Contains(Reasons, got.Reason) {
			t.Errorf("%s: %s is not counted by the metrics", name, got.Reason)
		}
		if got.Message == "" || !strings.Contains(got.Message, test.says) {
			t.Errorf("%s: got the message %q, want one with %q", name, got.Message, test.says)
		}
	}
}

// TestMoveIsTakenBack checks that a reconcile with an outdated plan does not move an
// Instance whose spec has changed since.
func TestMoveIsTakenBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*tenant)
		server v1alpha1.ServerBuild
		want   Reason
	}{
		"nothing":             {func(*tenant) {}, newServer, ReasonCanary},
		"it was paused":       {paused, oldServer, ReasonPaused},
		"it was suspended":    {suspended, oldServer, ReasonSuspended},
		"it got a window":     {func(one *tenant) { one.window = &v1alpha1.MaintenanceWindow{Start: "02:00", End: "03:00"} }, oldServer, ReasonOutsideWindow},
		"it wants another":    {image("server:9"), v1alpha1.ServerBuild{Image: "server:9", Revision: 1}, ReasonPinned},
		"it is on its way":    {downFor(0), newServer, ReasonCanary},
		"it is just stalled ": {stalledBy("Own", 0), newServer, ReasonCanary},
	} {
		one := settled("one", oldServer)
		p := newPlan(newServer, Options{Limit: 1, Soak: soak}, []tenant{one}, nil, noon)
		test.change(&one)
		if got := p.decide(&one, noon); got.Server != test.server || got.Reason != test.want {
			t.Errorf("%s: got %v, %s, want %v, %s", name, got.Server, got.Reason, test.server, test.want)
		}
	}
}

// TestMoveIsNotUndone checks that an Instance that has moved is not moved back by a
// reconcile whose cache shows its Deployment, and its recorded state, as before.
func TestMoveIsNotUndone(t *testing.T) {
	t.Parallel()
	one := settled("one", oldServer)
	first := newPlan(newServer, Options{Limit: 1, Soak: soak}, []tenant{one}, nil, noon)
	moved := settled("one", newServer, onItsWay(0))
	second := newPlan(newServer, Options{Limit: 1, Soak: soak}, []tenant{moved}, first, noon)
	third := newPlan(newServer, Options{Limit: 1, Soak: soak}, []tenant{moved}, second, noon)
	downFor(0)(&one)
	for i, p := range []*plan{first, second, third} {
		if got := p.decide(&one, noon); got.Server != newServer || got.Reason != ReasonCanary {
			t.Errorf("by plan %d it has %v, %s", i+1, got.Server, got.Reason)
		}
	}
	fourth := newPlan(newServer, Options{Limit: 1, Soak: soak}, []tenant{settled("one", newServer)}, third, noon)
	if fourth.told(&one) {
		t.Error("it has come to the end of its move")
	}
}
