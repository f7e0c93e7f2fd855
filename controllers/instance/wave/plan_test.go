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

// planned is a plan in comparable form.
type planned struct {
	State          State
	Canary, Failed string
	Moves          []string
}

func plannedBy(p *plan) planned {
	got := planned{State: p.state}
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

func moving(names ...string) map[types.UID]bool {
	moves := map[types.UID]bool{}
	for _, name := range names {
		moves[types.UID(name)] = true
	}
	return moves
}

func TestPlan(t *testing.T) {
	t.Parallel()
	byServer, byTenant := v1alpha1.FailureReasonServer, v1alpha1.FailureReasonInstance
	refused := func(one *tenant) {
		onItsWay(time.Minute)(one)
		stalledBy("ModelsUnavailable", time.Minute)(one)
		one.refused = true
	}
	window := func(start, end v1alpha1.TimeOfDay) func(*tenant) {
		return func(one *tenant) { one.window = &v1alpha1.MaintenanceWindow{Start: start, End: end} }
	}
	ownTrouble := func(name string, changes ...func(*tenant)) tenant {
		return settled(name, newServer, append([]func(*tenant){onItsWay(0), failedWith(byTenant, 0)}, changes...)...)
	}
	ownTroubleWith := func(server v1alpha1.ServerBuild, name string) tenant {
		one := settled(name, server, onItsWay(0), failedWith(byTenant, 0))
		one.failure.server = server
		return one
	}
	a, b, c, d := settled("a", oldServer), settled("b", oldServer), settled("c", oldServer), settled("d", oldServer)
	proof := settled("proof", newServer)
	for name, test := range map[string]struct {
		tenants []tenant
		moves   map[types.UID]bool
		limit   int
		want    planned
	}{
		"no Instance":             {nil, nil, 2, planned{State: Idle}},
		"all have moved":          {[]tenant{proof}, nil, 2, planned{State: Idle}},
		"one first":               {[]tenant{c, a, b}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"that is ready":           {[]tenant{settled("a", lastServer, onItsWay(0), failedWith(byServer, 0)), b, c}, nil, 2, planned{Canary, "b", "", []string{"b"}}},
		"or was, with another":    {[]tenant{settled("a", oldServer, stalledBy("Own", 0)), settled("b", lastServer, onItsWay(0), failedWith(byServer, 0))}, nil, 2, planned{Canary, "b", "", []string{"b"}}},
		"and has pods":            {[]tenant{settled("a", oldServer, hibernated), b}, nil, 2, planned{Canary, "b", "", []string{"b"}}},
		"none may move":           {[]tenant{a}, nil, 0, planned{State: Idle}},
		"the canary must move":    {[]tenant{a, b, c}, moving("b"), 2, planned{Canary, "b", "", []string{"b"}}},
		"it is on its way":        {[]tenant{a, settled("b", newServer, onItsWay(time.Minute)), c}, moving("b"), 2, planned{Canary, "b", "", nil}},
		"it soaks":                {[]tenant{a, settled("b", newServer, provenFor(time.Minute)), c}, nil, 2, planned{Soaking, "b", "", nil}},
		"the first of two soaks":  {[]tenant{a, settled("b", newServer, provenFor(time.Minute)), settled("c", newServer, provenFor(time.Hour/10))}, nil, 2, planned{Soaking, "c", "", nil}},
		"it is down for a moment": {[]tenant{a, settled("b", newServer, provenFor(soak), downFor(time.Minute)), c}, nil, 2, planned{Soaking, "b", "", nil}},
		"it soaked":               {[]tenant{a, settled("b", newServer, provenFor(soak)), c, d}, nil, 2, planned{Rolling, "", "", []string{"a", "c"}}},
		"it is alone":             {[]tenant{settled("a", newServer, provenFor(time.Minute), told(ReasonCanary))}, nil, 2, planned{Soaking, "a", "", nil}},
		"none waits for a soak":   {[]tenant{settled("a", newServer, provenFor(time.Minute), told(ReasonNotReady))}, nil, 2, planned{State: Idle}},

		"the canary failed":                    {[]tenant{a, settled("b", newServer, onItsWay(0), failedWith(byServer, 0))}, nil, 2, planned{Halted, "", "b", nil}},
		"the first of the failed":              {[]tenant{settled("z", newServer, onItsWay(0), failedWith(byServer, 0)), settled("b", newServer, onItsWay(0), failedWith(byServer, 0))}, nil, 2, planned{Halted, "", "b", nil}},
		"an Instance that moves is halted":     {[]tenant{a, settled("b", newServer, onItsWay(0), failedWith(byServer, 0))}, moving("a"), 2, planned{Halted, "", "b", nil}},
		"the canary has trouble of its own":    {[]tenant{a, settled("b", newServer, onItsWay(0), failedWith(byTenant, 0))}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"the canary waits forever":             {[]tenant{a, settled("b", newServer, onItsWay(time.Hour))}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"the canary was ready and fails":       {[]tenant{a, settled("b", newServer, provenFor(time.Minute), failedWith(byServer, 0))}, nil, 2, planned{Halted, "", "b", nil}},
		"the canary was ready and is down":     {[]tenant{a, settled("b", newServer, provenFor(5*time.Minute), downFor(3*time.Minute))}, nil, 2, planned{Halted, "", "b", nil}},
		"the canary was ready and is stalled":  {[]tenant{a, settled("b", newServer, provenFor(5*time.Minute), stalledBy("Own", 0))}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"what it proved stalled is no proof":   {[]tenant{a, settled("b", newServer, provenFor(time.Hour), stalledBy("Own", 55*time.Minute))}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"the image holds not the models":       {[]tenant{a, settled("b", newServer, refused)}, nil, 2, planned{Halted, "", "b", nil}},
		"the canary was deleted":               {[]tenant{a, settled("b", newServer, onItsWay(0), failedWith(byServer, 0), deleted)}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"the canary was given another image":   {[]tenant{a, settled("b", newServer, onItsWay(0), failedWith(byServer, 0), image("server:1"))}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"the canary was suspended on its way":  {[]tenant{a, settled("b", newServer, onItsWay(0), suspended)}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"it is tried again":                    {[]tenant{a, settled("b", newServer, onItsWay(0), told(ReasonFailed))}, nil, 2, planned{Halted, "", "b", nil}},
		"it was retried and waits forever":     {[]tenant{a, settled("b", newServer, onItsWay(time.Hour), told(ReasonFailed))}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"it was tried again, and is well":      {[]tenant{a, settled("b", newServer, provenFor(0), told(ReasonFailed))}, nil, 2, planned{Soaking, "b", "", nil}},
		"a failure stays when it is suspended": {[]tenant{a, settled("b", newServer, onItsWay(0), failedWith(byServer, 0), suspended)}, nil, 2, planned{Halted, "", "b", nil}},

		"three had, with the one before":        {[]tenant{a, ownTroubleWith(lastServer, "b"), ownTroubleWith(lastServer, "c"), ownTroubleWith(lastServer, "d"), ownTrouble("e")}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"two have trouble of their own":         {[]tenant{a, ownTrouble("b"), ownTrouble("c")}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"so have three, and none is well":       {[]tenant{a, ownTrouble("b"), ownTrouble("c"), ownTrouble("d")}, nil, 2, planned{Halted, "", "b", nil}},
		"three, of which one is tried again":    {[]tenant{a, settled("b", newServer, onItsWay(0), told(ReasonFailed)), ownTrouble("c"), ownTrouble("d")}, nil, 2, planned{Halted, "", "b", nil}},
		"three, of which one has another image": {[]tenant{a, ownTrouble("b", image("server:1")), ownTrouble("c"), ownTrouble("d")}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"three, of which one never was well":    {[]tenant{a, ownTrouble("b", newborn), ownTrouble("c"), ownTrouble("d")}, nil, 2, planned{Canary, "a", "", []string{"a"}}},
		"three, and one more soaks":             {[]tenant{a, ownTrouble("b"), ownTrouble("c"), ownTrouble("d"), settled("e", newServer, provenFor(time.Minute))}, nil, 2, planned{Soaking, "e", "", nil}},

		"as many as may be":                       {[]tenant{proof, a, b, c}, nil, 2, planned{Rolling, "", "", []string{"a", "b"}}},
		"one is on its way":                       {[]tenant{proof, settled("m", newServer, onItsWay(0)), a, b}, nil, 2, planned{Rolling, "", "", []string{"a"}}},
		"all that may be are on their way":        {[]tenant{proof, settled("m", newServer, onItsWay(0)), a}, nil, 1, planned{State: Rolling}},
		"one must move":                           {[]tenant{proof, a, b, c}, moving("c"), 2, planned{Rolling, "", "", []string{"a", "c"}}},
		"one has moved":                           {[]tenant{proof, settled("m", newServer), b}, moving("m"), 1, planned{Rolling, "", "", []string{"b"}}},
		"one failed":                              {[]tenant{proof, settled("m", newServer, onItsWay(0), failedWith(byServer, 0)), a}, nil, 2, planned{Halted, "", "m", nil}},
		"one has trouble of its own":              {[]tenant{proof, settled("m", newServer, onItsWay(0), failedWith(byTenant, 0)), a}, nil, 1, planned{Rolling, "", "", []string{"a"}}},
		"one waits forever":                       {[]tenant{proof, settled("m", newServer, onItsWay(time.Hour)), a}, nil, 1, planned{Rolling, "", "", []string{"a"}}},
		"one was ready and is down":               {[]tenant{proof, settled("m", newServer, provenFor(5*time.Minute), downFor(3*time.Minute)), a}, nil, 1, planned{Halted, "", "m", nil}},
		"one is down long after":                  {[]tenant{proof, settled("m", newServer, provenFor(time.Hour), downFor(3*time.Minute)), a}, nil, 1, planned{Rolling, "", "", []string{"a"}}},
		"the image holds not the models of one":   {[]tenant{proof, settled("m", newServer, refused), a}, nil, 1, planned{Rolling, "", "", []string{"a"}}},
		"a new one fails":                         {[]tenant{proof, settled("n", newServer, newborn, onItsWay(0), failedWith(byServer, 0)), a}, nil, 1, planned{Rolling, "", "", []string{"a"}}},
		"a new one takes no turn":                 {[]tenant{proof, settled("n", newServer, newborn, onItsWay(0)), a}, nil, 1, planned{Rolling, "", "", []string{"a"}}},
		"one has no server yet":                   {[]tenant{proof, settled("x", v1alpha1.ServerBuild{})}, nil, 1, planned{State: Idle}},
		"one is unwell for its own reasons":       {[]tenant{proof, settled("u", oldServer, stalledBy("Own", 0))}, nil, 1, planned{State: Idle}},
		"one is being changed":                    {[]tenant{proof, settled("u", oldServer, downFor(time.Minute))}, nil, 1, planned{State: Idle}},
		"one is unwell and has nothing to lose":   {[]tenant{proof, settled("u", oldServer, downFor(0), stalledBy("Own", 0))}, nil, 1, planned{Rolling, "", "", []string{"u"}}},
		"one fell down right after it came":       {[]tenant{proof, settled("u", oldServer, provenFor(5*time.Minute), downFor(3*time.Minute))}, nil, 1, planned{Rolling, "", "", []string{"u"}}},
		"one is on its way to another":            {[]tenant{proof, settled("u", lastServer, onItsWay(0))}, nil, 1, planned{Rolling, "", "", []string{"u"}}},
		"one that never was well is being made":   {[]tenant{proof, settled("u", oldServer, newborn, onItsWay(0))}, nil, 1, planned{State: Idle}},
		"one that never was well is stalled":      {[]tenant{proof, settled("u", oldServer, newborn, onItsWay(0), stalledBy("Own", 0))}, nil, 1, planned{Rolling, "", "", []string{"u"}}},
		"one is suspended":                        {[]tenant{proof, settled("s", oldServer, suspended)}, moving("s"), 1, planned{State: Idle}},
		"one is paused":                           {[]tenant{proof, settled("s", oldServer, paused)}, moving("s"), 1, planned{State: Idle}},
		"one is paused on its way":                {[]tenant{proof, settled("s", newServer, onItsWay(0), paused), a}, nil, 1, planned{Rolling, "", "", []string{"a"}}},
		"one is being deleted":                    {[]tenant{proof, settled("s", oldServer, deleted)}, moving("s"), 1, planned{State: Idle}},
		"one has another image":                   {[]tenant{proof, settled("s", v1alpha1.ServerBuild{Image: "server:9", Revision: 2}, image("server:9"))}, nil, 1, planned{State: Idle}},
		"one has another image, revision in turn": {[]tenant{proof, settled("s", v1alpha1.ServerBuild{Image: "server:9", Revision: 1}, image("server:9"))}, nil, 1, planned{Rolling, "", "", []string{"s"}}},
		"one has another image and tries nothing": {[]tenant{settled("s", v1alpha1.ServerBuild{Image: "server:9", Revision: 1}, image("server:9")), b}, nil, 1, planned{Canary, "b", "", []string{"b"}}},
		"one wants another image at once":         {[]tenant{proof, settled("s", oldServer, image("server:9"))}, nil, 1, planned{State: Idle}},
		"one wants the target before its turn":    {[]tenant{settled("s", newServer, onItsWay(0), image("server:2")), a}, nil, 1, planned{Canary, "s", "", nil}},
		"a window is open":                        {[]tenant{proof, settled("w", oldServer, window("11:00", "13:00"))}, nil, 1, planned{Rolling, "", "", []string{"w"}}},
		"a window is closed":                      {[]tenant{proof, settled("w", oldServer, window("13:00", "14:00")), b}, moving("w"), 1, planned{Rolling, "", "", []string{"b"}}},
		"a window is closed for one without pods": {[]tenant{proof, settled("w", oldServer, hibernated, window("13:00", "14:00"))}, nil, 1, planned{Rolling, "", "", []string{"w"}}},
		"all are without pods":                    {[]tenant{settled("a", oldServer, hibernated), settled("b", oldServer, hibernated)}, nil, 1, planned{Rolling, "", "", []string{"a"}}},
	} {
		got := plannedBy(newPlan(newServer, Options{Limit: test.limit, Soak: soak}, test.tenants, &plan{moves: test.moves}, noon))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestStartOfANewInstance(t *testing.T) {
	t.Parallel()
	failed := []func(*tenant){onItsWay(0), failedWith(v1alpha1.FailureReasonServer, 0), func(one *tenant) { one.proven = oldServer }}
	third := v1alpha1.ServerBuild{Image: "server:1", Revision: 2}
	for name, test := range map[string]struct {
		tenants []tenant
		image   string
		want    v1alpha1.ServerBuild
	}{
		"it is the first":                     {nil, "", newServer},
		"it is one of the first":              {[]tenant{settled("n", newServer, newborn, onItsWay(0), func(one *tenant) { one.proven = v1alpha1.ServerBuild{} })}, "", newServer},
		"none tried the target":               {[]tenant{settled("a", oldServer)}, "", oldServer},
		"the canary soaks":                    {[]tenant{settled("a", oldServer), settled("b", newServer, provenFor(time.Minute))}, "", oldServer},
		"the canary soaked":                   {[]tenant{settled("a", oldServer), settled("b", newServer, provenFor(soak))}, "", newServer},
		"the target failed":                   {[]tenant{settled("a", oldServer), settled("b", newServer, failed...)}, "", oldServer},
		"the target failed all there are":     {[]tenant{settled("b", newServer, failed...)}, "", oldServer},
		"the target failed late":              {[]tenant{settled("a", oldServer), settled("b", newServer, failed...), settled("c", newServer), settled("d", newServer)}, "", oldServer},
		"what most have":                      {[]tenant{settled("a", lastServer), settled("b", oldServer), settled("c", oldServer), settled("d", lastServer), settled("e", lastServer)}, "", lastServer},
		"of two the newer revision":           {[]tenant{settled("a", third), settled("b", oldServer)}, "", third},
		"of two the later name":               {[]tenant{settled("a", third), settled("b", lastServer)}, "", lastServer},
		"not what one being deleted has":      {[]tenant{settled("a", oldServer, deleted)}, "", newServer},
		"an image of its own":                 {[]tenant{settled("a", oldServer)}, "server:9", v1alpha1.ServerBuild{Image: "server:9", Revision: 1}},
		"an image of its own, target proven":  {[]tenant{settled("a", newServer)}, "server:9", v1alpha1.ServerBuild{Image: "server:9", Revision: 2}},
		"the target's image in its own spec":  {[]tenant{settled("a", oldServer)}, "server:2", newServer},
		"an image of its own that others had": {[]tenant{settled("a", oldServer)}, "server:1", oldServer},
	} {
		p := newPlan(newServer, Options{Limit: 1, Soak: soak}, test.tenants, nil, noon)
		one := tenant{image: test.image}
		if got := p.decide(&one, noon).Server; got != test.want {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}
