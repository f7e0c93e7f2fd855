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
// of scheduled moves, so a restarted operator resumes the rollout.
//
//	wave.go            reads all Instances, plans, and requests reconciles
//	instance_state.go  the state of one Instance
//	fault.go           the cause of an unhealthy Instance
//	plan.go            the next moves and the state of the rollout
//	decision.go        the decision and messages for one Instance
//	window.go          maintenance windows
//	transitions.go     events
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
	// planInterval is the interval at which the rollout is planned.
	planInterval = 10 * time.Second
	// maxPlanAge is the maximum age of a plan that selects the build of a new Instance.
	maxPlanAge = time.Second
	// maxConditionUpdates is the maximum number of Instances per plan that are reconciled
	// only to update their condition. A halt affects all waiting Instances, and their
	// reconciles must not delay others.
	maxConditionUpdates = 200
)

// Options configure a Wave.
type Options struct {
	// Limit is how many Instances may move at the same time.
	Limit int
	// Soak is how long an Instance must be healthy on a build before the build is proven.
	Soak time.Duration
}

// A Wave observes all Instances and decides which build each Instance runs. An Instance
// moves in its next reconcile, which the Wave requests.
type Wave struct {
	reader  client.Reader
	target  v1alpha1.ServerBuild
	options Options
	now     func() time.Time
	// Interval is the interval at which the Wave plans.
	Interval time.Duration
	// Requests receives the Instances to reconcile.
	Requests chan event.TypedGenericEvent[*v1alpha1.Instance]

	mutex sync.Mutex
	// plan was derived from instances at plannedAt. It is nil until the first plan.
	plan      *plan
	instances []instanceState
	plannedAt time.Time
	// requested holds the decisions for which a reconcile was requested and that the
	// Instances' conditions do not report yet.
	requested map[types.UID]Decision
	reasons   map[Reason]int
}

// New creates a Wave that moves Instances to target.
func New(reader client.Reader, target v1alpha1.ServerBuild, options Options) *Wave {
	return &Wave{
		reader:   reader,
		target:   target,
		options:  options,
		now:      time.Now,
		Interval: planInterval,
		Requests: make(chan event.TypedGenericEvent[*v1alpha1.Instance]),
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

// Decide returns the decision for one Instance, based on the latest plan. For a new
// Instance, it replans immediately, so that the Instance never starts on a build that has
// just failed. It returns an error only if the required plan cannot be made.
func (w *Wave) Decide(ctx context.Context, instance *v1alpha1.Instance) (Decision, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now, state := w.now(), newInstanceState(instance)
	if w.plan == nil || state.isNew() && now.Sub(w.plannedAt) > maxPlanAge {
		if err := w.refresh(ctx, now); err != nil {
			return Decision{}, fmt.Errorf("planning the server image rollout: %w", err)
		}
	}
	return w.plan.decide(&state, now), nil
}

// Summary returns the state of the rollout and the number of Instances by reason. planned
// is false until the first plan.
func (w *Wave) Summary() (state State, reasons map[Reason]int, planned bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.reasons == nil {
		return "", nil, false
	}
	return w.plan.state, maps.Clone(w.reasons), true
}

// advance plans the rollout and requests the resulting reconciles.
func (w *Wave) advance(ctx context.Context) error {
	due, err := w.refreshAndListDue(ctx)
	if err != nil {
		return err
	}
	for _, key := range due {
		instance := &v1alpha1.Instance{}
		instance.Namespace, instance.Name = key.Namespace, key.Name
		select {
		case w.Requests <- event.TypedGenericEvent[*v1alpha1.Instance]{Object: instance}:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

func (w *Wave) refreshAndListDue(ctx context.Context) ([]client.ObjectKey, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now := w.now()
	if err := w.refresh(ctx, now); err != nil {
		return nil, err
	}
	return w.dueInstances(now), nil
}

// refresh reads all Instances and replans. It reads them from the cache without copying,
// because nothing modifies them.
func (w *Wave) refresh(ctx context.Context, now time.Time) error {
	var list v1alpha1.InstanceList
	if err := w.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing Instances: %w", err)
	}
	w.instances = w.instances[:0]
	for i := range list.Items {
		w.instances = append(w.instances, newInstanceState(&list.Items[i]))
	}
	w.replan(ctx, now)
	return nil
}

// replan makes a plan from the Instances that were last read.
func (w *Wave) replan(ctx context.Context, now time.Time) {
	before := Idle
	if w.plan != nil {
		before = w.plan.state
	}
	w.plan, w.plannedAt = newPlan(w.target, w.options, w.instances, w.plan, now), now
	if w.plan.state != before {
		log.FromContext(ctx).Info("server image rollout changed state", "state", w.plan.state, "image", w.target.Image, "instance", w.plan.subject())
	}
}

// dueInstances returns the Instances whose condition does not report their decision and
// for which no reconcile was requested yet. Moving Instances come first.
func (w *Wave) dueInstances(now time.Time) []client.ObjectKey {
	var moves, others []client.ObjectKey
	requested := map[types.UID]Decision{}
	w.reasons = map[Reason]int{}
	for i := range w.instances {
		instance := &w.instances[i]
		if instance.deleted || instance.isNew() {
			continue
		}
		decision := w.plan.decide(instance, now)
		w.reasons[decision.Reason]++
		if instance.hasReported(decision) {
			continue
		}
		switch {
		case w.requested[instance.uid] == decision:
		case w.plan.moves[instance.uid]:
			moves = append(moves, instance.key)
		case len(others) < maxConditionUpdates:
			others = append(others, instance.key)
		default:
			continue
		}
		requested[instance.uid] = decision
	}
	w.requested = requested
	return append(moves, others...)
}
