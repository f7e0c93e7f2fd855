// SPDX-License-Identifier: Apache-2.0

// Package outcome completes the reconciles of all controllers: it classifies and counts
// their failures, and decides when the object is reconciled again. Package problem defines
// the errors, and the controllers write the conditions.
package outcome

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// An Outcome is the result of a reconcile, as a metric label.
type Outcome string

// All outcomes.
const (
	Ready     Outcome = "ready"
	Waiting   Outcome = "waiting"
	Stalled   Outcome = "stalled"
	Transient Outcome = "transient"
	Suspended Outcome = "suspended"
	Deleted   Outcome = "deleted"
	Conflict  Outcome = "conflict"
)

// FromFailures returns the outcome for the worst of the failures.
func FromFailures(failures []error) Outcome {
	worst := problem.Worst(failures)
	found := problem.FromError(worst)
	switch {
	case worst == nil:
		return Ready
	case found == nil:
		return Transient
	case found.Stalled:
		return Stalled
	}
	return Waiting
}

const (
	// minBackoff is the first delay after a conflict or a transient error. The delay doubles
	// with each consecutive failure.
	minBackoff = 200 * time.Millisecond
	// maxConflictBackoff bounds the backoff after conflicts.
	maxConflictBackoff = time.Minute
	// reconcileTimeout bounds one reconcile, so that a hanging request cannot block a worker
	// for longer.
	reconcileTimeout = time.Minute
)

// ControllerOptions returns options with a backoff per object, of at most maxBackoff after
// transient errors, and without an overall rate limit: many failing objects must not
// starve the healthy ones.
func ControllerOptions(maxConcurrentReconciles int, maxBackoff time.Duration) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: maxConcurrentReconciles,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minBackoff, maxBackoff),
		ReconciliationTimeout:   reconcileTimeout,
	}
}

// A Tracker counts the reconciles of one controller by outcome, and backs off after write
// conflicts. A conflict means that another client, often the operator itself in an earlier
// reconcile, wrote the object and the cache does not show the write yet. Conflicts do not
// count as failed reconciles.
type Tracker struct {
	// Reconciles counts reconciles by outcome.
	Reconciles      *prometheus.CounterVec
	conflictBackoff workqueue.TypedRateLimiter[reconcile.Request]
}

// NewTracker returns a tracker that counts in the given metric, which has the label outcome,
// and registers it.
func NewTracker(registry prometheus.Registerer, reconciles *prometheus.CounterVec) (*Tracker, error) {
	if err := registry.Register(reconciles); err != nil {
		return nil, fmt.Errorf("registering the reconcile counter: %w", err)
	}
	return &Tracker{
		Reconciles:      reconciles,
		conflictBackoff: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minBackoff, maxConflictBackoff),
	}, nil
}

// Count counts one reconcile.
func (t *Tracker) Count(outcome Outcome) {
	t.Reconciles.WithLabelValues(string(outcome)).Inc()
}

// RetryConflict returns the result of a reconcile. If it ended with a write conflict,
// RetryConflict counts it and requeues the request with backoff.
func (t *Tracker) RetryConflict(ctx context.Context, request ctrl.Request, result ctrl.Result, err error) (ctrl.Result, error) {
	if problem.IsConflict(err) {
		t.Count(Conflict)
		log.FromContext(ctx).V(1).Info("retrying after write conflict", "error", err.Error())
		return ctrl.Result{RequeueAfter: t.conflictBackoff.When(request)}, nil
	}
	t.conflictBackoff.Forget(request)
	return result, err
}

// Finish reports the failures of a reconcile with the given function, and returns the
// result: an error for a transient failure, else a requeue after the shortest delay that a
// failure requests, or after resync. A resync of zero means none. A conflict is not
// reported, because it means that the inputs of the reconcile are stale.
func Finish(failures []error, resync time.Duration, report func() error) (ctrl.Result, error) {
	transient := problem.FirstTransient(failures)
	if problem.IsConflict(transient) {
		return ctrl.Result{}, transient
	}
	if err := report(); err != nil {
		return ctrl.Result{}, err
	}
	if transient != nil {
		return ctrl.Result{}, transient
	}
	return ctrl.Result{RequeueAfter: requeueAfter(failures, resync)}, nil
}

// requeueAfter returns the shortest positive delay, or zero if no delay is positive.
func requeueAfter(failures []error, resync time.Duration) time.Duration {
	delay := resync
	for _, failure := range failures {
		found := problem.FromError(failure)
		if found != nil && found.RequeueAfter > 0 && (delay == 0 || found.RequeueAfter < delay) {
			delay = found.RequeueAfter
		}
	}
	return delay
}
