// SPDX-License-Identifier: Apache-2.0

// Package wave decides when which Instance moves to the build of the server that
// is to become everybody's.
//
// A plan is a pure function of what is known of all Instances. The Wave looks at
// them, plans, and grants; an Instance moves in its own next visit.
package wave

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A tenant is what the planner of a wave knows of an Instance.
type tenant struct {
	uid types.UID
	key client.ObjectKey
	// pin is the build that it has, proven whether it was as wished with that,
	// and served whether its pods were ever ready.
	pin            v1alpha1.ServerPin
	proven, served bool
	// ready, stalled, suspended as its conditions and spec say.
	ready, stalled, suspended bool
}

func tenantOf(instance *v1alpha1.Instance) tenant {
	status, conditions := &instance.Status, instance.Status.Conditions
	return tenant{
		uid:       instance.UID,
		key:       client.ObjectKeyFromObject(instance),
		pin:       status.Server,
		proven:    status.Rollout.ProvenServer == status.Server,
		served:    status.Rollout.LastReady != "",
		ready:     meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionReady),
		stalled:   meta.IsStatusConditionTrue(conditions, v1alpha1.ConditionStalled),
		suspended: instance.Spec.Suspend || !instance.DeletionTimestamp.IsZero(),
	}
}

// moved says whether a tenant that served before has got the target and is not
// known to be well with it: it may be on its way, or have failed.
func (t tenant) moved(target v1alpha1.ServerPin) bool {
	return t.pin == target && !t.proven && t.served
}

// movable says whether a tenant may be given the target. One that is unwell with
// a build that it once was well with is left alone: a second change at a time
// helps nobody.
func (t tenant) movable(target v1alpha1.ServerPin) bool {
	return t.pin != (v1alpha1.ServerPin{}) && t.pin != target && !t.suspended && (t.ready || !t.proven)
}

// planWave chooses the tenants that move to the target next, so that at most
// limit are on their way. granted are those that were chosen before and have not
// taken it up. When one failed with the target, nobody moves.
func planWave(target v1alpha1.ServerPin, tenants []tenant, granted map[types.UID]bool, limit int) (next []tenant, halted bool) {
	moving := 0
	for _, tenant := range tenants {
		switch {
		case tenant.moved(target) && tenant.stalled:
			halted = true
		case tenant.moved(target), granted[tenant.uid] && tenant.pin != target:
			moving++
		case tenant.movable(target):
			next = append(next, tenant)
		}
	}
	if halted {
		return nil, true
	}
	slices.SortFunc(next, func(one, other tenant) int {
		return cmp.Or(cmp.Compare(one.key.Namespace, other.key.Namespace), cmp.Compare(one.key.Name, other.key.Name))
	})
	return next[:min(len(next), max(limit-moving, 0))], false
}

// A Wave moves Instances to the server image that is to become everybody's, a
// few at a time. It only grants; an Instance moves in its own next visit.
type Wave struct {
	reader   client.Reader
	target   v1alpha1.ServerPin
	limit    int
	Interval time.Duration
	// Visits is where it asks for visits.
	Visits chan event.TypedGenericEvent[*v1alpha1.Instance]

	mutex   sync.Mutex
	granted map[types.UID]bool
	// halted is what the last plan said, so that it is logged once.
	halted bool
}

// lookInterval is how often the wave looks who may move.
const lookInterval = 10 * time.Second

// New makes a Wave towards a target, with at most limit Instances on their
// way at a time.
func New(reader client.Reader, target v1alpha1.ServerPin, limit int) *Wave {
	return &Wave{
		reader:   reader,
		target:   target,
		limit:    limit,
		Interval: lookInterval,
		Visits:   make(chan event.TypedGenericEvent[*v1alpha1.Instance]),
		granted:  map[types.UID]bool{},
	}
}

// Start grants moves until the context ends. It implements manager.Runnable and
// runs on the leader only.
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

// advance grants what may be granted now.
func (w *Wave) advance(ctx context.Context) error {
	var list v1alpha1.InstanceList
	if err := w.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	tenants := make([]tenant, len(list.Items))
	for i := range list.Items {
		tenants[i] = tenantOf(&list.Items[i])
	}
	for _, next := range w.grant(ctx, tenants) {
		instance := &v1alpha1.Instance{}
		instance.Namespace, instance.Name = next.key.Namespace, next.key.Name
		select {
		case w.Visits <- event.TypedGenericEvent[*v1alpha1.Instance]{Object: instance}:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// grant plans and remembers whom it chose until they show that they moved.
func (w *Wave) grant(ctx context.Context, tenants []tenant) []tenant {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	pending := map[types.UID]bool{}
	for _, tenant := range tenants {
		pending[tenant.uid] = w.granted[tenant.uid] && tenant.pin != w.target && !tenant.suspended
	}
	w.granted = pending
	next, halted := planWave(w.target, tenants, w.granted, w.limit)
	if halted && !w.halted {
		log.FromContext(ctx).Info("an Instance failed with the server image: no other moves to it", "image", w.target.Image)
	}
	w.halted = halted
	for _, tenant := range next {
		w.granted[tenant.uid] = true
	}
	return next
}

// IsGranted says whether an Instance may move now. The grant stays until the
// cache shows that it was taken up, so that a visit whose status could not be
// written may try again.
func (w *Wave) IsGranted(uid types.UID) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.granted[uid]
}
