// SPDX-License-Identifier: Apache-2.0

// Package wave decides which build of the server each Instance has, and when one
// moves to the build that all are to have.
//
// One Instance tries that build first: the canary. When it has been well with it
// for the time of the soak, the others follow, a few at a time. When the build
// fails one, nobody moves any more; trouble of an Instance's own stops nobody
// else.
//
// A plan is a pure function of what is known of all Instances, and a decision of
// a plan and one of them. Nothing is remembered that the Instances do not say
// themselves, but who was told to move and has not yet done so: an operator that
// starts again goes on where the last one was.
//
//	wave.go         looks at all, plans, and asks for visits
//	tenant.go       what is known of one Instance
//	fault.go        whose trouble it is that one is not well
//	plan.go         who moves, and how far the wave is
//	decision.go     what follows for one Instance, in words
//	window.go       times of day
//	transitions.go  the events that are worth it
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
	// lookInterval is how often the wave looks who may move.
	lookInterval = 10 * time.Second
	// freshness is how old a look may be that a new Instance's server is chosen
	// by.
	freshness = time.Second
	// tellLimit is how many Instances are asked for a visit in one look only so
	// that they say what has changed for them: a halt concerns all that wait, and
	// their visits must not keep others from theirs.
	tellLimit = 200
)

// Options are what an administrator decides about a wave.
type Options struct {
	// Limit is how many Instances may be on their way at a time.
	Limit int
	// Soak is how long an Instance must have been well with a build before that
	// counts as a proof.
	Soak time.Duration
}

// A Wave looks at all Instances and decides for each. An Instance moves in its
// own next visit, which the wave asks for.
type Wave struct {
	reader  client.Reader
	target  v1alpha1.ServerPin
	options Options
	now     func() time.Time
	// Interval is how often it looks.
	Interval time.Duration
	// Visits is where it asks for visits.
	Visits chan event.TypedGenericEvent[*v1alpha1.Instance]

	mutex sync.Mutex
	// plan follows from tenants, which were looked at then; nil before the first
	// look.
	plan    *plan
	tenants []tenant
	looked  time.Time
	// asked are the decisions that a visit was asked for and that the Instances
	// do not tell yet.
	asked   map[types.UID]Decision
	reasons map[Reason]int
}

// New makes a Wave towards a target.
func New(reader client.Reader, target v1alpha1.ServerPin, options Options) *Wave {
	return &Wave{
		reader:   reader,
		target:   target,
		options:  options,
		now:      time.Now,
		Interval: lookInterval,
		Visits:   make(chan event.TypedGenericEvent[*v1alpha1.Instance]),
	}
}

// Start looks and asks for visits until the context ends. It implements
// manager.Runnable and runs on the leader only.
func (w *Wave) Start(ctx context.Context) error {
	ticker := time.NewTicker(w.Interval)
	defer ticker.Stop()
	for {
		if err := w.advance(ctx); err != nil {
			log.FromContext(ctx).Error(err, "planning which Instances move to the server image")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Decide decides for one Instance: by the last look, and for a new one by a look
// at once, so that it never starts on a build that has just failed. It gives an
// error only when there was no look yet and none is possible.
func (w *Wave) Decide(ctx context.Context, instance *v1alpha1.Instance) (Decision, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	now, one := w.now(), tenantOf(instance)
	if w.plan == nil || one.isNew() && now.Sub(w.looked) > freshness {
		if err := w.look(ctx, now); err != nil {
			return Decision{}, fmt.Errorf("choosing a server by those of all Instances: %w", err)
		}
	}
	return w.plan.decide(&one, now), nil
}

// Summary gives how far the wave is, and how many Instances there are for each
// reason; false before the first look.
func (w *Wave) Summary() (state State, reasons map[Reason]int, looked bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.reasons == nil {
		return "", nil, false
	}
	return w.plan.state, maps.Clone(w.reasons), true
}

// advance looks, and asks for the visits that follow from it.
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

// look plans anew. The Instances are read from the cache and not copied: nothing
// changes them.
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

// consider plans with the tenants that were looked at.
func (w *Wave) consider(ctx context.Context, now time.Time) {
	before := Idle
	if w.plan != nil {
		before = w.plan.state
	}
	w.plan, w.looked = newPlan(w.target, w.options, w.tenants, w.plan, now), now
	if w.plan.state != before {
		log.FromContext(ctx).Info("the wave goes on", "state", w.plan.state, "image", w.target.Image, "instance", w.plan.concerns())
	}
}

// dueVisits are the Instances that do not tell what was decided for them, and
// were not asked to before: first those that move.
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
