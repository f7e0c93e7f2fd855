// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/phases"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
)

// The permissions of the operator, and no more. It writes Deployments, Secrets and other
// owned objects in the namespaces of Instances; it only reads pods, replica sets, events,
// endpoints and storage classes, to diagnose failures.
//
// +kubebuilder:rbac:groups=anamnesis.dev,resources=instances,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=anamnesis.dev,resources=instances/status,verbs=patch
// +kubebuilder:rbac:groups=anamnesis.dev,resources=instances/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps;services;serviceaccounts;persistentvolumeclaims,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=list
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get;list

// FieldManager is the server-side apply field manager of the operator.
const FieldManager = "anamnesis-operator"

// minConflictBackoff and maxConflictBackoff bound the backoff after a write conflict.
const (
	minConflictBackoff = 200 * time.Millisecond
	maxConflictBackoff = time.Minute
)

// A Reconciler reconciles Instances.
type Reconciler struct {
	deps phases.Dependencies
	// metrics are exposed to Prometheus.
	metrics       *metrics
	serverRollout *wave.Wave
	// resyncPeriod is the interval at which objects that cannot be watched are read again,
	// before jitter.
	resyncPeriod time.Duration
	// conflictBackoff delays the retry after a conflict: another client, often the operator
	// itself a moment ago, wrote before the cache caught up.
	conflictBackoff workqueue.TypedRateLimiter[reconcile.Request]
	now             func() time.Time
}

// Reconcile reconciles one Instance.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	instance := &v1alpha1.Instance{}
	if err := r.deps.Client.Get(ctx, request.NamespacedName, instance); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	result, err := r.reconcileInstance(ctx, instance)
	if problem.IsConflict(err) {
		r.metrics.countReconcile(outcomeConflict)
		log.FromContext(ctx).V(1).Info("write conflict, retrying", "error", err.Error())
		return ctrl.Result{RequeueAfter: r.conflictBackoff.When(request)}, nil
	}
	r.conflictBackoff.Forget(request)
	return result, err
}

func (r *Reconciler) reconcileInstance(ctx context.Context, instance *v1alpha1.Instance) (ctrl.Result, error) {
	found, err := inventory.Load(ctx, r.deps.Clients, instance)
	if err != nil {
		return ctrl.Result{}, err
	}
	v := phases.NewScope(&r.deps, instance, found, r.now())
	if !instance.DeletionTimestamp.IsZero() {
		return r.reconcileDelete(ctx, v)
	}
	if err := v.EnsureFinalizer(ctx); err != nil {
		return ctrl.Result{}, err
	}
	before := instance.DeepCopy()
	return r.finishReconcile(ctx, v, before, v.Run(ctx))
}

// reconcileDelete runs the deletion of an Instance.
func (r *Reconciler) reconcileDelete(ctx context.Context, v *phases.Scope) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(v.Instance, v1alpha1.DataFinalizer) {
		return ctrl.Result{}, nil
	}
	before := v.Instance.DeepCopy()
	if err := v.ReconcileDelete(ctx); err != nil {
		return r.finishReconcile(ctx, v, before, []error{err})
	}
	r.metrics.countReconcile(outcomeDeleted)
	return ctrl.Result{}, nil
}

// finishReconcile writes the status from the failures of the phases and returns when to
// requeue.
func (r *Reconciler) finishReconcile(ctx context.Context, v *phases.Scope, before *v1alpha1.Instance, failures []error) (ctrl.Result, error) {
	accident := problem.FirstTransient(failures)
	if problem.IsConflict(accident) {
		return ctrl.Result{}, accident
	}
	outcome := outcomeFromErrors(failures)
	status.ObservePods(v.Instance, v.StartedAt, v.Objects.Deployment())
	status.SetDrifted(v.Instance, v.StartedAt, v.Objects.DriftMessages())
	v.Instance.Status.Inventory = v.Objects.Entries()
	if v.Instance.Spec.Suspend && v.Instance.DeletionTimestamp.IsZero() {
		outcome = outcomeSuspended
		status.SetSuspended(v.Instance, v.StartedAt, failures)
	} else {
		status.Summarize(v.Instance, v.StartedAt, failures)
	}
	if err := r.patchStatus(ctx, v, before, outcome); err != nil {
		return ctrl.Result{}, err
	}
	if accident != nil {
		return ctrl.Result{}, accident
	}
	r.scheduleRequeue(v, failures)
	return ctrl.Result{RequeueAfter: v.RequeueAfter()}, nil
}

// scheduleRequeue requests a requeue for failures and for references that are not
// watched.
func (r *Reconciler) scheduleRequeue(v *phases.Scope, failures []error) {
	for _, failure := range failures {
		if found := problem.FromError(failure); found != nil && found.RequeueAfter > 0 {
			v.RequeueAt(v.StartedAt.Add(found.RequeueAfter))
		}
	}
	if len(failures) > 0 || hasUnwatchedReferences(v.Instance) {
		v.RequeueAt(v.StartedAt.Add(wait.Jitter(r.resyncPeriod, 0.2)))
	}
}

// patchStatus patches the status if it changed, emits events for the transitions, and
// updates the metrics.
func (r *Reconciler) patchStatus(ctx context.Context, v *phases.Scope, before *v1alpha1.Instance, outcome outcome) error {
	r.metrics.countReconcile(outcome)
	v.SetServerCondition(ctx)
	if equality.Semantic.DeepEqual(before.Status, v.Instance.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.deps.Client.Status().Patch(ctx, v.Instance, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("patching the status: %w", err)
	}
	was, is := before.Status.Conditions, v.Instance.Status.Conditions
	for _, note := range append(status.TransitionEvents(was, is), wave.Transitions(was, is)...) {
		v.Eventf(note.Type, note.Reason, "%s", note.Message)
		log.FromContext(ctx).Info("condition changed", "reason", note.Reason, "message", note.Message)
	}
	r.metrics.observeTimeToReady(before, v.Instance)
	return nil
}

// hasUnwatchedReferences reports whether the spec references Secrets or ConfigMaps,
// which may not be watched.
func hasUnwatchedReferences(instance *v1alpha1.Instance) bool {
	return len(referencedSecrets(instance)) > 0 || len(referencedConfigMaps(instance)) > 0
}

// referencedSecrets returns the names of the Secrets that the spec references.
func referencedSecrets(instance *v1alpha1.Instance) []string {
	var names []string
	if instance.Spec.TLS != nil && instance.Spec.TLS.SecretRef.Name != "" {
		names = append(names, instance.Spec.TLS.SecretRef.Name)
	}
	for _, sender := range resources.Senders(instance) {
		names = append(names, sender.SecretName)
	}
	if reference := resources.WebhookCAReference(instance); reference != nil && reference.Kind != "ConfigMap" {
		names = append(names, reference.Name)
	}
	return append(names, resources.StorageFor(instance).SecretNames...)
}

// referencedConfigMaps returns the names of the ConfigMaps that the spec references.
func referencedConfigMaps(instance *v1alpha1.Instance) []string {
	var names []string
	references := []*v1alpha1.CABundleReference{resources.WebhookCAReference(instance)}
	if external := instance.Spec.Storage.External; external != nil {
		references = append(references, external.CARef)
	}
	for _, reference := range references {
		if reference != nil && reference.Kind == "ConfigMap" {
			names = append(names, reference.Name)
		}
	}
	if reference := resources.LogoReferenceFor(instance); reference != nil {
		names = append(names, reference.Name)
	}
	return names
}
