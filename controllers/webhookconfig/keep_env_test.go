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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

var ready = []string{"Ready=True Subscribed"}

// subscribed gives an operator that keeps one subscription.
func subscribed(t *testing.T) (p *platform, api *remoteAPI, config *v1alpha1.WebhookConfig) {
	t.Helper()
	p = newPlatform(t)
	api = p.instance("acme")
	p.token("portal-token", "t0ken")
	config = p.subscribe("portal", somePlace)
	p.reaches("portal", ready...)
	return p, api, config
}

func asWished(config *v1alpha1.WebhookConfig) []string {
	return []string{somePlace + " survey_finished,notification active of " + string(config.UID) + " by t0ken"}
}

// TestSubscriptionIsKept from its creation over changes of the spec and of the
// token to rest, in which nobody is written to.
func TestSubscriptionIsKept(t *testing.T) {
	p, api, config := subscribed(t)
	p.Expect(api.shows()).To(gomega.Equal(asWished(config)))
	p.Expect(p.verifies("portal", api)()).To(gomega.BeTrue(), "the receiver cannot verify what it is sent")
	said := p.read("portal")
	p.Expect(said.Status.ID).To(gomega.Equal(api.configs[0].ID))
	p.Expect(said.Status.Events).To(gomega.Equal("survey_finished,notification"))
	p.Expect(said.Finalizers).To(gomega.ConsistOf(v1alpha1.SubscriptionFinalizer))
	signing := &corev1.Secret{}
	p.get("portal-signing", signing)
	p.Expect(metav1.IsControlledBy(signing, said)).To(gomega.BeTrue())
	p.rests(api)
	p.Expect(api.written()).To(gomega.HaveLen(1), "one call made it as it is")

	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) {
		config.Spec.URL, config.Spec.SubscribedEvents = "https://other.example/", []v1alpha1.WebhookEvent{"notification"}
	})
	p.Eventually(api.shows).Should(gomega.Equal([]string{"https://other.example/ notification active of " + string(config.UID) + " by t0ken"}))
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.SubscribedEvents = []v1alpha1.WebhookEvent{} })
	p.Eventually(api.shows).Should(gomega.Equal([]string{"https://other.example/  active of " + string(config.UID) + " by t0ken"}))

	edit(p, "portal-token", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["token"] = []byte("other") })
	p.Eventually(api.shows).Should(gomega.Equal([]string{"https://other.example/  active of " + string(config.UID) + " by other"}))
	p.rests(api)
	p.Expect(p.verifies("portal", api)()).To(gomega.BeTrue())
	p.Expect(api.written()).To(gomega.HaveLen(4))
	p.Eventually(func() []string { return p.events("portal") }).Should(gomega.Equal([]string{"Normal Subscribed"}), "events are of transitions only")
}

// TestTokenIsReadAgain of a Secret that is not watched, and a token never shows.
func TestTokenIsReadAgain(t *testing.T) {
	p := newPlatform(t)
	api := p.instance("acme")
	p.create(&corev1.Secret{ObjectMeta: p.meta("portal-token"), Data: map[string][]byte{"token": []byte("t0ken")}})
	p.subscribe("portal", somePlace)
	p.reaches("portal", ready...)
	edit(p, "portal-token", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["token"] = []byte("hunter2-hunter2") })
	p.Eventually(func() string { return strings.Join(api.shows(), "") }).Should(gomega.HaveSuffix("by hunter2-hunter2"))
	p.rests(api)
	encoded, err := json.Marshal(p.read("portal"))
	p.Expect(err).NotTo(gomega.HaveOccurred())
	p.Expect(string(encoded)).NotTo(gomega.ContainSubstring("hunter2"))
}

// TestDriftIsRepaired: whatever is changed by hand at the API is put back.
func TestDriftIsRepaired(t *testing.T) {
	p, api, config := subscribed(t)
	for name, harm := range map[string]func(*remoteAPI){
		"another URL":          func(a *remoteAPI) { a.configs[0].URL = "https://evil.example/" },
		"other events":         func(a *remoteAPI) { a.configs[0].Events = []string{} },
		"its reference":        func(a *remoteAPI) { a.configs[0].Reference = nil },
		"somebody's reference": func(a *remoteAPI) { a.configs[0].Reference = new("somebody") },
		"it is deleted":        func(a *remoteAPI) { a.configs = nil },
		"there are two": func(a *remoteAPI) {
			a.configs = append([]*remoteConfig{{ID: uuid.NewString(), URL: somePlace, Status: "active", Reference: new(string(config.UID))}}, a.configs...)
		},
	} {
		t.Log(name)
		api.locked(harm)
		p.Eventually(api.shows).Should(gomega.ConsistOf(asWished(config)), name)
		p.Eventually(p.verifies("portal", api)).Should(gomega.BeTrue(), name)
		p.reaches("portal", ready...)
		p.rests(api)
	}
}

// TestOthersAreLeftAlone: what people subscribe by hand is theirs.
func TestOthersAreLeftAlone(t *testing.T) {
	p := newPlatform(t)
	api := p.instance("acme")
	byHand := &remoteConfig{ID: uuid.NewString(), URL: somePlace, Status: "active", Events: []string{}, token: "mine"}
	api.locked(func(a *remoteAPI) { a.configs = []*remoteConfig{byHand} })
	p.token("portal-token", "t0ken")
	config := p.subscribe("portal", somePlace)
	p.reaches("portal", ready...)
	theirs := somePlace + "  active of nobody by mine"
	p.Expect(api.shows()).To(gomega.Equal(append([]string{theirs}, asWished(config)...)))
	p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
	p.reaches("portal", "gone")
	p.Expect(api.shows()).To(gomega.Equal([]string{theirs}))
}

// TestAnswersAreLost right after what was asked for was done: it is found again,
// not made twice, and the receiver can verify what it is sent.
func TestAnswersAreLost(t *testing.T) {
	for name, method := range map[string]string{"creation": http.MethodPost, "rotation": http.MethodPost, "change": http.MethodPatch} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			api := p.instance("acme")
			p.token("portal-token", "t0ken")
			url := somePlace
			if name != "creation" {
				url = "https://before.example/"
			}
			config := p.subscribe("portal", url, func(*v1alpha1.WebhookConfig) {
				if name == "creation" {
					api.locked(func(a *remoteAPI) { a.lose = once(method, "/webhook") })
				}
			})
			p.reaches("portal", ready...)
			switch name {
			case "rotation":
				api.locked(func(a *remoteAPI) { a.lose = once(method, "/rotate_secret") })
				p.Expect(p.Delete(t.Context(), &corev1.Secret{ObjectMeta: p.meta("portal-signing")})).To(gomega.Succeed())
				p.Eventually(api.written).Should(gomega.HaveLen(4), "twice rotated, and the token given again")
			case "change":
				api.locked(func(a *remoteAPI) { a.lose = once(method, "") })
			}
			edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.URL = somePlace })
			p.Eventually(api.shows).Should(gomega.Equal(asWished(config)))
			p.Eventually(p.verifies("portal", api)).Should(gomega.BeTrue())
			p.reaches("portal", ready...)
			p.rests(api)
		})
	}
}

// once says of the first call of a method to the end of a path that it is the one.
func once(method, end string) func(*http.Request) bool {
	was := false
	return func(r *http.Request) bool {
		is := !was && r.Method == method && strings.HasSuffix(r.URL.Path, end) && !strings.HasSuffix(r.URL.Path, "/token")
		was = was || is
		return is
	}
}

// TestKilledBeforeEachWrite ends the operator before one of its writes to
// Kubernetes, each in turn, and has another one take over: there is one
// subscription in the end, and its receiver can verify.
func TestKilledBeforeEachWrite(t *testing.T) {
	for _, path := range []string{"/webhookconfigs/portal", "/secrets", "/webhookconfigs/portal/status"} {
		t.Run(path, func(t *testing.T) {
			p := newPlatform(t)
			api := p.instance("acme")
			p.token("portal-token", "t0ken")
			killed := make(chan struct{}, 1000)
			p.refusing(func(r *http.Request) error {
				if !strings.HasSuffix(r.URL.Path, path) {
					return nil
				}
				killed <- struct{}{}
				return errors.New("killed")
			})
			config := p.subscribe("portal", somePlace)
			select {
			case <-killed:
			case <-time.After(patience):
				t.Fatal("it was never written")
			}
			p.stop()
			p.refusing(nil)
			p.restart()
			p.reaches("portal", ready...)
			p.Eventually(api.shows).Should(gomega.Equal(asWished(config)))
			p.Eventually(p.verifies("portal", api)).Should(gomega.BeTrue())
			p.rests(api)
		})
	}
}

// TestSigningSecretIsLost or made useless: the receiver gets another one.
func TestSigningSecretIsLost(t *testing.T) {
	p, api, config := subscribed(t)
	first := p.signs("portal")
	p.Expect(p.Delete(t.Context(), &corev1.Secret{ObjectMeta: p.meta("portal-signing")})).To(gomega.Succeed())
	p.Eventually(func() string { return p.signs("portal") }).ShouldNot(gomega.BeElementOf("", first))
	p.Eventually(p.verifies("portal", api)).Should(gomega.BeTrue())
	for _, content := range []map[string][]byte{nil, {"secret": []byte("x")}, {"secret": []byte(newSecret())}} {
		edit(p, "portal-signing", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data = content })
		p.Eventually(p.verifies("portal", api)).Should(gomega.BeTrue())
	}
	p.rests(api)
	p.Expect(api.shows()).To(gomega.Equal(asWished(config)))
}

// TestKubectlShows what people look for first, in a line.
func TestKubectlShows(t *testing.T) {
	p, api, _ := subscribed(t)
	api.delivered(time.Now().Add(-90*time.Second), 204)
	p.Eventually(func() *v1alpha1.LastDelivery { return p.read("portal").Status.LastDelivery }).ShouldNot(gomega.BeNil())
	columns, row := p.table("webhookconfigs")
	p.Expect(columns).To(gomega.Equal([]string{"Name", "Ready", "Reason", "Instance", "URL", "Events", "Last Delivery", "Code", "Age"}))
	p.Expect(row[:6]).To(gomega.Equal([]any{"portal", "True", "Subscribed", "acme", somePlace, "survey_finished,notification"}))
	p.Expect(row[6]).To(gomega.MatchRegexp("^[0-9]+s$"))
	p.Expect(row[7]).To(gomega.BeEquivalentTo(204))
}

// table gives the names of the columns, with those of -o wide, and the first line
// of what kubectl get shows.
func (p *platform) table(resource string) (columns []string, row []any) {
	p.t.Helper()
	shared, err := controlPlane()
	if err != nil {
		p.t.Fatal(err)
	}
	admin := shared.Admin()
	caller, err := rest.HTTPClientFor(admin)
	if err != nil {
		p.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, strings.TrimSuffix(admin.Host, "/")+"/apis/anamnesis.dev/v1alpha1/namespaces/"+p.namespace+"/"+resource, http.NoBody)
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	response, err := caller.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var table metav1.Table
	if err := json.NewDecoder(response.Body).Decode(&table); err != nil {
		p.t.Fatal(err)
	}
	for _, column := range table.ColumnDefinitions {
		columns = append(columns, column.Name)
	}
	return columns, table.Rows[0].Cells
}

// TestNameOfSigningSecretIsTaken: what is not ours is refused, and left alone.
func TestNameOfSigningSecretIsTaken(t *testing.T) {
	p := newPlatform(t)
	api := p.instance("acme")
	p.token("portal-token", "t0ken")
	theirs := &corev1.Secret{ObjectMeta: p.meta("portal-signing"), Data: map[string][]byte{"secret": []byte("theirs")}}
	p.create(theirs)
	p.subscribe("portal", somePlace)
	p.reaches("portal", "Ready=False SigningSecretNotOurs", "Stalled=True SigningSecretNotOurs")
	p.Expect(api.shows()).To(gomega.BeEmpty(), "nobody could be told what it signs by")
	p.Expect(p.Delete(t.Context(), theirs)).To(gomega.Succeed())
	p.reaches("portal", ready...)
}

// TestTokenCannotBeHad stops what needs it, and nothing else.
func TestTokenCannotBeHad(t *testing.T) {
	p := newPlatform(t)
	api := p.instance("acme")
	config := p.subscribe("portal", somePlace)
	p.reaches("portal", "Ready=False TokenSecretNotFound", "Reconciling=True TokenSecretNotFound")
	p.Expect(p.read("portal").Finalizers).To(gomega.BeEmpty(), "what was never subscribed waits for nothing when it is deleted")
	p.token("portal-token", "two words hunter2")
	p.reaches("portal", "Ready=False TokenSecretInvalid", "Stalled=True TokenSecretInvalid")
	p.Expect(p.message("portal")).NotTo(gomega.ContainSubstring("hunter2"))
	edit(p, "portal-token", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["token"] = []byte("t0ken") })
	p.reaches("portal", ready...)

	p.Expect(p.Delete(t.Context(), &corev1.Secret{ObjectMeta: p.meta("portal-token")})).To(gomega.Succeed())
	p.reaches("portal", "Ready=False TokenSecretNotFound", "Reconciling=True TokenSecretNotFound")
	api.locked(func(a *remoteAPI) { a.configs[0].URL = "https://evil.example/" })
	p.Eventually(api.shows).Should(gomega.Equal(asWished(config)), "what needs no token goes on")
}

// TestTokenIsNoneOfOthersSecrets: whoever may write a WebhookConfig could have them
// sent to himself.
func TestTokenIsNoneOfOthersSecrets(t *testing.T) {
	p := newPlatform(t)
	api := p.instance("acme")
	p.create(&corev1.Secret{ObjectMeta: p.meta("login"), Type: corev1.SecretTypeBasicAuth, Data: map[string][]byte{"username": []byte("me"), "password": []byte("pw")}})
	for name, reference := range map[string]v1alpha1.TokenReference{
		"the operator's":        {Name: "acme-credentials", Key: "operator.json"},
		"a certificate's":       {Name: "acme-serving-tls", Key: "tls.key"},
		"of another type still": {Name: "login", Key: "password"},
	} {
		uri := "https://" + reference.Name + ".example/"
		p.subscribe(reference.Name, uri, func(config *v1alpha1.WebhookConfig) { config.Spec.AuthorizationTokenSecretRef = reference })
		p.Eventually(func() []string { return p.state(reference.Name) }).Should(gomega.ContainElement("Stalled=True TokenSecretInvalid"), name)
	}
	p.Expect(api.written()).To(gomega.BeEmpty())
}

// TestDisabledStaysSo until the URL changes.
func TestDisabledStaysSo(t *testing.T) {
	p, api, config := subscribed(t)
	api.locked(func(a *remoteAPI) { a.configs[0].Status = "disabled" })
	p.reaches("portal", "Ready=False Disabled", "Stalled=True Disabled")
	edit(p, "portal-token", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["token"] = []byte("other") })
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) {
		config.Spec.SubscribedEvents = []v1alpha1.WebhookEvent{"notification"}
	})
	p.Eventually(api.shows).Should(gomega.Equal([]string{somePlace + " notification disabled of " + string(config.UID) + " by other"}))
	p.reaches("portal", "Ready=False Disabled", "Stalled=True Disabled")
	p.rests(api)
	p.Eventually(func() []string { return p.events("portal") }).Should(gomega.ContainElement("Warning Disabled"))
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.URL = "https://new.example/" })
	p.reaches("portal", ready...)
	p.Expect(api.shows()).To(gomega.Equal([]string{"https://new.example/ notification active of " + string(config.UID) + " by other"}))
}

// TestReceiverFails is told, and the subscription is as wished all the same. What
// was delivered last is told too.
func TestReceiverFails(t *testing.T) {
	p, api, _ := subscribed(t)
	p.Expect(p.read("portal").Status.LastDelivery).To(gomega.BeNil())
	at := time.Date(2026, 11, 23, 12, 0, 0, 123456789, time.UTC)
	api.delivered(at, 0)
	p.Eventually(func() *v1alpha1.LastDelivery { return p.read("portal").Status.LastDelivery }).ShouldNot(gomega.BeNil())
	p.Expect(p.read("portal").Status.LastDelivery.StatusCode).To(gomega.BeZero())
	api.delivered(at.Add(time.Minute), 503)
	api.locked(func(a *remoteAPI) { a.configs[0].Status = "failing" })
	p.reaches("portal", "Ready=True ReceiverFailing")
	last := p.read("portal").Status.LastDelivery
	p.Expect(last.StatusCode).To(gomega.Equal(int32(503)))
	p.Expect(last.Time.UTC()).To(gomega.Equal(at.Add(time.Minute).Truncate(time.Second)))
	p.rests(api)
	p.Eventually(func() []string { return p.events("portal") }).Should(gomega.ContainElement("Warning ReceiverFailing"))
	api.locked(func(a *remoteAPI) { a.configs[0].Status = "active" })
	p.reaches("portal", ready...)
}

// TestSuspended: nothing is changed at the API, and what is seen there is told.
func TestSuspended(t *testing.T) {
	p, api, config := subscribed(t)
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.Suspend = true })
	p.reaches("portal", "Ready=True Suspended")
	api.delivered(time.Now(), 200)
	p.Eventually(func() *v1alpha1.LastDelivery { return p.read("portal").Status.LastDelivery }).ShouldNot(gomega.BeNil(), "observation goes on")
	before := api.written()
	api.locked(func(a *remoteAPI) { a.configs[0].Events = []string{} })
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.URL = "https://new.example/" })
	p.reaches("portal", "Ready=False Suspended")
	p.Expect(p.message("portal")).To(gomega.Equal("suspended: the subscription is left as it is; its URL differs, its events differ"))
	p.Expect(p.Delete(t.Context(), &corev1.Secret{ObjectMeta: p.meta("portal-signing")})).To(gomega.Succeed())
	p.rests(api)
	p.Expect(api.written()).To(gomega.Equal(before))
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.Suspend, config.Spec.URL = false, somePlace })
	p.reaches("portal", ready...)
	p.Eventually(api.shows).Should(gomega.Equal(asWished(config)))
	p.Eventually(p.verifies("portal", api)).Should(gomega.BeTrue())
}

// TestTwoForOneReceiver: the younger is stopped, and goes on when the elder goes or
// leads elsewhere.
func TestTwoForOneReceiver(t *testing.T) {
	p, api, elder := subscribed(t)
	time.Sleep(time.Until(elder.CreationTimestamp.Add(time.Second))) // in the same second, it is not known which is older
	younger := p.subscribe("younger", "https://Portal.example:443/events")
	p.reaches("younger", "Ready=False DuplicateURL", "Stalled=True DuplicateURL")
	p.Expect(p.message("younger")).To(gomega.ContainSubstring("WebhookConfig portal is older"))
	p.Expect(api.shows()).To(gomega.HaveLen(1))
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.URL = "https://other.example/" })
	p.reaches("younger", ready...)
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Spec.URL = somePlace })
	p.reaches("younger", "Ready=False DuplicateURL", "Stalled=True DuplicateURL")
	p.Expect(p.Delete(t.Context(), elder)).To(gomega.Succeed())
	p.reaches("younger", ready...)
	p.Eventually(api.shows).Should(gomega.Equal([]string{
		"https://Portal.example:443/events survey_finished,notification active of " + string(younger.UID) + " by t0ken",
	}))
}

// TestInstanceComesAndGoes takes it through all in which it cannot be asked, and
// none is an accident.
func TestInstanceComesAndGoes(t *testing.T) {
	p := newPlatform(t)
	p.token("portal-token", "t0ken")
	p.subscribe("portal", somePlace)
	p.reaches("portal", "Ready=False InstanceNotFound", "Reconciling=True InstanceNotFound")
	api := p.instance("acme")
	p.reaches("portal", ready...)
	for reason, states := range map[string][2]func(){
		"InstanceNotReady": {func() { p.serve("acme", resources.Revision, "False") }, func() { p.serve("acme", resources.Revision, "True") }},
		"InstanceTooOld":   {func() { p.serve("acme", 4, "True") }, func() { p.serve("acme", resources.Revision, "True") }},
		"InstanceHibernated": {
			func() { edit(p, "acme", &v1alpha1.Instance{}, func(i *v1alpha1.Instance) { i.Spec.Hibernate = true }) },
			func() { edit(p, "acme", &v1alpha1.Instance{}, func(i *v1alpha1.Instance) { i.Spec.Hibernate = false }) },
		},
	} {
		states[0]()
		p.reaches("portal", "Ready=False "+reason, "Reconciling=True "+reason)
		p.rests(api)
		called := p.lines.called()
		p.Consistently(p.lines.called, "500ms").Should(gomega.Equal(called), "it is called although it is known not to answer")
		states[1]()
		p.reaches("portal", ready...)
	}
	api.locked(func(a *remoteAPI) {
		a.answer = func(r *http.Request) int {
			if strings.Contains(r.URL.Path, "/config/webhook") {
				return http.StatusNotFound
			}
			return 0
		}
	})
	p.reaches("portal", "Ready=False InstanceTooOld", "Reconciling=True InstanceTooOld")
}

// TestInstanceDoesNotAnswer, or answers that it is not well: that is an accident,
// which does not shake what was known for two minutes.
func TestInstanceDoesNotAnswer(t *testing.T) {
	p, api, _ := subscribed(t)
	api.locked(func(a *remoteAPI) { a.answer = func(*http.Request) int { return http.StatusServiceUnavailable } })
	p.reaches("portal", "Ready=True Subscribed", "Reconciling=True TransientError")
	p.rests(api) // although each answer has another request id
	p.ahead.Store(int64(3 * time.Minute))
	p.call("portal")
	p.reaches("portal", "Ready=Unknown TransientError", "Reconciling=True TransientError")
	api.locked(func(a *remoteAPI) { a.answer = nil })
	p.call("portal")
	p.reaches("portal", ready...)
}

// TestKeysAndCertificatesTurn: the operator goes on with those that are good.
func TestKeysAndCertificatesTurn(t *testing.T) {
	p, api, config := subscribed(t)
	api.locked(func(a *remoteAPI) { a.key, a.tokens = "another-key", map[string]bool{} })
	p.reaches("portal", "Ready=False CredentialsAwaited", "Reconciling=True CredentialsAwaited")
	edit(p, "acme-credentials", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data["operator.json"] = []byte(`{"id":"operator","key":"another-key","keys":["key-of-the-operator"]}`)
	})
	p.reaches("portal", ready...)

	// A certificate by another authority is served: it is not trusted before the
	// Instance's Secret says so.
	authority, pair := p.certificate("acme")
	moved := newRemoteAPI(t, "acme", pair)
	moved.locked(func(m *remoteAPI) { api.locked(func(a *remoteAPI) { m.key, m.configs = a.key, a.configs }) })
	service := &corev1.Service{}
	p.get("acme", service)
	p.lines.connect(net.JoinHostPort(service.Spec.ClusterIP, "443"), moved)
	api.server.CloseClientConnections()
	p.Eventually(func() []string { return p.state("portal") }).Should(gomega.ContainElement("Reconciling=True TransientError"))
	p.Expect(moved.tokens).To(gomega.BeEmpty(), "the operator shows its key to a server that it does not know")
	edit(p, "acme-serving-tls", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data = map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": authority}
	})
	p.reaches("portal", ready...)
	p.Expect(moved.shows()).To(gomega.Equal(asWished(config)))
}

// TestInstanceRefuses: what it does not take waits for somebody, and there may be
// too many.
func TestInstanceRefuses(t *testing.T) {
	p := newPlatform(t)
	api := p.instance("acme")
	p.token("portal-token", "t0ken")
	refused := func(status int) {
		api.locked(func(a *remoteAPI) {
			a.answer = func(r *http.Request) int {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/webhook") {
					return status
				}
				return 0
			}
		})
	}
	refused(http.StatusUnprocessableEntity)
	p.subscribe("portal", somePlace)
	p.reaches("portal", "Ready=False RefusedByInstance", "Stalled=True RefusedByInstance")
	refused(http.StatusConflict)
	p.reaches("portal", "Ready=False TooManySubscriptions", "Reconciling=True TooManySubscriptions")
	refused(0)
	p.reaches("portal", ready...)
}

// TestOnlyOursAreCaredFor: several operators share a cluster by labels.
func TestOnlyOursAreCaredFor(t *testing.T) {
	p, api, config := subscribed(t)
	p.stop()
	selector, err := labels.Parse("team=blue")
	if err != nil {
		t.Fatal(err)
	}
	p.selector = selector
	p.restart()
	p.Expect(p.Delete(t.Context(), config)).To(gomega.Succeed())
	p.Consistently(api.shows).Should(gomega.Equal(asWished(config)), "another operator's is touched")
	edit(p, "portal", &v1alpha1.WebhookConfig{}, func(config *v1alpha1.WebhookConfig) { config.Labels = map[string]string{"team": "blue"} })
	p.reaches("portal", "Ready=False InstanceNotFound", "Reconciling=True InstanceNotFound")
	p.Expect(api.shows()).To(gomega.Equal(asWished(config)), "an Instance that another operator cares for is not gone")
	edit(p, "acme", &v1alpha1.Instance{}, func(instance *v1alpha1.Instance) { instance.Labels = map[string]string{"team": "blue"} })
	p.reaches("portal", "gone")
	p.Expect(api.shows()).To(gomega.BeEmpty())
}
