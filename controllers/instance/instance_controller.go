// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/apply"
)

// What the operator needs, and no more. Deployments, Secrets and the rest are
// written in the namespaces of Instances; pods, replica sets, events and storage
// classes are only looked at, to say what is wrong.
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
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get;list

// FieldManager is the name under which the operator owns fields.
const FieldManager = "anamnesis-operator"

// raceDelay is how soon to try again after somebody, often the operator itself a
// moment ago, was faster than the cache.
const raceDelay = 200 * time.Millisecond

// A Reconciler makes Instances what their specs say.
type Reconciler struct {
	// client reads from the cache and writes; live reads past the cache.
	client client.Client
	live   client.Reader
	// recorder writes events, measurements metrics.
	recorder     events.EventRecorder
	measurements *measurements
	// authority issues certificates to Instances that bring none.
	authority *authorityStore
	// target is the build of the server that every Instance is to have in the
	// end, and wave says when one that has another may move to it.
	target v1alpha1.ServerPin
	wave   *wave
	// resync is how often to look at what cannot be watched, before jitter.
	resync time.Duration
	now    func() time.Time
}

// steps are run in this order until one cannot come to its end.
var steps = []struct {
	name string
	run  func(*visit, context.Context) error
}{
	{"pin the server", (*visit).pinServer},
	{"stop the pods that hibernate", (*visit).stopPods},
	{"give it an address", (*visit).applyAddress},
	{"give applications their keys", (*visit).applyApplications},
	{"give it keys to sign tokens", (*visit).applySigningKeys},
	{"give it a certificate", (*visit).applyCertificate},
	{"give the data a place", (*visit).applyStorage},
	{"say who may talk to it", (*visit).applyNetwork},
	{"check the models", (*visit).checkModels},
	{"choose a pod template", (*visit).planRollout},
	{"run the server", (*visit).applyDeployment},
	{"delete what is no longer wanted", (*visit).prune},
	{"wait for the pods", (*visit).awaitRollout},
}

// Reconcile visits one Instance.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	instance := &v1alpha1.Instance{}
	if err := r.client.Get(ctx, request.NamespacedName, instance); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	result, err := r.visit(ctx, instance)
	if isRace(err) {
		log.FromContext(ctx).V(1).Info("somebody was faster", "error", err.Error())
		return ctrl.Result{RequeueAfter: raceDelay}, nil
	}
	return result, err
}

// isRace says whether a write was refused because the cache was behind.
func isRace(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

func (r *Reconciler) visit(ctx context.Context, instance *v1alpha1.Instance) (ctrl.Result, error) {
	found, err := listChildren(ctx, r.client, instance)
	if err != nil {
		return ctrl.Result{}, err
	}
	v := r.newVisit(instance, found)
	switch {
	case !instance.DeletionTimestamp.IsZero():
		return v.depart(ctx)
	case instance.Spec.Suspend:
		before := instance.DeepCopy()
		suspend(instance, v.began)
		return ctrl.Result{}, v.report(ctx, before, outcomeSuspended)
	}
	if err := v.addFinalizer(ctx); err != nil {
		return ctrl.Result{}, err
	}
	before := instance.DeepCopy()
	return v.conclude(ctx, before, v.runSteps(ctx))
}

func (v *visit) runSteps(ctx context.Context) error {
	for _, step := range steps {
		if err := step.run(v, ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// addFinalizer makes sure that the Instance does not go before it was settled
// what becomes of its data.
func (v *visit) addFinalizer(ctx context.Context) error {
	before := v.instance.DeepCopy()
	if !controllerutil.AddFinalizer(v.instance, v1alpha1.Finalizer) {
		return nil
	}
	err := v.client.Patch(ctx, v.instance, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), client.FieldOwner(FieldManager))
	if err != nil {
		return fmt.Errorf("adding the finalizer: %w", err)
	}
	return nil
}

// conclude writes down how the steps ended, and says when to look again.
func (v *visit) conclude(ctx context.Context, before *v1alpha1.Instance, err error) (ctrl.Result, error) {
	if isRace(err) {
		return ctrl.Result{}, err
	}
	observePods(v.instance, v.began, v.deployment())
	v.instance.Status.Inventory = inventory(v.children, v.wanted, v.deleted)
	summarize(v.instance, v.began, err)
	if failure := v.report(ctx, before, outcomeOf(err)); failure != nil {
		return ctrl.Result{}, failure
	}
	if found := asProblem(err); found == nil && err != nil {
		return ctrl.Result{}, err
	} else if found != nil && found.after > 0 {
		v.lookAgainAt(v.began.Add(found.after))
	}
	if err != nil || hasReferences(v.instance) {
		v.lookAgainAt(v.began.Add(wait.Jitter(v.resync, 0.2)))
	}
	return ctrl.Result{RequeueAfter: v.pause()}, nil
}

// pause is how long until the next visit is due; zero for never.
func (v *visit) pause() time.Duration {
	if v.again.IsZero() {
		return 0
	}
	return max(v.again.Sub(v.began), time.Millisecond)
}

// hasReferences says whether the spec refers to Secrets that are not watched.
func hasReferences(instance *v1alpha1.Instance) bool {
	return len(referencedSecrets(instance)) > 0
}

// report patches the status, if it changed, and tells the transitions to those
// who watch events and metrics.
func (v *visit) report(ctx context.Context, before *v1alpha1.Instance, outcome outcome) error {
	v.measurements.count(outcome)
	if equality.Semantic.DeepEqual(before.Status, v.instance.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := v.client.Status().Patch(ctx, v.instance, patch, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("patching the status: %w", err)
	}
	for _, note := range transitions(before.Status.Conditions, v.instance.Status.Conditions) {
		v.announce(note.kind, note.reason, "%s", note.message)
		v.logger(ctx).Info("changed", "reason", note.reason, "message", note.message)
	}
	v.measurements.observe(before, v.instance)
	return nil
}

// announce writes an event about the Instance.
func (v *visit) announce(kind, reason, format string, arguments ...any) {
	v.recorder.Eventf(v.instance, nil, kind, reason, "Reconcile", format, arguments...)
}

func (v *visit) applier() *apply.Applier {
	return &apply.Applier{Client: v.client, Manager: FieldManager}
}

func (v *visit) logger(ctx context.Context) logr.Logger { return log.FromContext(ctx) }

// referencedSecrets names the Secrets that a spec refers to.
func referencedSecrets(instance *v1alpha1.Instance) []string {
	var names []string
	if instance.Spec.TLS != nil {
		names = append(names, instance.Spec.TLS.SecretRef.Name)
	}
	if external := instance.Spec.Storage.External; external != nil {
		names = append(names, external.SecretRef.Name)
	}
	return names
}
