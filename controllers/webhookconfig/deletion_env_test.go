// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/onsi/gomega"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// TestDeletionDeletesSubscription covers suspended WebhookConfigs and duplicate
// subscriptions too.
func TestDeletionDeletesSubscription(t *testing.T) {
	p, api, config := newSubscribedConfig(t)
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.Suspend = true })
	p.expectConditions("portal", "Ready=True Suspended")
	api.withLock(func(a *fakeInstanceAPI) {
		a.configs = append(a.configs, &fakeWebhook{ID: uuid.NewString(), Reference: new(string(config.UID))})
	})
	p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
	p.expectConditions("portal", "gone")
	p.Expect(api.configLines()).To(gomega.BeEmpty())
}

// TestDeletionWithoutSubscriptionIsImmediate checks that the deletion does not wait for
// the Instance.
func TestDeletionWithoutSubscriptionIsImmediate(t *testing.T) {
	p := newTestOperator(t)
	config := p.createWebhookConfig("portal", receiverURL)
	p.expectConditions("portal", "Ready=False InstanceNotFound", "Reconciling=True InstanceNotFound")
	p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
	p.Expect(p.conditions("portal")).To(gomega.Equal([]string{"gone"}))
}

// TestMissingInstanceDoesNotBlockDeletion covers missing and terminating Instances.
func TestMissingInstanceDoesNotBlockDeletion(t *testing.T) {
	for name, goes := range map[string]func(*testOperator){
		"gone": func(p *testOperator) {
			p.Expect(p.Delete(p.t.Context(), &v1alpha1.Instance{ObjectMeta: p.objectMeta("acme")})).To(gomega.Succeed())
			p.expectConditions("portal", "Ready=False InstanceNotFound", "Reconciling=True InstanceNotFound")
		},
		"going": func(p *testOperator) {
			edit(p, "acme", &v1alpha1.Instance{}, func(i *v1alpha1.Instance) { i.Finalizers = []string{v1alpha1.DataFinalizer} })
			p.Expect(p.Delete(p.t.Context(), &v1alpha1.Instance{ObjectMeta: p.objectMeta("acme")})).To(gomega.Succeed())
			p.expectConditions("portal", "Ready=False InstanceTerminating", "Reconciling=True InstanceTerminating")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, config := newSubscribedConfig(t)
			goes(p)
			p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
			p.expectConditions("portal", "gone")
		})
	}
}

// TestDeletionWaitsForHibernatedInstance checks that there is no timeout for a
// hibernated Instance: its subscriptions are kept with its data and would receive events
// again when it wakes, perhaps after a year.
func TestDeletionWaitsForHibernatedInstance(t *testing.T) {
	p, api, config := newSubscribedConfig(t)
	edit(p, "acme", &v1alpha1.Instance{}, func(i *v1alpha1.Instance) { i.Spec.Hibernate = true })
	p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
	p.clockOffset.Store(int64(1000 * time.Hour))
	p.expectConditions("portal", "Ready=False InstanceHibernated", "Reconciling=True InstanceHibernated")
	p.Expect(p.readyMessage("portal")).To(gomega.HavePrefix("deleting the subscription: Instance acme is hibernated"))
	p.expectIdle(api)
	p.clockOffset.Store(0)
	edit(p, "acme", &v1alpha1.Instance{}, func(i *v1alpha1.Instance) { i.Spec.Hibernate = false })
	p.expectConditions("portal", "gone")
	p.Expect(api.configLines()).To(gomega.BeEmpty())
}

// TestDeletionTimesOut checks that an Instance that does not respond for a day no longer
// blocks the deletion, and that an event reports it.
func TestDeletionTimesOut(t *testing.T) {
	for name, ends := range map[string]func(*testOperator, *fakeInstanceAPI){
		"it answers that it is not well": func(_ *testOperator, api *fakeInstanceAPI) {
			api.withLock(func(a *fakeInstanceAPI) {
				a.overrideStatus = func(*http.Request) int { return http.StatusServiceUnavailable }
			})
		},
		"no pod serves": func(p *testOperator, _ *fakeInstanceAPI) { p.setInstanceStatus("acme", "False") },
	} {
		t.Run(name, func(t *testing.T) {
			p, api, config := newSubscribedConfig(t)
			ends(p, api)
			p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
			p.clockOffset.Store(int64(23 * time.Hour))
			p.Consistently(func() []string { return p.conditions("portal") }).ShouldNot(gomega.ContainElement("gone"))
			p.clockOffset.Store(int64(25 * time.Hour))
			p.expectConditions("portal", "gone")
			p.Eventually(func() []string { return p.eventReasons("portal") }).Should(gomega.ContainElement("Warning SubscriptionOrphaned"))
			p.Expect(api.configLines()).To(gomega.HaveLen(1))
		})
	}
}
