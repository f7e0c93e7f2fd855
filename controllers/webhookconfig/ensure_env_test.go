// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/controlplanetest"
)

var readyConditions = []string{"Ready=True Subscribed"}

// newSubscribedConfig returns an operator with one subscription.
func newSubscribedConfig(t *testing.T) (p *testOperator, api *fakeInstanceAPI, config *v1alpha1.WebhookConfig) {
	t.Helper()
	p = newTestOperator(t)
	api = p.createInstance("acme")
	p.createTokenSecret("portal-token", "t0ken")
	config = p.createWebhookConfig("portal", receiverURL)
	p.expectConditions("portal", readyConditions...)
	return p, api, config
}

func expectedSubscriptions(config *v1alpha1.WebhookConfig) []string {
	return []string{receiverURL + " survey_finished,notification active of " + string(config.UID) + " by t0ken"}
}

// TestSubscriptionFollowsSpecAndToken covers the creation of a subscription, changes of
// its spec and token, and the steady state without writes.
func TestSubscriptionFollowsSpecAndToken(t *testing.T) {
	p, api, config := newSubscribedConfig(t)
	p.Expect(api.configLines()).To(gomega.Equal(expectedSubscriptions(config)))
	p.Expect(p.signingSecretMatches("portal", api)()).To(gomega.BeTrue(), "the receiver cannot verify what it is sent")
	said := p.getWebhookConfig("portal")
	p.Expect(said.Status.ID).To(gomega.Equal(api.configs[0].ID))
	p.Expect(said.Status.Events).To(gomega.Equal("survey_finished,notification"))
	p.Expect(said.Finalizers).To(gomega.ConsistOf(v1alpha1.SubscriptionFinalizer))
	signing := &corev1.Secret{}
	p.get("portal-signing", signing)
	p.Expect(metav1.IsControlledBy(signing, said)).To(gomega.BeTrue())
	p.expectIdle(api)
	p.Expect(api.recordedWrites()).To(gomega.HaveLen(1), "one call made it as it is")

	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) {
		config.Spec.URL, config.Spec.SubscribedEvents = "https://other.example/", []v1alpha1.WebhookEvent{"notification"}
	})
	p.Eventually(api.configLines).Should(gomega.Equal([]string{"https://other.example/ notification active of " + string(config.UID) + " by t0ken"}))
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.SubscribedEvents = []v1alpha1.WebhookEvent{} })
	p.Eventually(api.configLines).Should(gomega.Equal([]string{"https://other.example/  active of " + string(config.UID) + " by t0ken"}))

	edit(p, "portal-token", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["token"] = []byte("other") })
	p.Eventually(api.configLines).Should(gomega.Equal([]string{"https://other.example/  active of " + string(config.UID) + " by other"}))
	p.expectIdle(api)
	p.Expect(p.signingSecretMatches("portal", api)()).To(gomega.BeTrue())
	p.Expect(api.recordedWrites()).To(gomega.HaveLen(4))
	p.Eventually(func() []string { return p.eventReasons("portal") }).Should(gomega.Equal([]string{"Normal Subscribed"}), "events are of transitions only")
}

// TestUnwatchedTokenIsReread checks that a changed token in an unwatched Secret is
// picked up, and that the token never appears in the WebhookConfig.
func TestUnwatchedTokenIsReread(t *testing.T) {
	p := newTestOperator(t)
	api := p.createInstance("acme")
	p.create(&corev1.Secret{ObjectMeta: p.objectMeta("portal-token"), Data: map[string][]byte{"token": []byte("t0ken")}})
	p.createWebhookConfig("portal", receiverURL)
	p.expectConditions("portal", readyConditions...)
	edit(p, "portal-token", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["token"] = []byte("hunter2-hunter2") })
	p.Eventually(func() string { return strings.Join(api.configLines(), "") }).Should(gomega.HaveSuffix("by hunter2-hunter2"))
	p.expectIdle(api)
	encoded, err := json.Marshal(p.getWebhookConfig("portal"))
	p.Expect(err).NotTo(gomega.HaveOccurred())
	p.Expect(string(encoded)).NotTo(gomega.ContainSubstring("hunter2"))
}

// TestDriftIsRepaired checks that manual changes at the API are reverted.
func TestDriftIsRepaired(t *testing.T) {
	p, api, config := newSubscribedConfig(t)
	for name, harm := range map[string]func(*fakeInstanceAPI){
		"another URL":         func(a *fakeInstanceAPI) { a.configs[0].URL = "https://evil.example/" },
		"other events":        func(a *fakeInstanceAPI) { a.configs[0].Events = []string{} },
		"its reference":       func(a *fakeInstanceAPI) { a.configs[0].Reference = nil },
		"a foreign reference": func(a *fakeInstanceAPI) { a.configs[0].Reference = new("other") },
		"it is deleted":       func(a *fakeInstanceAPI) { a.configs = nil },
		"there are two": func(a *fakeInstanceAPI) {
			a.configs = append([]*fakeWebhook{{ID: uuid.NewString(), URL: receiverURL, Status: "active", Reference: new(string(config.UID))}}, a.configs...)
		},
	} {
		t.Log(name)
		api.withLock(harm)
		p.Eventually(api.configLines).Should(gomega.ConsistOf(expectedSubscriptions(config)), name)
		p.Eventually(p.signingSecretMatches("portal", api)).Should(gomega.BeTrue(), name)
		p.expectConditions("portal", readyConditions...)
		p.expectIdle(api)
	}
}

// TestForeignSubscriptionsAreUntouched checks that subscriptions created by users at the
// API are left alone.
func TestForeignSubscriptionsAreUntouched(t *testing.T) {
	p := newTestOperator(t)
	api := p.createInstance("acme")
	byHand := &fakeWebhook{ID: uuid.NewString(), URL: receiverURL, Status: "active", Events: []string{}, token: "mine"}
	api.withLock(func(a *fakeInstanceAPI) { a.configs = []*fakeWebhook{byHand} })
	p.createTokenSecret("portal-token", "t0ken")
	config := p.createWebhookConfig("portal", receiverURL)
	p.expectConditions("portal", readyConditions...)
	theirs := receiverURL + "  active of unowned by mine"
	p.Expect(api.configLines()).To(gomega.Equal(append([]string{theirs}, expectedSubscriptions(config)...)))
	p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
	p.expectConditions("portal", "gone")
	p.Expect(api.configLines()).To(gomega.Equal([]string{theirs}))
}

// TestLostResponsesDoNotDuplicateSubscription drops responses right after the request
// was executed. The operator must find the subscription instead of creating a second
// one, and the receiver must be able to verify deliveries.
func TestLostResponsesDoNotDuplicateSubscription(t *testing.T) {
	for name, method := range map[string]string{"creation": http.MethodPost, "rotation": http.MethodPost, "change": http.MethodPatch} {
		t.Run(name, func(t *testing.T) {
			p := newTestOperator(t)
			api := p.createInstance("acme")
			p.createTokenSecret("portal-token", "t0ken")
			url := receiverURL
			if name != "creation" {
				url = "https://before.example/"
			}
			config := p.createWebhookConfig("portal", url, func(*v1alpha1.WebhookConfig) {
				if name == "creation" {
					api.withLock(func(a *fakeInstanceAPI) { a.dropResponse = matchFirst(method, "/webhook") })
				}
			})
			p.expectConditions("portal", readyConditions...)
			switch name {
			case "rotation":
				api.withLock(func(a *fakeInstanceAPI) { a.dropResponse = matchFirst(method, "/rotate_secret") })
				p.Expect(p.Delete(t.Context(), &corev1.Secret{ObjectMeta: p.objectMeta("portal-signing")})).To(gomega.Succeed())
				p.Eventually(api.recordedWrites).Should(gomega.HaveLen(4), "twice rotated, and the token given again")
			case "change":
				api.withLock(func(a *fakeInstanceAPI) { a.dropResponse = matchFirst(method, "") })
			}
			edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.URL = receiverURL })
			p.Eventually(api.configLines).Should(gomega.Equal(expectedSubscriptions(config)))
			p.Eventually(p.signingSecretMatches("portal", api)).Should(gomega.BeTrue())
			p.expectConditions("portal", readyConditions...)
			p.expectIdle(api)
		})
	}
}

// matchFirst returns a function that matches the first call with a method and a path
// suffix.
func matchFirst(method, end string) func(*http.Request) bool {
	was := false
	return func(r *http.Request) bool {
		is := !was && r.Method == method && strings.HasSuffix(r.URL.Path, end) && !strings.HasSuffix(r.URL.Path, "/token")
		was = was || is
		return is
	}
}

// TestOperatorKilledBeforeEachWrite stops the operator before each of its writes to
// Kubernetes in turn, and starts another one. In the end there is one subscription, and
// its receiver can verify deliveries.
func TestOperatorKilledBeforeEachWrite(t *testing.T) {
	for _, path := range []string{"/webhookconfigs/portal", "/secrets", "/webhookconfigs/portal/status"} {
		t.Run(path, func(t *testing.T) {
			p := newTestOperator(t)
			api := p.createInstance("acme")
			p.createTokenSecret("portal-token", "t0ken")
			killed := make(chan struct{}, 1000)
			p.setRejectWrite(func(r *http.Request) error {
				if !strings.HasSuffix(r.URL.Path, path) {
					return nil
				}
				killed <- struct{}{}
				return errors.New("killed")
			})
			config := p.createWebhookConfig("portal", receiverURL)
			select {
			case <-killed:
			case <-time.After(eventuallyTimeout):
				t.Fatal("operator never wrote the object")
			}
			p.stop()
			p.setRejectWrite(nil)
			p.restart()
			p.expectConditions("portal", readyConditions...)
			p.Eventually(api.configLines).Should(gomega.Equal(expectedSubscriptions(config)))
			p.Eventually(p.signingSecretMatches("portal", api)).Should(gomega.BeTrue())
			p.expectIdle(api)
		})
	}
}

// TestLostSigningSecretIsRotated checks that the receiver gets a new signing secret if
// its Secret is deleted or corrupted.
func TestLostSigningSecretIsRotated(t *testing.T) {
	p, api, config := newSubscribedConfig(t)
	first := p.signingSecret("portal")
	p.Expect(p.Delete(t.Context(), &corev1.Secret{ObjectMeta: p.objectMeta("portal-signing")})).To(gomega.Succeed())
	p.Eventually(func() string { return p.signingSecret("portal") }).ShouldNot(gomega.BeElementOf("", first))
	p.Eventually(p.signingSecretMatches("portal", api)).Should(gomega.BeTrue())
	for _, content := range []map[string][]byte{nil, {"secret": []byte("x")}, {"secret": []byte(newSecret())}} {
		edit(p, "portal-signing", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data = content })
		p.Eventually(p.signingSecretMatches("portal", api)).Should(gomega.BeTrue())
	}
	p.expectIdle(api)
	p.Expect(api.configLines()).To(gomega.Equal(expectedSubscriptions(config)))
}

// TestPrinterColumns checks that kubectl get shows the most important fields.
func TestPrinterColumns(t *testing.T) {
	p, api, _ := newSubscribedConfig(t)
	api.addDelivery(time.Now().Add(-90*time.Second), 204)
	p.Eventually(func() *v1alpha1.LastDelivery { return p.getWebhookConfig("portal").Status.LastDelivery }).ShouldNot(gomega.BeNil())
	columns, row := p.table("webhookconfigs")
	p.Expect(columns).To(gomega.Equal([]string{"Name", "Ready", "Reason", "Instance", "URL", "Events", "Last Delivery", "Code", "Age"}))
	p.Expect(row[:6]).To(gomega.Equal([]any{"portal", "True", "Subscribed", "acme", receiverURL, "survey_finished,notification"}))
	p.Expect(row[6]).To(gomega.MatchRegexp("^[0-9]+s$"))
	p.Expect(row[7]).To(gomega.BeEquivalentTo(204))
}

// table returns the column names, including the columns of -o wide, and the first row of
// kubectl get.
func (o *testOperator) table(resource string) (columns []string, row []any) {
	o.t.Helper()
	shared := controlplanetest.Get(o.t)
	admin := shared.AdminConfig()
	caller, err := rest.HTTPClientFor(admin)
	if err != nil {
		o.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(o.t.Context(), http.MethodGet, strings.TrimSuffix(admin.Host, "/")+"/apis/anamnesis.dev/v1alpha1/namespaces/"+o.namespace+"/"+resource, http.NoBody)
	if err != nil {
		o.t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	response, err := caller.Do(request)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var table metav1.Table
	if err := json.NewDecoder(response.Body).Decode(&table); err != nil {
		o.t.Fatal(err)
	}
	for _, column := range table.ColumnDefinitions {
		columns = append(columns, column.Name)
	}
	return columns, table.Rows[0].Cells
}

// TestSigningSecretNameConflict checks that a Secret of another owner is reported and
// left alone.
func TestSigningSecretNameConflict(t *testing.T) {
	p := newTestOperator(t)
	api := p.createInstance("acme")
	p.createTokenSecret("portal-token", "t0ken")
	theirs := &corev1.Secret{ObjectMeta: p.objectMeta("portal-signing"), Data: map[string][]byte{"secret": []byte("theirs")}}
	p.create(theirs)
	p.createWebhookConfig("portal", receiverURL)
	p.expectConditions("portal", "Ready=False SigningSecretNotOwned", "Stalled=True SigningSecretNotOwned")
	p.Expect(api.configLines()).To(gomega.BeEmpty(), "no subscription, because its signing secret could not be stored")
	p.Expect(p.Delete(t.Context(), theirs)).To(gomega.Succeed())
	p.expectConditions("portal", readyConditions...)
}

// TestMissingTokenBlocksOnlyDependents checks that a missing token blocks only the
// changes that need it.
func TestMissingTokenBlocksOnlyDependents(t *testing.T) {
	p := newTestOperator(t)
	api := p.createInstance("acme")
	config := p.createWebhookConfig("portal", receiverURL)
	p.expectConditions("portal", "Ready=False TokenSecretNotFound", "Reconciling=True TokenSecretNotFound")
	p.Expect(p.getWebhookConfig("portal").Finalizers).To(gomega.BeEmpty(), "what was never subscribed waits for nothing when it is deleted")
	p.createTokenSecret("portal-token", "two words hunter2")
	p.expectConditions("portal", "Ready=False TokenSecretInvalid", "Stalled=True TokenSecretInvalid")
	p.Expect(p.readyMessage("portal")).NotTo(gomega.ContainSubstring("hunter2"))
	edit(p, "portal-token", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["token"] = []byte("t0ken") })
	p.expectConditions("portal", readyConditions...)

	p.Expect(p.Delete(t.Context(), &corev1.Secret{ObjectMeta: p.objectMeta("portal-token")})).To(gomega.Succeed())
	p.expectConditions("portal", "Ready=False TokenSecretNotFound", "Reconciling=True TokenSecretNotFound")
	api.withLock(func(a *fakeInstanceAPI) { a.configs[0].URL = "https://evil.example/" })
	p.Eventually(api.configLines).Should(gomega.Equal(expectedSubscriptions(config)), "subscriptions that need no token are still created")
}

// TestTokenSecretMustBeUserOwnedOpaque checks that other Secrets are rejected: the
// author of a WebhookConfig could otherwise have them sent to any address.
func TestTokenSecretMustBeUserOwnedOpaque(t *testing.T) {
	p := newTestOperator(t)
	api := p.createInstance("acme")
	p.create(&corev1.Secret{ObjectMeta: p.objectMeta("login"), Type: corev1.SecretTypeBasicAuth, Data: map[string][]byte{"username": []byte("me"), "password": []byte("pw")}})
	for name, reference := range map[string]v1alpha1.TokenSecretReference{
		"the operator's":        {Name: "acme-credentials", Key: "operator.json"},
		"a certificate's":       {Name: "acme-serving-tls", Key: "tls.key"},
		"of another type still": {Name: "login", Key: "password"},
	} {
		uri := "https://" + reference.Name + ".example/"
		p.createWebhookConfig(reference.Name, uri, func(config *v1alpha1.WebhookConfig) { config.Spec.AuthorizationTokenSecretRef = reference })
		p.Eventually(func() []string { return p.conditions(reference.Name) }).Should(gomega.ContainElement("Stalled=True TokenSecretInvalid"), name)
	}
	p.Expect(api.recordedWrites()).To(gomega.BeEmpty())
}

// TestGoneReceiverStaysDisabledUntilURLChanges covers a receiver that responded with 410
// Gone.
func TestGoneReceiverStaysDisabledUntilURLChanges(t *testing.T) {
	p, api, config := newSubscribedConfig(t)
	api.withLock(func(a *fakeInstanceAPI) { a.configs[0].Status = "disabled" })
	p.expectConditions("portal", "Ready=False Disabled", "Stalled=True Disabled")
	edit(p, "portal-token", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["token"] = []byte("other") })
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) {
		config.Spec.SubscribedEvents = []v1alpha1.WebhookEvent{"notification"}
	})
	p.Eventually(api.configLines).Should(gomega.Equal([]string{receiverURL + " notification disabled of " + string(config.UID) + " by other"}))
	p.expectConditions("portal", "Ready=False Disabled", "Stalled=True Disabled")
	p.expectIdle(api)
	p.Eventually(func() []string { return p.eventReasons("portal") }).Should(gomega.ContainElement("Warning Disabled"))
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.URL = "https://new.example/" })
	p.expectConditions("portal", readyConditions...)
	p.Expect(api.configLines()).To(gomega.Equal([]string{"https://new.example/ notification active of " + string(config.UID) + " by other"}))
}

// TestFailingReceiverKeepsReady checks that a failing receiver and the last delivery are
// reported, while Ready stays true.
func TestFailingReceiverKeepsReady(t *testing.T) {
	p, api, _ := newSubscribedConfig(t)
	p.Expect(p.getWebhookConfig("portal").Status.LastDelivery).To(gomega.BeNil())
	at := time.Date(2026, 11, 23, 12, 0, 0, 123456789, time.UTC)
	api.addDelivery(at, 0)
	p.Eventually(func() *v1alpha1.LastDelivery { return p.getWebhookConfig("portal").Status.LastDelivery }).ShouldNot(gomega.BeNil())
	p.Expect(p.getWebhookConfig("portal").Status.LastDelivery.StatusCode).To(gomega.BeZero())
	api.addDelivery(at.Add(time.Minute), 503)
	api.withLock(func(a *fakeInstanceAPI) { a.configs[0].Status = "failing" })
	p.expectConditions("portal", "Ready=True ReceiverFailing")
	last := p.getWebhookConfig("portal").Status.LastDelivery
	p.Expect(last.StatusCode).To(gomega.Equal(int32(503)))
	p.Expect(last.Time.UTC()).To(gomega.Equal(at.Add(time.Minute).Truncate(time.Second)))
	p.expectIdle(api)
	p.Eventually(func() []string { return p.eventReasons("portal") }).Should(gomega.ContainElement("Warning ReceiverFailing"))
	api.withLock(func(a *fakeInstanceAPI) { a.configs[0].Status = "active" })
	p.expectConditions("portal", readyConditions...)
}

// TestSuspendedSubscriptionIsUnchanged checks that nothing is changed at the API, and
// that drift is reported.
func TestSuspendedSubscriptionIsUnchanged(t *testing.T) {
	p, api, config := newSubscribedConfig(t)
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.Suspend = true })
	p.expectConditions("portal", "Ready=True Suspended")
	api.addDelivery(time.Now(), 200)
	p.Eventually(func() *v1alpha1.LastDelivery { return p.getWebhookConfig("portal").Status.LastDelivery }).ShouldNot(gomega.BeNil(), "observation continues")
	before := api.recordedWrites()
	api.withLock(func(a *fakeInstanceAPI) { a.configs[0].Events = []string{} })
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.URL = "https://new.example/" })
	p.expectConditions("portal", "Ready=False Suspended")
	p.Expect(p.readyMessage("portal")).To(gomega.Equal("suspended: the subscription is not updated; URL differs, events differ"))
	p.Expect(p.Delete(t.Context(), &corev1.Secret{ObjectMeta: p.objectMeta("portal-signing")})).To(gomega.Succeed())
	p.expectIdle(api)
	p.Expect(api.recordedWrites()).To(gomega.Equal(before))
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.Suspend, config.Spec.URL = false, receiverURL })
	p.expectConditions("portal", readyConditions...)
	p.Eventually(api.configLines).Should(gomega.Equal(expectedSubscriptions(config)))
	p.Eventually(p.signingSecretMatches("portal", api)).Should(gomega.BeTrue())
}

// TestDuplicateReceiverIsStalled checks that the newer WebhookConfig stalls, and
// proceeds once the older one is deleted or points to another receiver.
func TestDuplicateReceiverIsStalled(t *testing.T) {
	p, api, older := newSubscribedConfig(t)
	time.Sleep(time.Until(older.CreationTimestamp.Add(time.Second))) // timestamps have a resolution of one second
	younger := p.createWebhookConfig("younger", "https://Portal.example:443/events")
	p.expectConditions("younger", "Ready=False DuplicateURL", "Stalled=True DuplicateURL")
	p.Expect(p.readyMessage("younger")).To(gomega.ContainSubstring("WebhookConfig portal is older"))
	p.Expect(api.configLines()).To(gomega.HaveLen(1))
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.URL = "https://other.example/" })
	p.expectConditions("younger", readyConditions...)
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.URL = receiverURL })
	p.expectConditions("younger", "Ready=False DuplicateURL", "Stalled=True DuplicateURL")
	p.Expect(p.Delete(t.Context(), older)).To(gomega.Succeed())
	p.expectConditions("younger", readyConditions...)
	p.Eventually(api.configLines).Should(gomega.Equal([]string{
		"https://Portal.example:443/events survey_finished,notification active of " + string(younger.UID) + " by t0ken",
	}))
}

// TestInstanceLifecycle covers all states in which an Instance cannot be called. None of
// them counts as an error.
func TestInstanceLifecycle(t *testing.T) {
	p := newTestOperator(t)
	p.createTokenSecret("portal-token", "t0ken")
	p.createWebhookConfig("portal", receiverURL)
	p.expectConditions("portal", "Ready=False InstanceNotFound", "Reconciling=True InstanceNotFound")
	api := p.createInstance("acme")
	p.expectConditions("portal", readyConditions...)
	for reason, states := range map[string][2]func(){
		"InstanceNotReady": {func() { p.setInstanceStatus("acme", "False") }, func() { p.setInstanceStatus("acme", "True") }},
		"InstanceHibernated": {
			func() { edit(p, "acme", &v1alpha1.Instance{}, func(i *v1alpha1.Instance) { i.Spec.Hibernate = true }) },
			func() { edit(p, "acme", &v1alpha1.Instance{}, func(i *v1alpha1.Instance) { i.Spec.Hibernate = false }) },
		},
	} {
		states[0]()
		p.expectConditions("portal", "Ready=False "+reason, "Reconciling=True "+reason)
		p.expectIdle(api)
		called := p.dialer.callCount()
		p.Consistently(p.dialer.callCount, "500ms").Should(gomega.Equal(called), "it is called although it is known not to answer")
		states[1]()
		p.expectConditions("portal", readyConditions...)
	}
	api.withLock(func(a *fakeInstanceAPI) {
		a.overrideStatus = func(r *http.Request) int {
			if strings.Contains(r.URL.Path, "/config/webhook") {
				return http.StatusNotFound
			}
			return 0
		}
	})
	p.expectConditions("portal", "Ready=False WebhooksUnsupported", "Reconciling=True WebhooksUnsupported")
}

// TestUnresponsiveInstance covers an Instance that does not respond or reports an error.
// This is a transient error, which does not change the conditions for two minutes.
func TestUnresponsiveInstance(t *testing.T) {
	p, api, _ := newSubscribedConfig(t)
	api.withLock(func(a *fakeInstanceAPI) {
		a.overrideStatus = func(*http.Request) int { return http.StatusServiceUnavailable }
	})
	p.expectConditions("portal", "Ready=True Subscribed", "Reconciling=True TransientError")
	p.expectIdle(api) // although each response has another request ID
	p.clockOffset.Store(int64(3 * time.Minute))
	p.triggerReconcile("portal")
	p.expectConditions("portal", "Ready=Unknown TransientError", "Reconciling=True TransientError")
	api.withLock(func(a *fakeInstanceAPI) { a.overrideStatus = nil })
	p.triggerReconcile("portal")
	p.expectConditions("portal", readyConditions...)
}

// TestKeyAndCertificateRotation checks that the operator picks up new keys and
// certificates.
func TestKeyAndCertificateRotation(t *testing.T) {
	p, api, config := newSubscribedConfig(t)
	api.withLock(func(a *fakeInstanceAPI) { a.key, a.tokens = "another-key", map[string]bool{} })
	p.expectConditions("portal", "Ready=False CredentialsPropagating", "Reconciling=True CredentialsPropagating")
	edit(p, "acme-credentials", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data["operator.json"] = []byte(`{"id":"operator","key":"another-key","keys":["key-of-the-operator"]}`)
	})
	p.expectConditions("portal", readyConditions...)

	// The server presents a certificate from another CA, which is not trusted until the
	// Instance's Secret contains it.
	authority, pair := p.newCertificate("acme")
	moved := newFakeInstanceAPI(t, "acme", pair)
	moved.withLock(func(m *fakeInstanceAPI) {
		api.withLock(func(a *fakeInstanceAPI) { m.key, m.configs = a.key, a.configs })
	})
	service := &corev1.Service{}
	p.get("acme", service)
	p.dialer.route(net.JoinHostPort(service.Spec.ClusterIP, "443"), moved)
	api.server.CloseClientConnections()
	p.Eventually(func() []string { return p.conditions("portal") }).Should(gomega.ContainElement("Reconciling=True TransientError"))
	p.Expect(moved.tokens).To(gomega.BeEmpty(), "the operator shows its key to a server that it does not know")
	edit(p, "acme-serving-tls", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data = map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": authority}
	})
	p.expectConditions("portal", readyConditions...)
	p.Expect(moved.configLines()).To(gomega.Equal(expectedSubscriptions(config)))
}

// TestInstanceRejectsSubscription covers subscriptions that the Instance rejects until a
// user changes them, and the subscription limit.
func TestInstanceRejectsSubscription(t *testing.T) {
	p := newTestOperator(t)
	api := p.createInstance("acme")
	p.createTokenSecret("portal-token", "t0ken")
	apiErr := func(status int) {
		api.withLock(func(a *fakeInstanceAPI) {
			a.overrideStatus = func(r *http.Request) int {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/webhook") {
					return status
				}
				return 0
			}
		})
	}
	apiErr(http.StatusUnprocessableEntity)
	p.createWebhookConfig("portal", receiverURL)
	p.expectConditions("portal", "Ready=False RejectedByInstance", "Stalled=True RejectedByInstance")
	apiErr(http.StatusConflict)
	p.expectConditions("portal", "Ready=False SubscriptionLimitReached", "Reconciling=True SubscriptionLimitReached")
	apiErr(0)
	p.expectConditions("portal", readyConditions...)
}

// TestSelectorLimitsWebhookConfigs checks that several operators can share a cluster by
// labels.
func TestSelectorLimitsWebhookConfigs(t *testing.T) {
	p, api, config := newSubscribedConfig(t)
	p.stop()
	selector, err := labels.Parse("team=blue")
	if err != nil {
		t.Fatal(err)
	}
	p.selector = selector
	p.restart()
	p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
	p.Consistently(api.configLines).Should(gomega.Equal(expectedSubscriptions(config)), "another operator's is touched")
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Labels = map[string]string{"team": "blue"} })
	p.expectConditions("portal", "Ready=False InstanceNotFound", "Reconciling=True InstanceNotFound")
	p.Expect(api.configLines()).To(gomega.Equal(expectedSubscriptions(config)), "an Instance that another operator cares for is not gone")
	edit(p, "acme", &v1alpha1.Instance{}, func(instance *v1alpha1.Instance) { instance.Labels = map[string]string{"team": "blue"} })
	p.expectConditions("portal", "gone")
	p.Expect(api.configLines()).To(gomega.BeEmpty())
}
