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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/steps"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/wave"
)

// What the operator needs, and no more. Deployments, Secrets and the rest are
// written in the namespaces of Instances; pods, replica sets, events, endpoints
// and storage classes are only looked at, to say what is wrong.
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

// FieldManager is the name under which the operator owns fields.
const FieldManager = "anamnesis-operator"

// firstRace and lastRace bound the pauses between tries while somebody is faster.
const (
	firstRace = 200 * time.Millisecond
	lastRace  = time.Minute
)

// A Reconciler makes Instances what their specs say.
type Reconciler struct {
	means steps.Means
	// measurements are what it tells Prometheus.
	measurements *measurements
	wave         *wave.Wave
	// resync is how often to look at what cannot be watched, before jitter.
	resync time.Duration
	// races says how soon to try again after somebody, often the operator itself
	// a moment ago, was faster than the cache.
	races workqueue.TypedRateLimiter[reconcile.Request]
	now   func() time.Time
}

// Reconcile visits one Instance.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	instance := &v1alpha1.Instance{}
	if err := r.means.Client.Get(ctx, request.NamespacedName, instance); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	result, err := r.visit(ctx, instance)
	if problem.IsRace(err) {
		r.measurements.count(outcomeRace)
		log.FromContext(ctx).V(1).Info("somebody was faster", "error", err.Error())
		return ctrl.Result{RequeueAfter: r.races.When(request)}, nil
	}
	r.races.Forget(request)
	return result, err
}

func (r *Reconciler) visit(ctx context.Context, instance *v1alpha1.Instance) (ctrl.Result, error) {
	found, err := children.Of(ctx, r.means.Access, instance)
	if err != nil {
		return ctrl.Result{}, err
	}
	v := steps.NewVisit(&r.means, instance, found, r.now())
	if !instance.DeletionTimestamp.IsZero() {
		return r.letGo(ctx, v)
	}
	if err := v.Hold(ctx); err != nil {
		return ctrl.Result{}, err
	}
	before := instance.DeepCopy()
	return r.conclude(ctx, v, before, v.Run(ctx))
}

// letGo ends an Instance that is being deleted.
func (r *Reconciler) letGo(ctx context.Context, v *steps.Visit) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(v.Instance, v1alpha1.Finalizer) {
		return ctrl.Result{}, nil
	}
	before := v.Instance.DeepCopy()
	if err := v.LetGo(ctx); err != nil {
		return r.conclude(ctx, v, before, []error{err})
	}
	r.measurements.count(outcomeDeleted)
	return ctrl.Result{}, nil
}

// conclude writes down how the steps ended, and says when to look again.
func (r *Reconciler) conclude(ctx context.Context, v *steps.Visit, before *v1alpha1.Instance, failures []error) (ctrl.Result, error) {
	accident := problem.Transient(failures)
	if problem.IsRace(accident) {
		return ctrl.Result{}, accident
	}
	outcome := outcomeOf(failures)
	status.ObservePods(v.Instance, v.Began, v.Children.Deployment())
	status.Diverge(v.Instance, v.Began, v.Children.Divergences())
	v.Instance.Status.Inventory = v.Children.Inventory()
	if v.Instance.Spec.Suspend && v.Instance.DeletionTimestamp.IsZero() {
		outcome = outcomeSuspended
		status.Suspend(v.Instance, v.Began, failures)
	} else {
		status.Summarize(v.Instance, v.Began, failures)
	}
	if err := r.report(ctx, v, before, outcome); err != nil {
		return ctrl.Result{}, err
	}
	if accident != nil {
		return ctrl.Result{}, accident
	}
	r.planNextVisit(v, failures)
	return ctrl.Result{RequeueAfter: v.Pause()}, nil
}

// planNextVisit says when to look again at what is not watched.
func (r *Reconciler) planNextVisit(v *steps.Visit, failures []error) {
	for _, failure := range failures {
		if found := problem.Of(failure); found != nil && found.After > 0 {
			v.LookAgainAt(v.Began.Add(found.After))
		}
	}
	if len(failures) > 0 || hasReferences(v.Instance) {
		v.LookAgainAt(v.Began.Add(wait.Jitter(r.resync, 0.2)))
	}
}

// report patches the status, if it changed, and tells the transitions to those
// who watch events and metrics.
func (r *Reconciler) report(ctx context.Context, v *steps.Visit, before *v1alpha1.Instance, outcome outcome) error {
	r.measurements.count(outcome)
	v.TellServer(ctx)
	if equality.Semantic.DeepEqual(before.Status, v.Instance.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.means.Client.Status().Patch(ctx, v.Instance, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("patching the status: %w", err)
	}
	was, is := before.Status.Conditions, v.Instance.Status.Conditions
	for _, note := range append(status.Transitions(was, is), wave.Transitions(was, is)...) {
		v.Announce(note.Type, note.Reason, "%s", note.Message)
		log.FromContext(ctx).Info("changed", "reason", note.Reason, "message", note.Message)
	}
	r.measurements.observe(before, v.Instance)
	return nil
}

// hasReferences says whether the spec refers to what is not watched.
func hasReferences(instance *v1alpha1.Instance) bool {
	return len(referencedSecrets(instance)) > 0 || len(referencedConfigMaps(instance)) > 0
}

// referencedSecrets names the Secrets that a spec refers to.
func referencedSecrets(instance *v1alpha1.Instance) []string {
	var names []string
	if instance.Spec.TLS != nil && instance.Spec.TLS.SecretRef.Name != "" {
		names = append(names, instance.Spec.TLS.SecretRef.Name)
	}
	for _, sender := range resources.Senders(instance) {
		names = append(names, sender.Secret)
	}
	if reference := resources.WebhookAuthorities(instance); reference != nil && reference.Kind != "ConfigMap" {
		names = append(names, reference.Name)
	}
	return append(names, resources.StorageOf(instance).Secrets...)
}

// referencedConfigMaps names the ConfigMaps that a spec refers to.
func referencedConfigMaps(instance *v1alpha1.Instance) []string {
	var names []string
	references := []*v1alpha1.CertificateReference{resources.WebhookAuthorities(instance)}
	if external := instance.Spec.Storage.External; external != nil {
		references = append(references, external.CARef)
	}
	for _, reference := range references {
		if reference != nil && reference.Kind == "ConfigMap" {
			names = append(names, reference.Name)
		}
	}
	if reference := resources.LogoOf(instance); reference != nil {
		names = append(names, reference.Name)
	}
	return names
}
