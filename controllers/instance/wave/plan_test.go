// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A planSummary is a plan in comparable form.
type planSummary struct {
	State          State
	Canary, Failed string
	Moves          []string
}

func summarizePlan(p *plan) planSummary {
	got := planSummary{State: p.state}
	if p.canary != nil {
		got.Canary = p.canary.key.Name
	}
	if p.failed != nil {
		got.Failed = p.failed.key.Name
	}
	for uid := range p.moves {
		got.Moves = append(got.Moves, string(uid))
	}
	slices.Sort(got.Moves)
	return got
}

func uidSet(names ...string) map[types.UID]bool {
	moves := map[types.UID]bool{}
	for _, name := range names {
		moves[types.UID(name)] = true
	}
	return moves
}

func TestPlan(t *testing.T) {
	t.Parallel()
	serverReason, instanceReason := v1alpha1.FailureReasonServer, v1alpha1.FailureReasonInstance
	failedPreflight := func(instance *instanceState) {
		movingFor(time.Minute)(instance)
		stalledFor("ModelsUnavailable", time.Minute)(instance)
		instance.failedPreflight = true
	}
	window := func(start, end v1alpha1.TimeOfDay) func(*instanceState) {
		return func(instance *instanceState) { instance.window = &v1alpha1.MaintenanceWindow{Start: start, End: end} }
	}
	unhealthy := func(name string, changes ...func(*instanceState)) instanceState {
		return newHealthyState(name, targetBuild, append([]func(*instanceState){movingFor(0), failedWith(instanceReason, 0)}, changes...)...)
	}
	unhealthyOn := func(server v1alpha1.ServerBuild, name string) instanceState {
		instance := newHealthyState(name, server, movingFor(0), failedWith(instanceReason, 0))
		instance.failure.server = server
		return instance
	}
	a, b, c, d := newHealthyState("a", currentBuild), newHealthyState("b", currentBuild), newHealthyState("c", currentBuild), newHealthyState("d", currentBuild)
	proven := newHealthyState("proof", targetBuild)
	for name, test := range map[string]struct {
		tenants []instanceState
		moves   map[types.UID]bool
		limit   int
		want    planSummary
	}{
		"no Instance":             {nil, nil, 2, planSummary{State: Idle}},
		"all have moved":          {[]instanceState{proven}, nil, 2, planSummary{State: Idle}},
		"one first":               {[]instanceState{c, a, b}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"that is ready":           {[]instanceState{newHealthyState("a", otherBuild, movingFor(0), failedWith(serverReason, 0)), b, c}, nil, 2, planSummary{Canary, "b", "", []string{"b"}}},
		"or was, with another":    {[]instanceState{newHealthyState("a", currentBuild, stalledFor("Own", 0)), newHealthyState("b", otherBuild, movingFor(0), failedWith(serverReason, 0))}, nil, 2, planSummary{Canary, "b", "", []string{"b"}}},
		"and has pods":            {[]instanceState{newHealthyState("a", currentBuild, withHibernate), b}, nil, 2, planSummary{Canary, "b", "", []string{"b"}}},
		"none may move":           {[]instanceState{a}, nil, 0, planSummary{State: Idle}},
		"the canary must move":    {[]instanceState{a, b, c}, uidSet("b"), 2, planSummary{Canary, "b", "", []string{"b"}}},
		"it is on its way":        {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(time.Minute)), c}, uidSet("b"), 2, planSummary{Canary, "b", "", nil}},
		"it soaks":                {[]instanceState{a, newHealthyState("b", targetBuild, healthyFor(time.Minute)), c}, nil, 2, planSummary{Soaking, "b", "", nil}},
		"the first of two soaks":  {[]instanceState{a, newHealthyState("b", targetBuild, healthyFor(time.Minute)), newHealthyState("c", targetBuild, healthyFor(time.Hour/10))}, nil, 2, planSummary{Soaking, "c", "", nil}},
		"it is down for a moment": {[]instanceState{a, newHealthyState("b", targetBuild, healthyFor(soakDuration), unreadyFor(time.Minute)), c}, nil, 2, planSummary{Soaking, "b", "", nil}},
		"it soaked":               {[]instanceState{a, newHealthyState("b", targetBuild, healthyFor(soakDuration)), c, d}, nil, 2, planSummary{Rolling, "", "", []string{"a", "c"}}},
		"it is alone":             {[]instanceState{newHealthyState("a", targetBuild, healthyFor(time.Minute), withServerReason(ReasonCanary))}, nil, 2, planSummary{Soaking, "a", "", nil}},
		"none waits for a soak":   {[]instanceState{newHealthyState("a", targetBuild, healthyFor(time.Minute), withServerReason(ReasonNotReady))}, nil, 2, planSummary{State: Idle}},

		"the canary failed":                    {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(0), failedWith(serverReason, 0))}, nil, 2, planSummary{Halted, "", "b", nil}},
		"the first of the failed":              {[]instanceState{newHealthyState("z", targetBuild, movingFor(0), failedWith(serverReason, 0)), newHealthyState("b", targetBuild, movingFor(0), failedWith(serverReason, 0))}, nil, 2, planSummary{Halted, "", "b", nil}},
		"an Instance that moves is halted":     {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(0), failedWith(serverReason, 0))}, uidSet("a"), 2, planSummary{Halted, "", "b", nil}},
		"the canary has trouble of its own":    {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(0), failedWith(instanceReason, 0))}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"the canary waits forever":             {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(time.Hour))}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"the canary was ready and fails":       {[]instanceState{a, newHealthyState("b", targetBuild, healthyFor(time.Minute), failedWith(serverReason, 0))}, nil, 2, planSummary{Halted, "", "b", nil}},
		"the canary was ready and is down":     {[]instanceState{a, newHealthyState("b", targetBuild, healthyFor(5*time.Minute), unreadyFor(3*time.Minute))}, nil, 2, planSummary{Halted, "", "b", nil}},
		"the canary was ready and is stalled":  {[]instanceState{a, newHealthyState("b", targetBuild, healthyFor(5*time.Minute), stalledFor("Own", 0))}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"what it proved stalled is no proof":   {[]instanceState{a, newHealthyState("b", targetBuild, healthyFor(time.Hour), stalledFor("Own", 55*time.Minute))}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"the image holds not the models":       {[]instanceState{a, newHealthyState("b", targetBuild, failedPreflight)}, nil, 2, planSummary{Halted, "", "b", nil}},
		"the canary was deleted":               {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(0), failedWith(serverReason, 0), withDeletion)}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"the canary was given another image":   {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(0), failedWith(serverReason, 0), withImage("server:1"))}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"the canary was suspended on its way":  {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(0), withSuspend)}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"it is tried again":                    {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(0), withServerReason(ReasonFailed))}, nil, 2, planSummary{Halted, "", "b", nil}},
		"it was retried and waits forever":     {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(time.Hour), withServerReason(ReasonFailed))}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"it was tried again, and is well":      {[]instanceState{a, newHealthyState("b", targetBuild, healthyFor(0), withServerReason(ReasonFailed))}, nil, 2, planSummary{Soaking, "b", "", nil}},
		"a failure stays when it is suspended": {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(0), failedWith(serverReason, 0), withSuspend)}, nil, 2, planSummary{Halted, "", "b", nil}},

		"three had, with the one before":        {[]instanceState{a, unhealthyOn(otherBuild, "b"), unhealthyOn(otherBuild, "c"), unhealthyOn(otherBuild, "d"), unhealthy("e")}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"two have trouble of their own":         {[]instanceState{a, unhealthy("b"), unhealthy("c")}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"so have three, and none is well":       {[]instanceState{a, unhealthy("b"), unhealthy("c"), unhealthy("d")}, nil, 2, planSummary{Halted, "", "b", nil}},
		"three, of which one is tried again":    {[]instanceState{a, newHealthyState("b", targetBuild, movingFor(0), withServerReason(ReasonFailed)), unhealthy("c"), unhealthy("d")}, nil, 2, planSummary{Halted, "", "b", nil}},
		"three, of which one has another image": {[]instanceState{a, unhealthy("b", withImage("server:1")), unhealthy("c"), unhealthy("d")}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"three, of which one never was well":    {[]instanceState{a, unhealthy("b", neverServed), unhealthy("c"), unhealthy("d")}, nil, 2, planSummary{Canary, "a", "", []string{"a"}}},
		"three, and one more soaks":             {[]instanceState{a, unhealthy("b"), unhealthy("c"), unhealthy("d"), newHealthyState("e", targetBuild, healthyFor(time.Minute))}, nil, 2, planSummary{Soaking, "e", "", nil}},

		"as many as may be":                       {[]instanceState{proven, a, b, c}, nil, 2, planSummary{Rolling, "", "", []string{"a", "b"}}},
		"one is on its way":                       {[]instanceState{proven, newHealthyState("m", targetBuild, movingFor(0)), a, b}, nil, 2, planSummary{Rolling, "", "", []string{"a"}}},
		"all that may be are on their way":        {[]instanceState{proven, newHealthyState("m", targetBuild, movingFor(0)), a}, nil, 1, planSummary{State: Rolling}},
		"one must move":                           {[]instanceState{proven, a, b, c}, uidSet("c"), 2, planSummary{Rolling, "", "", []string{"a", "c"}}},
		"one has moved":                           {[]instanceState{proven, newHealthyState("m", targetBuild), b}, uidSet("m"), 1, planSummary{Rolling, "", "", []string{"b"}}},
		"one failed":                              {[]instanceState{proven, newHealthyState("m", targetBuild, movingFor(0), failedWith(serverReason, 0)), a}, nil, 2, planSummary{Halted, "", "m", nil}},
		"one has trouble of its own":              {[]instanceState{proven, newHealthyState("m", targetBuild, movingFor(0), failedWith(instanceReason, 0)), a}, nil, 1, planSummary{Rolling, "", "", []string{"a"}}},
		"one waits forever":                       {[]instanceState{proven, newHealthyState("m", targetBuild, movingFor(time.Hour)), a}, nil, 1, planSummary{Rolling, "", "", []string{"a"}}},
		"one was ready and is down":               {[]instanceState{proven, newHealthyState("m", targetBuild, healthyFor(5*time.Minute), unreadyFor(3*time.Minute)), a}, nil, 1, planSummary{Halted, "", "m", nil}},
		"one is down long after":                  {[]instanceState{proven, newHealthyState("m", targetBuild, healthyFor(time.Hour), unreadyFor(3*time.Minute)), a}, nil, 1, planSummary{Rolling, "", "", []string{"a"}}},
		"the image holds not the models of one":   {[]instanceState{proven, newHealthyState("m", targetBuild, failedPreflight), a}, nil, 1, planSummary{Rolling, "", "", []string{"a"}}},
		"a new one fails":                         {[]instanceState{proven, newHealthyState("n", targetBuild, neverServed, movingFor(0), failedWith(serverReason, 0)), a}, nil, 1, planSummary{Rolling, "", "", []string{"a"}}},
		"a new one takes no turn":                 {[]instanceState{proven, newHealthyState("n", targetBuild, neverServed, movingFor(0)), a}, nil, 1, planSummary{Rolling, "", "", []string{"a"}}},
		"one has no server yet":                   {[]instanceState{proven, newHealthyState("x", v1alpha1.ServerBuild{})}, nil, 1, planSummary{State: Idle}},
		"one is unwell for its own reasons":       {[]instanceState{proven, newHealthyState("u", currentBuild, stalledFor("Own", 0))}, nil, 1, planSummary{State: Idle}},
		"one is being changed":                    {[]instanceState{proven, newHealthyState("u", currentBuild, unreadyFor(time.Minute))}, nil, 1, planSummary{State: Idle}},
		"one is unwell and has nothing to lose":   {[]instanceState{proven, newHealthyState("u", currentBuild, unreadyFor(0), stalledFor("Own", 0))}, nil, 1, planSummary{Rolling, "", "", []string{"u"}}},
		"one fell down right after it came":       {[]instanceState{proven, newHealthyState("u", currentBuild, healthyFor(5*time.Minute), unreadyFor(3*time.Minute))}, nil, 1, planSummary{Rolling, "", "", []string{"u"}}},
		"one is on its way to another":            {[]instanceState{proven, newHealthyState("u", otherBuild, movingFor(0))}, nil, 1, planSummary{Rolling, "", "", []string{"u"}}},
		"one that never was well is being made":   {[]instanceState{proven, newHealthyState("u", currentBuild, neverServed, movingFor(0))}, nil, 1, planSummary{State: Idle}},
		"one that never was well is stalled":      {[]instanceState{proven, newHealthyState("u", currentBuild, neverServed, movingFor(0), stalledFor("Own", 0))}, nil, 1, planSummary{Rolling, "", "", []string{"u"}}},
		"one is suspended":                        {[]instanceState{proven, newHealthyState("s", currentBuild, withSuspend)}, uidSet("s"), 1, planSummary{State: Idle}},
		"one is paused":                           {[]instanceState{proven, newHealthyState("s", currentBuild, withPause)}, uidSet("s"), 1, planSummary{State: Idle}},
		"one is paused on its way":                {[]instanceState{proven, newHealthyState("s", targetBuild, movingFor(0), withPause), a}, nil, 1, planSummary{Rolling, "", "", []string{"a"}}},
		"one is being deleted":                    {[]instanceState{proven, newHealthyState("s", currentBuild, withDeletion)}, uidSet("s"), 1, planSummary{State: Idle}},
		"one has another image":                   {[]instanceState{proven, newHealthyState("s", v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, withImage("server:9"))}, nil, 1, planSummary{State: Idle}},
		"one has another image, revision in turn": {[]instanceState{proven, newHealthyState("s", v1alpha1.ServerBuild{Image: "server:9", Revision: 1}, withImage("server:9"))}, nil, 1, planSummary{Rolling, "", "", []string{"s"}}},
		"one has another image and tries nothing": {[]instanceState{newHealthyState("s", v1alpha1.ServerBuild{Image: "server:9", Revision: 1}, withImage("server:9")), b}, nil, 1, planSummary{Canary, "b", "", []string{"b"}}},
		"one wants another image at once":         {[]instanceState{proven, newHealthyState("s", currentBuild, withImage("server:9"))}, nil, 1, planSummary{State: Idle}},
		"one wants the target before its turn":    {[]instanceState{newHealthyState("s", targetBuild, movingFor(0), withImage("server:2")), a}, nil, 1, planSummary{Canary, "s", "", nil}},
		"a window is open":                        {[]instanceState{proven, newHealthyState("w", currentBuild, window("11:00", "13:00"))}, nil, 1, planSummary{Rolling, "", "", []string{"w"}}},
		"a window is closed":                      {[]instanceState{proven, newHealthyState("w", currentBuild, window("13:00", "14:00")), b}, uidSet("w"), 1, planSummary{Rolling, "", "", []string{"b"}}},
		"a window is closed for one without pods": {[]instanceState{proven, newHealthyState("w", currentBuild, withHibernate, window("13:00", "14:00"))}, nil, 1, planSummary{Rolling, "", "", []string{"w"}}},
		"all are without pods":                    {[]instanceState{newHealthyState("a", currentBuild, withHibernate), newHealthyState("b", currentBuild, withHibernate)}, nil, 1, planSummary{Rolling, "", "", []string{"a"}}},
	} {
		got := summarizePlan(newPlan(targetBuild, Options{Limit: test.limit, Soak: soakDuration}, test.tenants, &plan{moves: test.moves}, noon))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNewInstanceBuild(t *testing.T) {
	t.Parallel()
	failed := []func(*instanceState){movingFor(0), failedWith(v1alpha1.FailureReasonServer, 0), func(state *instanceState) { state.lastHealthy = currentBuild }}
	third := v1alpha1.ServerBuild{Image: "server:1", Revision: 2}
	for name, test := range map[string]struct {
		tenants []instanceState
		image   string
		want    v1alpha1.ServerBuild
	}{
		"it is the first":                     {nil, "", targetBuild},
		"it is one of the first":              {[]instanceState{newHealthyState("n", targetBuild, neverServed, movingFor(0), func(state *instanceState) { state.lastHealthy = v1alpha1.ServerBuild{} })}, "", targetBuild},
		"none tried the target":               {[]instanceState{newHealthyState("a", currentBuild)}, "", currentBuild},
		"the canary soaks":                    {[]instanceState{newHealthyState("a", currentBuild), newHealthyState("b", targetBuild, healthyFor(time.Minute))}, "", currentBuild},
		"the canary soaked":                   {[]instanceState{newHealthyState("a", currentBuild), newHealthyState("b", targetBuild, healthyFor(soakDuration))}, "", targetBuild},
		"the target failed":                   {[]instanceState{newHealthyState("a", currentBuild), newHealthyState("b", targetBuild, failed...)}, "", currentBuild},
		"the target failed all there are":     {[]instanceState{newHealthyState("b", targetBuild, failed...)}, "", currentBuild},
		"the target failed late":              {[]instanceState{newHealthyState("a", currentBuild), newHealthyState("b", targetBuild, failed...), newHealthyState("c", targetBuild), newHealthyState("d", targetBuild)}, "", currentBuild},
		"what most have":                      {[]instanceState{newHealthyState("a", otherBuild), newHealthyState("b", currentBuild), newHealthyState("c", currentBuild), newHealthyState("d", otherBuild), newHealthyState("e", otherBuild)}, "", otherBuild},
		"of two the newer revision":           {[]instanceState{newHealthyState("a", third), newHealthyState("b", currentBuild)}, "", third},
		"of two the later name":               {[]instanceState{newHealthyState("a", third), newHealthyState("b", otherBuild)}, "", otherBuild},
		"not what one being deleted has":      {[]instanceState{newHealthyState("a", currentBuild, withDeletion)}, "", targetBuild},
		"an image of its own":                 {[]instanceState{newHealthyState("a", currentBuild)}, "server:9", v1alpha1.ServerBuild{Image: "server:9", Revision: 1}},
		"an image of its own, target proven":  {[]instanceState{newHealthyState("a", targetBuild)}, "server:9", v1alpha1.ServerBuild{Image: "server:9", Revision: 2}},
		"the target's image in its own spec":  {[]instanceState{newHealthyState("a", currentBuild)}, "server:2", targetBuild},
		"an image of its own that others had": {[]instanceState{newHealthyState("a", currentBuild)}, "server:1", currentBuild},
	} {
		p := newPlan(targetBuild, Options{Limit: 1, Soak: soakDuration}, test.tenants, nil, noon)
		state := instanceState{image: test.image}
		if got := p.decide(&state, noon).Server; got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
