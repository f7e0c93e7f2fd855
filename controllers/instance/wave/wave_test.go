// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
)

var (
	oldServer = v1alpha1.ServerPin{Image: "server:1", Revision: 1}
	newServer = v1alpha1.ServerPin{Image: "server:2", Revision: 1}
)

// settledTenant is well with a build.
func settledTenant(name string, pin v1alpha1.ServerPin) tenant {
	return tenant{
		uid: types.UID(name), key: client.ObjectKey{Namespace: "tenants", Name: name},
		pin: pin, proven: true, served: true, ready: true,
	}
}

func TestPlanWave(t *testing.T) {
	t.Parallel()
	settled := settledTenant
	moving := settled("m", newServer)
	moving.proven, moving.ready = false, false
	failed := moving
	failed.uid, failed.stalled = "f", true
	newborn := tenant{uid: "n", key: client.ObjectKey{Name: "n"}, pin: newServer, stalled: true}
	unwell := settled("u", oldServer)
	unwell.ready, unwell.stalled = false, true
	neverWell := unwell
	neverWell.proven, neverWell.served = false, false
	asleep := settled("s", oldServer)
	asleep.suspended = true
	for name, test := range map[string]struct {
		tenants []tenant
		granted map[types.UID]bool
		limit   int
		want    []string
		halted  bool
	}{
		"nobody":                            {limit: 2},
		"all have moved":                    {tenants: []tenant{settled("a", newServer)}, limit: 2},
		"the first by name":                 {tenants: []tenant{settled("c", oldServer), settled("a", oldServer), settled("b", oldServer)}, limit: 2, want: []string{"a", "b"}},
		"one is on its way":                 {tenants: []tenant{moving, settled("a", oldServer), settled("b", oldServer)}, limit: 2, want: []string{"a"}},
		"as many as may be":                 {tenants: []tenant{moving, settled("a", oldServer)}, limit: 1},
		"one is granted":                    {tenants: []tenant{settled("a", oldServer), settled("b", oldServer)}, granted: map[types.UID]bool{"a": true}, limit: 2, want: []string{"b"}},
		"a grant was taken up":              {tenants: []tenant{settled("a", newServer), settled("b", oldServer)}, granted: map[types.UID]bool{"a": true}, limit: 1, want: []string{"b"}},
		"one failed":                        {tenants: []tenant{failed, settled("a", oldServer)}, limit: 2, halted: true},
		"a new one never was well":          {tenants: []tenant{newborn, settled("a", oldServer)}, limit: 1, want: []string{"a"}},
		"one is unwell for its own reasons": {tenants: []tenant{unwell}, limit: 1},
		"one never was well":                {tenants: []tenant{neverWell}, limit: 1, want: []string{"u"}},
		"one is suspended":                  {tenants: []tenant{asleep}, limit: 1},
		"one was not looked at yet":         {tenants: []tenant{{uid: "x"}}, limit: 1},
		"none may move":                     {tenants: []tenant{settled("a", oldServer)}, limit: 0},
	} {
		next, halted := planWave(newServer, test.tenants, test.granted, test.limit)
		if !slices.Equal(names(next), test.want) || halted != test.halted {
			t.Errorf("%s: got %v, halted %v, want %v, halted %v", name, names(next), halted, test.want, test.halted)
		}
	}
}

// TestWaveInRandomOrders plays waves to their end: Instances take up grants,
// become ready or fail in any order. Never are more on their way than allowed,
// nobody is granted anything after a failure was seen, and without a failure all
// get there.
func TestHaltedWaveIsLoggedOnce(t *testing.T) {
	t.Parallel()
	lines := 0
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, _ string) { lines++ }, funcr.Options{}))
	wave := New(nil, newServer, 1)
	failed := settledTenant("failed", newServer)
	failed.proven, failed.stalled = false, true
	for _, test := range []struct {
		tenants []tenant
		want    int
	}{
		{[]tenant{failed}, 1},
		{[]tenant{failed}, 1},
		{nil, 1},
		{[]tenant{failed}, 2},
	} {
		if wave.grant(ctx, test.tenants); lines != test.want {
			t.Errorf("got %d lines, want %d", lines, test.want)
		}
	}
}

func TestWaveInRandomOrders(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		count := rapid.IntRange(1, 12).Draw(t, "tenants")
		broken := rapid.SampledFrom([]int{-1, 0, count - 1}).Draw(t, "broken")
		tenants := make([]tenant, count)
		for i := range tenants {
			tenants[i] = settledTenant(fmt.Sprintf("tenant-%02d", i), oldServer)
		}
		wave := New(nil, newServer, limit)
		for range 20 * count {
			seen := rapid.Permutation(tenants).Draw(t, "order")
			failed := slices.ContainsFunc(tenants, func(tenant tenant) bool { return tenant.stalled })
			if next := wave.grant(t.Context(), seen); failed && len(next) > 0 {
				t.Fatalf("%v may move after one failed", names(next))
			}
			onTheirWay := 0
			for _, tenant := range tenants {
				if tenant.moved(newServer) || wave.IsGranted(tenant.uid) {
					onTheirWay++
				}
			}
			if onTheirWay > limit {
				t.Fatalf("%d are on their way, more than %d", onTheirWay, limit)
			}
			step(t, wave, tenants, broken)
		}
		for i, tenant := range tenants {
			if broken < 0 && (tenant.pin != newServer || !tenant.proven) {
				t.Fatalf("tenant %d never got there: %+v", i, tenant)
			}
		}
	})
}

// step lets one tenant take up its grant, or come to the end of its move.
func step(t *rapid.T, wave *Wave, tenants []tenant, broken int) {
	offset := rapid.IntRange(0, len(tenants)-1).Draw(t, "first")
	for k := range tenants {
		i := (offset + k) % len(tenants)
		tenant := &tenants[i]
		switch {
		case tenant.pin == oldServer && wave.IsGranted(tenant.uid):
			tenant.pin, tenant.proven, tenant.ready = newServer, false, false
			return
		case tenant.moved(newServer) && !tenant.stalled:
			tenant.stalled = i == broken
			tenant.ready, tenant.proven = !tenant.stalled, !tenant.stalled
			return
		}
	}
}

func TestTenantOf(t *testing.T) {
	t.Parallel()
	instance := &v1alpha1.Instance{}
	instance.Namespace, instance.Name, instance.UID = "tenants", "acme", "new"
	instance.Status.Server = newServer
	instance.Status.Rollout = v1alpha1.Rollout{LastReady: "x", ProvenServer: newServer}
	status.Summarize(instance, time.Now(), nil)
	want := settledTenant("acme", newServer)
	want.uid = "new"
	if got := tenantOf(instance); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	instance.Spec.Suspend = true
	if !tenantOf(instance).suspended {
		t.Error("a suspended Instance must not move")
	}
}

func names(tenants []tenant) []string {
	var all []string
	for _, tenant := range tenants {
		all = append(all, tenant.key.Name)
	}
	return all
}
