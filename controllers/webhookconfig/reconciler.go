// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/cluster"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
)

// What the operator needs for WebhookConfigs besides what it needs for Instances:
// Secrets it may read and write for those.
//
// +kubebuilder:rbac:groups=anamnesis.dev,resources=webhookconfigs,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=anamnesis.dev,resources=webhookconfigs/status,verbs=patch
// +kubebuilder:rbac:groups=anamnesis.dev,resources=webhookconfigs/finalizers,verbs=update

const (
	// initialConflictBackoff and maxConflictBackoff bound the backoff between retries after
	// conflicts.
	initialConflictBackoff = 200 * time.Millisecond
	maxConflictBackoff     = time.Minute
	// resync and its jitter ensure that manual changes at an Instance's API are reverted
	// within a minute.
	resync       = 45 * time.Second
	resyncJitter = 0.25
)

// A Reconciler reconciles WebhookConfigs.
type Reconciler struct {
	client client.Client
	// apiReader bypasses the cache.
	apiReader       client.Reader
	recorder        events.EventRecorder
	signingSecrets  signingSecretStore
	connections     *connectionPool
	metrics         *metrics
	conflictBackoff workqueue.TypedRateLimiter[reconcile.Request]
	resync          time.Duration
	now             func() time.Time
}

// Reconcile reconciles one WebhookConfig.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	config := &v1alpha1.WebhookConfig{}
	if err := r.client.Get(ctx, request.NamespacedName, config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	result, err := r.reconcile(ctx, config)
	if problem.IsConflict(err) {
		r.metrics.count(outcomeConflict)
		log.FromContext(ctx).V(1).Info("conflict, retrying", "error", err.Error())
		return ctrl.Result{RequeueAfter: r.conflictBackoff.When(request)}, nil
	}
	r.conflictBackoff.Forget(request)
	return result, err
}

// A scope is the state of one reconcile of one WebhookConfig.
type scope struct {
	*Reconciler
	// config is the scope's own copy. Its status is filled in during the reconcile.
	config *v1alpha1.WebhookConfig
	// instance is the Instance that config names. Nil if this operator manages no such
	// Instance.
	instance *v1alpha1.Instance
	// managedElsewhere is set if the Instance exists but is managed by another operator.
	managedElsewhere bool
	startedAt        time.Time
	// drift describes how a suspended subscription differs from its spec. receiverFailing is
	// set if it does not differ, but its receiver accepts no deliveries.
	drift           string
	receiverFailing bool
}

func (r *Reconciler) reconcile(ctx context.Context, config *v1alpha1.WebhookConfig) (ctrl.Result, error) {
	v := &scope{Reconciler: r, config: config, startedAt: r.now()}
	if err := v.findInstance(ctx); err != nil {
		return ctrl.Result{}, err
	}
	before := config.DeepCopy()
	if config.DeletionTimestamp.IsZero() {
		return v.finish(ctx, before, v.ensureSubscription(ctx))
	}
	if err := v.reconcileDelete(ctx); err != nil {
		return v.finish(ctx, before, []error{err})
	}
	return ctrl.Result{}, nil
}

// findInstance bypasses the cache for Instances that are not in it: an Instance managed
// by another operator still exists.
func (v *scope) findInstance(ctx context.Context) error {
	found, key := &v1alpha1.Instance{}, client.ObjectKey{Namespace: v.config.Namespace, Name: v.config.Spec.InstanceRef.Name}
	err := v.client.Get(ctx, key, found)
	if err == nil {
		v.instance = found
		return nil
	}
	if apierrors.IsNotFound(err) {
		err = v.apiReader.Get(ctx, key, found)
		v.managedElsewhere = err == nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading Instance %s: %w", key.Name, err)
	}
	return nil
}

func (v *scope) clusterReader() cluster.Reader {
	return cluster.Reader{APIReader: v.apiReader, Namespace: v.config.Namespace}
}

// finish patches the status and returns when to requeue: soon enough to revert changes
// at the API within a minute.
func (v *scope) finish(ctx context.Context, before *v1alpha1.WebhookConfig, failures []error) (ctrl.Result, error) {
	accident := problem.FirstTransient(failures)
	if problem.IsConflict(accident) {
		return ctrl.Result{}, accident
	}
	v.setConditions(failures)
	v.metrics.count(classifyOutcome(v.config, failures))
	if err := v.patchStatus(ctx, before); err != nil {
		return ctrl.Result{}, err
	}
	if accident != nil {
		return ctrl.Result{}, accident
	}
	pause := wait.Jitter(v.resync, resyncJitter)
	for _, failure := range failures {
		if found := problem.FromError(failure); found.RequeueAfter > 0 {
			pause = min(pause, found.RequeueAfter)
		}
	}
	return ctrl.Result{RequeueAfter: pause}, nil
}

// patchStatus patches the status if it changed, and records events for its transitions.
func (v *scope) patchStatus(ctx context.Context, before *v1alpha1.WebhookConfig) error {
	if equality.Semantic.DeepEqual(before.Status, v.config.Status) {
		return nil
	}
	before.ObjectMeta = v.config.ObjectMeta // a finalizer may have been added in the meantime
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := v.client.Status().Patch(ctx, v.config, patch, client.FieldOwner(instance.FieldManager)); err != nil {
		return fmt.Errorf("patching the status: %w", err)
	}
	for _, note := range status.TransitionEvents(before.Status.Conditions, v.config.Status.Conditions) {
		if note.Reason == reasonDeliveriesFailing {
			note.Type = corev1.EventTypeWarning
		}
		v.recordEvent(note.Type, note.Reason, note.Message)
		log.FromContext(ctx).Info("condition changed", "reason", note.Reason, "message", note.Message)
	}
	return nil
}

// recordEvent records an event of type Normal or Warning for the WebhookConfig.
func (v *scope) recordEvent(kind, reason, message string) {
	v.recorder.Eventf(v.config, nil, kind, reason, "Reconcile", "%s", message)
}
