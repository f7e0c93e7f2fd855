// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/onsi/gomega"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// TestDeletionEndsTheSubscription, also while it is suspended, and with any that
// was made twice.
func TestDeletionEndsTheSubscription(t *testing.T) {
	p, api, config := subscribed(t)
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.Suspend = true })
	p.reaches("portal", "Ready=True Suspended")
	api.locked(func(a *remoteAPI) {
		a.configs = append(a.configs, &remoteConfig{ID: uuid.NewString(), Reference: new(string(config.UID))})
	})
	p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
	p.reaches("portal", "gone")
	p.Expect(api.shows()).To(gomega.BeEmpty())
}

// TestDeletionWithoutSubscription waits for nothing.
func TestDeletionWithoutSubscription(t *testing.T) {
	p := newPlatform(t)
	config := p.subscribe("portal", somePlace)
	p.reaches("portal", "Ready=False InstanceNotFound", "Reconciling=True InstanceNotFound")
	p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
	p.Expect(p.state("portal")).To(gomega.Equal([]string{"gone"}))
}

// TestInstanceIsGone, or going: that does not block the deletion.
func TestInstanceIsGone(t *testing.T) {
	for name, goes := range map[string]func(*platform){
		"gone": func(p *platform) {
			p.Expect(p.Delete(p.t.Context(), &v1alpha1.Instance{ObjectMeta: p.meta("acme")})).To(gomega.Succeed())
			p.reaches("portal", "Ready=False InstanceNotFound", "Reconciling=True InstanceNotFound")
		},
		"going": func(p *platform) {
			edit(p, "acme", &v1alpha1.Instance{}, func(i *v1alpha1.Instance) { i.Finalizers = []string{v1alpha1.Finalizer} })
			p.Expect(p.Delete(p.t.Context(), &v1alpha1.Instance{ObjectMeta: p.meta("acme")})).To(gomega.Succeed())
			p.reaches("portal", "Ready=False InstanceBeingDeleted", "Reconciling=True InstanceBeingDeleted")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, config := subscribed(t)
			goes(p)
			p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
			p.reaches("portal", "gone")
		})
	}
}

// TestDeletionWaitsForAnInstanceThatHibernates: its subscriptions are kept with its
// data, and would be sent to again when it wakes. That may be in a year.
func TestDeletionWaitsForAnInstanceThatHibernates(t *testing.T) {
	p, api, config := subscribed(t)
	edit(p, "acme", &v1alpha1.Instance{}, func(i *v1alpha1.Instance) { i.Spec.Hibernate = true })
	p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
	p.ahead.Store(int64(1000 * time.Hour))
	p.reaches("portal", "Ready=False InstanceHibernated", "Reconciling=True InstanceHibernated")
	p.Expect(p.message("portal")).To(gomega.HavePrefix("the subscription is deleted first: Instance acme hibernates"))
	p.rests(api)
	p.ahead.Store(0)
	edit(p, "acme", &v1alpha1.Instance{}, func(i *v1alpha1.Instance) { i.Spec.Hibernate = false })
	p.reaches("portal", "gone")
	p.Expect(api.shows()).To(gomega.BeEmpty())
}

// TestDeletionGivesUp on an Instance that does not answer for a day, and says so.
func TestDeletionGivesUp(t *testing.T) {
	for name, ends := range map[string]func(*platform, *remoteAPI){
		"it answers that it is not well": func(_ *platform, api *remoteAPI) {
			api.locked(func(a *remoteAPI) { a.answer = func(*http.Request) int { return http.StatusServiceUnavailable } })
		},
		"no pod serves": func(p *platform, _ *remoteAPI) { p.serve("acme", resources.Revision, "False") },
	} {
		t.Run(name, func(t *testing.T) {
			p, api, config := subscribed(t)
			ends(p, api)
			p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
			p.ahead.Store(int64(23 * time.Hour))
			p.Consistently(func() []string { return p.state("portal") }).ShouldNot(gomega.ContainElement("gone"))
			p.ahead.Store(int64(25 * time.Hour))
			p.reaches("portal", "gone")
			p.Eventually(func() []string { return p.events("portal") }).Should(gomega.ContainElement("Warning SubscriptionLeft"))
			p.Expect(api.shows()).To(gomega.HaveLen(1))
		})
	}
}
