// SPDX-License-Identifier: Apache-2.0

// Package wave rolls out new server builds: it decides which build each Instance runs
// and when it moves to the target build.
//
// One Instance, the canary, tries the target first. Once it has been healthy for the
// soak time, the others follow, a few at a time. If the target fails on an Instance, no
// further Instance moves. A problem of the Instance itself does not stop the others.
//
// A plan is a pure function of the known state of all Instances, and a decision is a
// pure function of a plan and one Instance. The only state kept in memory is the set
// of Instances that must move and have not done so yet, so a restarted operator resumes
// the rollout.
//
//	wave.go          reads all Instances, plans, and requests reconciles
//	tenant.go        the state of one Instance
//	fault.go         the cause of an unhealthy Instance
//	plan.go          which Instances move, and the state of the rollout
//	decision.go      the decision and messages for one Instance
//	window.go        maintenance windows
//	transitions.go   events
package wave

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	// lookInterval is the interval between looks at all Instances.
	lookInterval = 10 * time.Second
	// freshness is the maximum age of the plan from which the build of a new Instance is
	// chosen.
	freshness = time.Second
	// tellLimit is how many Instances per look are reconciled only to update their
	// condition. A halt concerns all waiting Instances, and their reconciles must not delay
	// others.
	tellLimit = 200
)

// Options are the administrator's settings for rollouts.
type Options struct {
	// Limit is how many Instances may move at the same time.
	Limit int
	// Soak is how long an Instance must be healthy on a build to prove it.
	Soak time.Duration
}

// A Wave observes all Instances and decides for each which build it runs. The Instance
// moves in its own next reconcile, which the Wave requests.
type Wave struct {
	reader  client.Reader
	target  v1alpha1.ServerBuild
	options Options
	now     func() time.Time
	// Interval is the interval between looks at all Instances.
	Interval time.Duration
	// Visits receives the requested reconciles.
	Visits chan event.TypedGenericEvent[*v1alpha1.Instance]

	mutex sync.Mutex
	// plan is derived from tenants, read at the time of the last look. Nil before the first
	// look.
	plan    *plan
	tenants []tenant
	looked  time.Time
	// asked are the decisions for which a reconcile was requested and which the Instances'
	// conditions do not show yet.
	asked   map[types.UID]Decision
	reasons map[Reason]int
}

// New creates a Wave that moves Instances to target.
func New(reader client.Reader, target v1alpha1.ServerBuild, options Options) *Wave {
	return &Wave{
		reader:   reader,
		target:   target,
		options:  options,
		now:      time.Now,
		Interval: lookInterval,
		Visits:   make(chan event.TypedGenericEvent[*v1alpha1.Instance]),
	}
}

// Start plans and requests reconciles until the context ends. It implements
// manager.Runnable and runs on the leader only.
func (w *Wave) Start(ctx context.Context) error {
	ticker := time.NewTicker(w.Interval)
	defer ticker.Stop()
	for {
		if err := w.advance(ctx); err != nil {
			log.FromContext(ctx).Error(err, "failed to plan the server image rollout")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Decide returns the decision for one Instance, based on the last plan. For a new
// Instance it plans again immediately, so that the Instance never starts on a build that
// has just failed. It returns an error only if there is no plan yet and none can be
// made.
func (w *Wave) Decide(ctx context.Context, instance *v1alpha1.Instance) (Decision, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now, one := w.now(), tenantOf(instance)
	if w.plan == nil || one.isNew() && now.Sub(w.looked) > freshness {
		if err := w.look(ctx, now); err != nil {
			return Decision{}, fmt.Errorf("planning the server image rollout: %w", err)
		}
	}
	return w.plan.decide(&one, now), nil
}

// Summary returns the state of the rollout and the number of Instances by reason. looked
// is false before the first look.
func (w *Wave) Summary() (state State, reasons map[Reason]int, looked bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.reasons == nil {
		return "", nil, false
	}
	return w.plan.state, maps.Clone(w.reasons), true
}

// advance plans, and requests the reconciles that follow from the plan.
func (w *Wave) advance(ctx context.Context) error {
	due, err := w.lookForVisits(ctx)
	if err != nil {
		return err
	}
	for _, key := range due {
		instance := &v1alpha1.Instance{}
		instance.Namespace, instance.Name = key.Namespace, key.Name
		select {
		case w.Visits <- event.TypedGenericEvent[*v1alpha1.Instance]{Object: instance}:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

func (w *Wave) lookForVisits(ctx context.Context) ([]client.ObjectKey, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now := w.now()
	if err := w.look(ctx, now); err != nil {
		return nil, err
	}
	return w.dueVisits(now), nil
}

// look reads all Instances and plans. It reads them from the cache without copying,
// because nothing modifies them.
func (w *Wave) look(ctx context.Context, now time.Time) error {
	var list v1alpha1.InstanceList
	if err := w.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing Instances: %w", err)
	}
	w.tenants = w.tenants[:0]
	for i := range list.Items {
		w.tenants = append(w.tenants, tenantOf(&list.Items[i]))
	}
	w.consider(ctx, now)
	return nil
}

// consider plans with the tenants of the last look.
func (w *Wave) consider(ctx context.Context, now time.Time) {
	before := Idle
	if w.plan != nil {
		before = w.plan.state
	}
	w.plan, w.looked = newPlan(w.target, w.options, w.tenants, w.plan, now), now
	if w.plan.state != before {
		log.FromContext(ctx).Info("server image rollout changed state", "state", w.plan.state, "image", w.target.Image, "instance", w.plan.concerns())
	}
}

// dueVisits returns the Instances whose condition does not show their decision and that
// were not requested to reconcile before. Instances that move come first.
func (w *Wave) dueVisits(now time.Time) []client.ObjectKey {
	var moves, others []client.ObjectKey
	asked := map[types.UID]Decision{}
	w.reasons = map[Reason]int{}
	for i := range w.tenants {
		one := &w.tenants[i]
		if one.deleted || one.isNew() {
			continue
		}
		decision := w.plan.decide(one, now)
		w.reasons[decision.Reason]++
		if one.tells(decision) {
			continue
		}
		switch {
		case w.asked[one.uid] == decision:
		case w.plan.moves[one.uid]:
			moves = append(moves, one.key)
		case len(others) < tellLimit:
			others = append(others, one.key)
		default:
			continue
		}
		asked[one.uid] = decision
	}
	w.asked = asked
	return append(moves, others...)
}
