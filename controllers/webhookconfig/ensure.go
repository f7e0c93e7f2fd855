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
func (s *scope) ensureSubscription(ctx context.Context) []error {
	if err := s.rejectDuplicate(ctx); err != nil {
		return []error{err}
	}
	if found := instanceProblem(s.config.Spec.InstanceRef.Name, s.instance); found != nil {
		return []error{found}
	}
	token, tokenErr := readToken(ctx, s.clusterReader(), s.config)
	if tokenErr != nil && problem.FromError(tokenErr) == nil {
		return []error{tokenErr}
	}
	work, err := s.newTask(ctx, token)
	if err != nil {
		return append(nonNilErrors(tokenErr), err)
	}
	found, err := s.execute(ctx, work, tokenErr)
	return append(nonNilErrors(tokenErr, err), s.recordSubscription(ctx, work.subscriptionClient, found)...)
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
func (s *scope) rejectDuplicate(ctx context.Context) error {
	var all v1alpha1.WebhookConfigList
	err := s.client.List(ctx, &all, client.InNamespace(s.config.Namespace), client.MatchingFields{instanceIndex: s.config.Spec.InstanceRef.Name})
	if err != nil {
		return fmt.Errorf("listing WebhookConfigs of Instance %s: %w", s.config.Spec.InstanceRef.Name, err)
	}
	if older := olderDuplicate(s.config, all.Items); older != nil {
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
func (s *scope) listSubscriptions(ctx context.Context, token string) (all subscriptionClient, listed []subscription, err error) {
	target, err := loadEndpoint(ctx, s.client, s.instance)
	if err != nil {
		return subscriptionClient{}, nil, err
	}
	api, err := s.connections.get(target)
	if err != nil {
		return subscriptionClient{}, nil, err
	}
	all = subscriptionClient{api, token}
	listed, err = all.list(ctx)
	if errors.Is(err, errNotFound) {
		err = waitingProblem(reasonWebhooksUnsupported, "the server of Instance %s does not support webhooks yet: the subscription is created once its pods run the target server image", s.instance.Name)
	}
	return all, listed, err
}

// newTask reads the current state and plans the changes.
func (s *scope) newTask(ctx context.Context, token string) (*task, error) {
	all, listed, err := s.listSubscriptions(ctx, token)
	if err != nil {
		return nil, err
	}
	t := &task{subscriptionClient: all, desired: newDesiredSubscription(s.config, token)}
	if t.signingSecret, err = s.signingSecrets.get(ctx, s.config); err != nil {
		return nil, err
	}
	t.known = loadKnownState(s.config, t.signingSecret)
	t.plan = newPlan(t.desired, t.known, listed)
	return t, nil
}

// execute executes the plan and returns the resulting subscription, or nil if no
// subscription exists. tokenErr is the error of reading the token; without a token, no
// subscription is created.
func (s *scope) execute(ctx context.Context, t *task, tokenErr error) (*subscription, error) {
	if s.config.Spec.Suspend {
		if !t.plan.isEmpty() {
			s.drift = t.plan.String()
		}
		return t.plan.current, nil
	}
	if t.plan.current == nil && tokenErr != nil {
		return nil, nil // already reported
	}
	if err := s.checkFresh(ctx, t); err != nil {
		return t.plan.current, err
	}
	if err := s.ensureFinalizer(ctx); err != nil {
		return t.plan.current, err
	}
	if t.plan.current == nil {
		return s.createSubscription(ctx, t)
	}
	return s.updateSubscription(ctx, t)
}

// checkFresh returns a conflict unless the plan is based on the latest state in the API
// server: an earlier reconcile may have executed the plan and updated the status already.
func (s *scope) checkFresh(ctx context.Context, t *task) error {
	if t.plan.isEmpty() {
		return nil
	}
	if t.signingSecret != nil {
		if err := authority.CheckUnmodified(ctx, s.apiReader, t.signingSecret); err != nil {
			return err
		}
	}
	newest := &v1alpha1.WebhookConfig{}
	if err := s.apiReader.Get(ctx, client.ObjectKeyFromObject(s.config), newest); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading WebhookConfig %s: %w", s.config.Name, err)
	}
	if newest.ResourceVersion != s.config.ResourceVersion {
		return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("webhookconfigs").GroupResource(), s.config.Name, errors.New("the cache is stale"))
	}
	return nil
}

// ensureFinalizer adds the finalizer, which keeps the WebhookConfig until its subscription
// is deleted. The finalizer is added just before the subscription is created, so that the
// deletion of a WebhookConfig without a subscription never waits for an Instance.
func (s *scope) ensureFinalizer(ctx context.Context) error {
	before := s.config.DeepCopy()
	if !controllerutil.AddFinalizer(s.config, v1alpha1.SubscriptionFinalizer) {
		return nil
	}
	return s.patchFinalizers(ctx, before)
}

// patchFinalizers patches the finalizers and keeps the status of the scope's copy.
func (s *scope) patchFinalizers(ctx context.Context, before *v1alpha1.WebhookConfig) error {
	status := s.config.Status.DeepCopy()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := s.client.Patch(ctx, s.config, patch, client.FieldOwner(instance.FieldManager)); err != nil {
		return fmt.Errorf("patching the finalizer: %w", err)
	}
	s.config.Status = *status
	return nil
}

// createSubscription creates the subscription and stores its signing secret for the
// receiver.
func (s *scope) createSubscription(ctx context.Context, t *task) (*subscription, error) {
	created, secret, err := t.create(ctx, t.desired)
	if err != nil {
		s.config.Status.ID, s.config.Status.TokenHash = "", ""
		return nil, err
	}
	if err := s.signingSecrets.put(ctx, s.config, t.signingSecret, created.id, secret); err != nil {
		return &created, err
	}
	s.config.Status.TokenHash = hashToken(secret, t.desired.token)
	return &created, nil
}

// updateSubscription applies the planned changes to an existing subscription. It stores
// the signing secret for the receiver first.
func (s *scope) updateSubscription(ctx context.Context, t *task) (*subscription, error) {
	kept, secret := t.plan.current, t.known.signingSecret
	if t.plan.rotateSecret {
		rotated, err := t.rotate(ctx, kept.id)
		if err != nil {
			return kept, err
		}
		if err := s.signingSecrets.put(ctx, s.config, t.signingSecret, kept.id, rotated); err != nil {
			return kept, err
		}
		secret = rotated
	}
	for _, id := range t.plan.duplicates {
		if err := t.delete(ctx, id); err != nil {
			return kept, err
		}
	}
	if t.plan.change == (changedFields{}) {
		return kept, nil
	}
	changed, err := t.update(ctx, kept.id, t.desired, t.plan.change)
	if err != nil {
		return kept, err
	}
	if t.plan.change.token {
		s.config.Status.TokenHash = hashToken(secret, t.desired.token)
	}
	return &changed, nil
}

// recordSubscription records the subscription in the status, and returns its problems.
func (s *scope) recordSubscription(ctx context.Context, all subscriptionClient, found *subscription) []error {
	status := &s.config.Status
	if found == nil {
		status.ID, status.Events, status.LastDelivery = "", "", nil
		return nil
	}
	if status.ID != found.id {
		status.LastDelivery = nil
	}
	status.ID, status.Events = found.id, strings.Join(found.events, ",")
	last, err := all.lastDelivery(ctx, found.id)
	if err != nil {
		return []error{err}
	}
	if last != nil {
		status.LastDelivery = last // keep the last known delivery if the server no longer lists any
	}
	switch found.status {
	case "disabled":
		return []error{problem.Stalled("", reasonReceiverGone, "the receiver responded with 410 Gone, so deliveries are disabled: change spec.url to resume them, or delete this WebhookConfig")}
	case "failing":
		s.receiverFailing = true
	}
	return nil
}
