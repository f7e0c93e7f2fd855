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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/surroundings"
)

// What the operator needs for WebhookConfigs besides what it needs for Instances:
// Secrets it may read and write for those.
//
// +kubebuilder:rbac:groups=anamnesis.dev,resources=webhookconfigs,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=anamnesis.dev,resources=webhookconfigs/status,verbs=patch
// +kubebuilder:rbac:groups=anamnesis.dev,resources=webhookconfigs/finalizers,verbs=update

const (
	// firstRace and lastRace bound the pauses between tries while somebody is faster.
	firstRace = 200 * time.Millisecond
	lastRace  = time.Minute
	// resync and its jitter keep what was changed at an API from staying so for
	// longer than a minute.
	resync       = 45 * time.Second
	resyncJitter = 0.25
)

// A Reconciler keeps subscriptions as WebhookConfigs say.
type Reconciler struct {
	client client.Client
	// live reads past the cache.
	live         client.Reader
	recorder     events.EventRecorder
	vault        vault
	connections  *connections
	measurements *measurements
	races        workqueue.TypedRateLimiter[reconcile.Request]
	resync       time.Duration
	now          func() time.Time
}

// Reconcile visits one WebhookConfig.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	config := &v1alpha1.WebhookConfig{}
	if err := r.client.Get(ctx, request.NamespacedName, config); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	result, err := r.visit(ctx, config)
	if problem.IsRace(err) {
		r.measurements.count(outcomeRace)
		log.FromContext(ctx).V(1).Info("somebody was faster", "error", err.Error())
		return ctrl.Result{RequeueAfter: r.races.When(request)}, nil
	}
	r.races.Forget(request)
	return result, err
}

// A visit is one reconcile of one WebhookConfig.
type visit struct {
	*Reconciler
	// config is the visit's own copy; its status is filled in on the way.
	config *v1alpha1.WebhookConfig
	// instance is the one that it names; nil for none that the operator cares for.
	instance *v1alpha1.Instance
	// elsewhere says that there is one, which another operator cares for.
	elsewhere bool
	began     time.Time
	// differs says for people what a suspended subscription is not as wished in;
	// failing that its receiver takes nothing.
	differs string
	failing bool
}

func (r *Reconciler) visit(ctx context.Context, config *v1alpha1.WebhookConfig) (ctrl.Result, error) {
	v := &visit{Reconciler: r, config: config, began: r.now()}
	if err := v.findInstance(ctx); err != nil {
		return ctrl.Result{}, err
	}
	before := config.DeepCopy()
	if config.DeletionTimestamp.IsZero() {
		return v.conclude(ctx, before, v.keep(ctx))
	}
	if err := v.release(ctx); err != nil {
		return v.conclude(ctx, before, []error{err})
	}
	return ctrl.Result{}, nil
}

// findInstance looks past the cache for what is not in it: an Instance that
// another operator cares for is not gone.
func (v *visit) findInstance(ctx context.Context) error {
	found, key := &v1alpha1.Instance{}, client.ObjectKey{Namespace: v.config.Namespace, Name: v.config.Spec.InstanceRef.Name}
	err := v.client.Get(ctx, key, found)
	if err == nil {
		v.instance = found
		return nil
	}
	if apierrors.IsNotFound(err) {
		err = v.live.Get(ctx, key, found)
		v.elsewhere = err == nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading Instance %s: %w", key.Name, err)
	}
	return nil
}

func (v *visit) surroundings() surroundings.Surroundings {
	return surroundings.Surroundings{Live: v.live, Namespace: v.config.Namespace}
}

// conclude writes down how a visit ended, and says when to look again: soon enough
// for what is changed at the API not to stay so for longer than a minute.
func (v *visit) conclude(ctx context.Context, before *v1alpha1.WebhookConfig, failures []error) (ctrl.Result, error) {
	accident := problem.Transient(failures)
	if problem.IsRace(accident) {
		return ctrl.Result{}, accident
	}
	v.summarize(failures)
	v.measurements.count(outcomeOf(v.config, failures))
	if err := v.report(ctx, before); err != nil {
		return ctrl.Result{}, err
	}
	if accident != nil {
		return ctrl.Result{}, accident
	}
	pause := wait.Jitter(v.resync, resyncJitter)
	for _, failure := range failures {
		if found := problem.Of(failure); found.After > 0 {
			pause = min(pause, found.After)
		}
	}
	return ctrl.Result{RequeueAfter: pause}, nil
}

// report patches the status, if it changed, and tells the transitions to those who
// watch events.
func (v *visit) report(ctx context.Context, before *v1alpha1.WebhookConfig) error {
	if equality.Semantic.DeepEqual(before.Status, v.config.Status) {
		return nil
	}
	before.ObjectMeta = v.config.ObjectMeta // a finalizer may have been added since
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := v.client.Status().Patch(ctx, v.config, patch, client.FieldOwner(instance.FieldManager)); err != nil {
		return fmt.Errorf("patching the status: %w", err)
	}
	for _, note := range status.Transitions(before.Status.Conditions, v.config.Status.Conditions) {
		if note.Reason == reasonReceiverFailing {
			note.Type = corev1.EventTypeWarning
		}
		v.announce(note.Type, note.Reason, note.Message)
		log.FromContext(ctx).Info("changed", "reason", note.Reason, "message", note.Message)
	}
	return nil
}

// announce writes an event about the WebhookConfig: Normal or Warning.
func (v *visit) announce(kind, reason, message string) {
	v.recorder.Eventf(v.config, nil, kind, reason, "Reconcile", "%s", message)
}
