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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

const (
	reasonDuplicateURL = "DuplicateURL"
	reasonDisabled     = "Disabled"
)

// keep makes the subscription be as the spec says, and gives what kept it from
// that. A token that cannot be had stops nothing but what needs it.
func (v *visit) keep(ctx context.Context) []error {
	if err := v.refuseDuplicate(ctx); err != nil {
		return []error{err}
	}
	if found := judgeInstance(v.config.Spec.InstanceRef.Name, v.instance); found != nil {
		return []error{found}
	}
	token, unhad := readToken(ctx, v.surroundings(), v.config)
	if unhad != nil && problem.Of(unhad) == nil {
		return []error{unhad}
	}
	work, err := v.begin(ctx, token)
	if err != nil {
		return append(failuresOf(unhad), err)
	}
	found, err := v.settle(ctx, work, unhad)
	return append(failuresOf(unhad, err), v.observe(ctx, work.subscriptions, found)...)
}

// failuresOf are those of some errors that there are.
func failuresOf(all ...error) []error {
	var failures []error
	for _, err := range all {
		if err != nil {
			failures = append(failures, err)
		}
	}
	return failures
}

// refuseDuplicate stops the younger of two that lead to one receiver. What it
// subscribed before is left as it was.
func (v *visit) refuseDuplicate(ctx context.Context) error {
	var all v1alpha1.WebhookConfigList
	err := v.client.List(ctx, &all, client.InNamespace(v.config.Namespace), client.MatchingFields{instanceIndex: v.config.Spec.InstanceRef.Name})
	if err != nil {
		return fmt.Errorf("listing WebhookConfigs of Instance %s: %w", v.config.Spec.InstanceRef.Name, err)
	}
	if elder := elderOf(v.config, all.Items); elder != nil {
		return problem.Stalled("", reasonDuplicateURL,
			"WebhookConfig %s is older and has the same URL: delete one of them, or give this one another URL; what it subscribed before stays as it is", elder.Name)
	}
	return nil
}

// A work is what is to be done about one subscription, and with what.
type work struct {
	subscriptions
	wanted  wish
	known   memory
	signing *corev1.Secret
	plan    plan
}

// listAll lists the subscriptions of the Instance, by an API that never tells of a
// token.
func (v *visit) listAll(ctx context.Context, token string) (all subscriptions, listed []subscription, err error) {
	means, err := meansOf(ctx, v.client, v.instance)
	if err != nil {
		return subscriptions{}, nil, err
	}
	api, err := v.connections.to(means)
	if err != nil {
		return subscriptions{}, nil, err
	}
	all = subscriptions{api, token}
	listed, err = all.list(ctx)
	if errors.Is(err, errNotThere) {
		err = waiting(reasonInstanceTooOld, "the server of Instance %s does not know webhooks yet: this goes on when its pods are those of the one that all are to have", v.instance.Name)
	}
	return all, listed, err
}

// begin looks at what there is, and plans.
func (v *visit) begin(ctx context.Context, token string) (*work, error) {
	all, listed, err := v.listAll(ctx, token)
	if err != nil {
		return nil, err
	}
	w := &work{subscriptions: all, wanted: wishOf(v.config, token)}
	if w.signing, err = v.vault.open(ctx, v.config); err != nil {
		return nil, err
	}
	w.known = remember(v.config, w.signing)
	w.plan = makePlan(w.wanted, w.known, listed)
	return w, nil
}

// settle does what is planned, and gives the subscription as it is then; nil for
// none. unhad is why there is no token, without which none is created.
func (v *visit) settle(ctx context.Context, w *work, unhad error) (*subscription, error) {
	if v.config.Spec.Suspend {
		if !w.plan.isNothing() {
			v.differs = w.plan.String()
		}
		return w.plan.kept, nil
	}
	if w.plan.kept == nil && unhad != nil {
		return nil, nil // which is told already
	}
	if err := v.isNewest(ctx, w); err != nil {
		return w.plan.kept, err
	}
	if err := v.hold(ctx); err != nil {
		return w.plan.kept, err
	}
	if w.plan.kept == nil {
		return v.subscribe(ctx, w)
	}
	return v.repair(ctx, w)
}

// isNewest is a race unless what a plan rests on is what the API server has: an
// earlier visit may have done what it says, and have said so a moment ago.
func (v *visit) isNewest(ctx context.Context, w *work) error {
	if w.plan.isNothing() {
		return nil
	}
	if w.signing != nil {
		if err := authority.IsNewest(ctx, v.live, w.signing); err != nil {
			return err
		}
	}
	newest := &v1alpha1.WebhookConfig{}
	if err := v.live.Get(ctx, client.ObjectKeyFromObject(v.config), newest); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading WebhookConfig %s: %w", v.config.Name, err)
	}
	if newest.ResourceVersion != v.config.ResourceVersion {
		return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("webhookconfigs").GroupResource(), v.config.Name, errors.New("the cache is behind"))
	}
	return nil
}

// hold keeps the resource until its subscription has ended. It is done before there
// is any, so that a resource without never waits for an Instance.
func (v *visit) hold(ctx context.Context) error {
	before := v.config.DeepCopy()
	if !controllerutil.AddFinalizer(v.config, v1alpha1.SubscriptionFinalizer) {
		return nil
	}
	return v.patchFinalizers(ctx, before)
}

// patchFinalizers leaves the status of the visit's copy as it was filled in.
func (v *visit) patchFinalizers(ctx context.Context, before *v1alpha1.WebhookConfig) error {
	said := v.config.Status.DeepCopy()
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := v.client.Patch(ctx, v.config, patch, client.FieldOwner(instance.FieldManager)); err != nil {
		return fmt.Errorf("patching the finalizer: %w", err)
	}
	v.config.Status = *said
	return nil
}

// subscribe makes the subscription, and gives the receiver what it verifies by.
func (v *visit) subscribe(ctx context.Context, w *work) (*subscription, error) {
	made, secret, err := w.create(ctx, w.wanted)
	if err != nil {
		v.config.Status.ID, v.config.Status.TokenHash = "", ""
		return nil, err
	}
	if err := v.vault.put(ctx, v.config, w.signing, made.id, secret); err != nil {
		return &made, err
	}
	v.config.Status.TokenHash = hashToken(secret, w.wanted.token)
	return &made, nil
}

// repair does what is planned about a subscription that there is. First of all the
// receiver is given what it verifies by.
func (v *visit) repair(ctx context.Context, w *work) (*subscription, error) {
	kept, secret := w.plan.kept, w.known.secret
	if w.plan.rotate {
		rotated, err := w.rotate(ctx, kept.id)
		if err != nil {
			return kept, err
		}
		if err := v.vault.put(ctx, v.config, w.signing, kept.id, rotated); err != nil {
			return kept, err
		}
		secret = rotated
	}
	for _, id := range w.plan.surplus {
		if err := w.delete(ctx, id); err != nil {
			return kept, err
		}
	}
	if w.plan.change == (change{}) {
		return kept, nil
	}
	changed, err := w.change(ctx, kept.id, w.wanted, w.plan.change)
	if err != nil {
		return kept, err
	}
	if w.plan.change.token {
		v.config.Status.TokenHash = hashToken(secret, w.wanted.token)
	}
	return &changed, nil
}

// observe says in the status what was found of the subscription, and gives what is
// wrong with it.
func (v *visit) observe(ctx context.Context, all subscriptions, found *subscription) []error {
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
		said.LastDelivery = last // those that were forgotten since stay told
	}
	switch found.status {
	case "disabled":
		return []error{problem.Stalled("", reasonDisabled, "the receiver said that it wants nothing any more (410), and is sent nothing: change spec.url to have events sent again, or delete this WebhookConfig")}
	case "failing":
		v.failing = true
	}
	return nil
}
