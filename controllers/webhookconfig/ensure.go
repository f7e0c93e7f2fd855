// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const (
	reasonDuplicateURL = "DuplicateURL"
	reasonReceiverGone = "Disabled"
)

// ensureSubscription brings the subscription to the desired state, and returns the
// errors that prevented it. A missing token blocks only the changes that need it.
func (v *scope) ensureSubscription(ctx context.Context) []error {
	if err := v.rejectDuplicate(ctx); err != nil {
		return []error{err}
	}
	if found := instanceProblem(v.config.Spec.InstanceRef.Name, v.instance); found != nil {
		return []error{found}
	}
	token, unhad := readToken(ctx, v.clusterReader(), v.config)
	if unhad != nil && problem.FromError(unhad) == nil {
		return []error{unhad}
	}
	work, err := v.newTask(ctx, token)
	if err != nil {
		return append(nonNilErrors(unhad), err)
	}
	found, err := v.execute(ctx, work, unhad)
	return append(nonNilErrors(unhad, err), v.recordSubscription(ctx, work.subscriptionClient, found)...)
}

// nonNilErrors returns the errors that are not nil.
func nonNilErrors(all ...error) []error {
	var failures []error
	for _, err := range all {
		if err != nil {
			failures = append(failures, err)
		}
	}
	return failures
}

// rejectDuplicate rejects the newer of two WebhookConfigs for the same receiver. A
// subscription that it created earlier is kept unchanged.
func (v *scope) rejectDuplicate(ctx context.Context) error {
	var all v1alpha1.WebhookConfigList
	err := v.client.List(ctx, &all, client.InNamespace(v.config.Namespace), client.MatchingFields{instanceIndex: v.config.Spec.InstanceRef.Name})
	if err != nil {
		return fmt.Errorf("listing WebhookConfigs of Instance %s: %w", v.config.Spec.InstanceRef.Name, err)
	}
	if older := olderDuplicate(v.config, all.Items); older != nil {
		return problem.Stalled("", reasonDuplicateURL,
			"WebhookConfig %s is older and has the same URL: delete one of them or change the URL of this one; its existing subscription is kept unchanged", older.Name)
	}
	return nil
}

// A task is the plan for one subscription, and everything needed to execute it.
type task struct {
	subscriptionClient
	desired       desiredSubscription
	known         knownState
	signingSecret *corev1.Secret
	plan          plan
}

// listSubscriptions lists the subscriptions of the Instance, using a client whose errors
// never contain the token.
func (v *scope) listSubscriptions(ctx context.Context, token string) (all subscriptionClient, listed []subscription, err error) {
	means, err := loadEndpoint(ctx, v.client, v.instance)
	if err != nil {
		return subscriptionClient{}, nil, err
	}
	api, err := v.connections.get(means)
	if err != nil {
		return subscriptionClient{}, nil, err
	}
	all = subscriptionClient{api, token}
	listed, err = all.list(ctx)
	if errors.Is(err, errNotFound) {
		err = waitingProblem(reasonWebhooksUnsupported, "the server of Instance %s does not support webhooks yet: the subscription is created once its pods run the target server image", v.instance.Name)
	}
	return all, listed, err
}

// newTask reads the current state and plans the changes.
func (v *scope) newTask(ctx context.Context, token string) (*task, error) {
	all, listed, err := v.listSubscriptions(ctx, token)
	if err != nil {
		return nil, err
	}
	w := &task{subscriptionClient: all, desired: newDesiredSubscription(v.config, token)}
	if w.signingSecret, err = v.signingSecrets.get(ctx, v.config); err != nil {
		return nil, err
	}
	w.known = loadKnownState(v.config, w.signingSecret)
	w.plan = newPlan(w.desired, w.known, listed)
	return w, nil
}

// execute executes the plan and returns the resulting subscription, or nil if none
// exists. unhad is the reason why there is no token; without a token, no subscription is
// created.
func (v *scope) execute(ctx context.Context, w *task, unhad error) (*subscription, error) {
	if v.config.Spec.Suspend {
		if !w.plan.isEmpty() {
			v.drift = w.plan.String()
		}
		return w.plan.current, nil
	}
	if w.plan.current == nil && unhad != nil {
		return nil, nil // already reported
	}
	if err := v.checkFresh(ctx, w); err != nil {
		return w.plan.current, err
	}
	if err := v.ensureFinalizer(ctx); err != nil {
		return w.plan.current, err
	}
	if w.plan.current == nil {
		return v.createSubscription(ctx, w)
	}
	return v.updateSubscription(ctx, w)
}

// checkFresh returns a conflict unless the plan is based on what the API server holds
// now: an earlier reconcile may just have executed it and updated the status.
func (v *scope) checkFresh(ctx context.Context, w *task) error {
	if w.plan.isEmpty() {
		return nil
	}
	if w.signingSecret != nil {
		if err := authority.CheckUnmodified(ctx, v.apiReader, w.signingSecret); err != nil {
			return err
		}
	}
	newest := &v1alpha1.WebhookConfig{}
	if err := v.apiReader.Get(ctx, client.ObjectKeyFromObject(v.config), newest); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading WebhookConfig %s: %w", v.config.Name, err)
	}
	if newest.ResourceVersion != v.config.ResourceVersion {
		return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("webhookconfigs").GroupResource(), v.config.Name, errors.New("the cache is stale"))
	}
	return nil
}

// ensureFinalizer adds the finalizer, which keeps the resource until its subscription is
// deleted. It is added just before the first subscription is created, so that a resource
// without one never waits for an Instance.
func (v *scope) ensureFinalizer(ctx context.Context) error {
	before := v.config.DeepCopy()
	if !controllerutil.AddFinalizer(v.config, v1alpha1.SubscriptionFinalizer) {
		return nil
	}
	return v.patchFinalizers(ctx, before)
}

// patchFinalizers patches the finalizers and preserves the status in the scope's copy.
func (v *scope) patchFinalizers(ctx context.Context, before *v1alpha1.WebhookConfig) error {
	said := v.config.Status.DeepCopy()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := v.client.Patch(ctx, v.config, patch, client.FieldOwner(instance.FieldManager)); err != nil {
		return fmt.Errorf("patching the finalizer: %w", err)
	}
	v.config.Status = *said
	return nil
}

// createSubscription creates the subscription and stores its signing secret for the
// receiver.
func (v *scope) createSubscription(ctx context.Context, w *task) (*subscription, error) {
	made, secret, err := w.create(ctx, w.desired)
	if err != nil {
		v.config.Status.ID, v.config.Status.TokenHash = "", ""
		return nil, err
	}
	if err := v.signingSecrets.put(ctx, v.config, w.signingSecret, made.id, secret); err != nil {
		return &made, err
	}
	v.config.Status.TokenHash = hashToken(secret, w.desired.token)
	return &made, nil
}

// updateSubscription applies the planned changes to an existing subscription. It stores
// the signing secret for the receiver first.
func (v *scope) updateSubscription(ctx context.Context, w *task) (*subscription, error) {
	kept, secret := w.plan.current, w.known.signingSecret
	if w.plan.rotateSecret {
		rotated, err := w.rotate(ctx, kept.id)
		if err != nil {
			return kept, err
		}
		if err := v.signingSecrets.put(ctx, v.config, w.signingSecret, kept.id, rotated); err != nil {
			return kept, err
		}
		secret = rotated
	}
	for _, id := range w.plan.duplicates {
		if err := w.delete(ctx, id); err != nil {
			return kept, err
		}
	}
	if w.plan.change == (changedFields{}) {
		return kept, nil
	}
	changed, err := w.update(ctx, kept.id, w.desired, w.plan.change)
	if err != nil {
		return kept, err
	}
	if w.plan.change.token {
		v.config.Status.TokenHash = hashToken(secret, w.desired.token)
	}
	return &changed, nil
}

// recordSubscription records the subscription in the status, and returns its problems.
func (v *scope) recordSubscription(ctx context.Context, all subscriptionClient, found *subscription) []error {
	said := &v.config.Status
	if found == nil {
		said.ID, said.Events, said.LastDelivery = "", "", nil
		return nil
	}
	if said.ID != found.id {
		said.LastDelivery = nil
	}
	said.ID, said.Events = found.id, strings.Join(found.events, ",")
	last, err := all.lastDelivery(ctx, found.id)
	if err != nil {
		return []error{err}
	}
	if last != nil {
		said.LastDelivery = last // keep the last known delivery if the server no longer lists any
	}
	switch found.status {
	case "disabled":
		return []error{problem.Stalled("", reasonReceiverGone, "the receiver responded with 410 Gone, so deliveries are disabled: change spec.url to resume them, or delete this WebhookConfig")}
	case "failing":
		v.receiverFailing = true
	}
	return nil
}
