// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const day = 24 * time.Hour

func TestExtraNamesReferToNoSecret(t *testing.T) {
	t.Parallel()
	instance := acme()
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"acme.example"}}
	if got := referencedSecrets(instance); got != nil {
		t.Errorf("got referenced Secrets %q, want none", got)
	}
}

func TestExtraNamesAreValidatedOnApply(t *testing.T) {
	h := newHarness(t)
	h.stop()
	names := make([]string, 17)
	for i := range names {
		names[i] = fmt.Sprintf("host-%d.example", i)
	}
	const foreignName = "must not contain cluster-internal names of other Services"
	for name, test := range map[string]struct {
		extra []string
		want  string
	}{
		"none":                          {nil, ""},
		"a name":                        {[]string{"acme.example"}, ""},
		"a wildcard":                    {[]string{"*.acme.example"}, ""},
		"its own":                       {[]string{"acme." + h.namespace + ".svc", "acme." + h.namespace + ".svc.cluster.local"}, ""},
		"a company called svc":          {[]string{"api.svc.example"}, ""},
		"as many as there may be":       {names[:16], ""},
		"too many":                      {names, "must have at most 16 items"},
		"twice the same":                {[]string{"acme.example", "acme.example"}, "Duplicate value"},
		"upper case":                    {[]string{"Acme.example"}, "spec.tls.extraNames[0]"},
		"one label":                     {[]string{"acme"}, "spec.tls.extraNames[0]"},
		"an address":                    {[]string{"10.0.0.1"}, "spec.tls.extraNames[0]"},
		"a wildcard inside":             {[]string{"a.*.example"}, "spec.tls.extraNames[0]"},
		"half a wildcard":               {[]string{"a*.acme.example"}, "spec.tls.extraNames[0]"},
		"all of a top-level domain":     {[]string{"*.example"}, "spec.tls.extraNames[0]"},
		"a dot at the end":              {[]string{"acme.example."}, "spec.tls.extraNames[0]"},
		"a URL":                         {[]string{"https://acme.example"}, "spec.tls.extraNames[0]"},
		"too long":                      {[]string{strings.Repeat("a.", 126) + "ab"}, "Too long"},
		"too long a label":              {[]string{strings.Repeat("a", 64) + ".example"}, "spec.tls.extraNames[0]"},
		"another service":               {[]string{"other." + h.namespace + ".svc"}, foreignName},
		"another service, in full":      {[]string{"acme.example", "other." + h.namespace + ".svc.cluster.local"}, foreignName},
		"all services of a namespace":   {[]string{"*." + h.namespace + ".svc"}, foreignName},
		"a name that begins as its own": {[]string{"acmes." + h.namespace + ".svc"}, foreignName},
	} {
		instance := h.newInstance("acme")
		instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: test.extra}
		err := h.Create(t.Context(), instance, client.DryRunAll)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got error %v, want one that contains %q", name, err, test.want)
		}
	}
	conflicting := h.newInstance("acme")
	conflicting.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own"}, ExtraNames: []string{"acme.example"}}
	if err := h.Create(t.Context(), conflicting, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "extraNames and secretRef are mutually exclusive") {
		t.Errorf("extraNames with secretRef: got error %v, want a rejection", err)
	}
	h.mustCreate(h.newInstance("acme"))
	nameless := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"tls":{"secretRef":{}}}}`))
	if err := h.Patch(t.Context(), mustGet(h, "acme", &v1alpha1.Instance{}), nameless, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "spec.tls.secretRef.name") {
		t.Errorf("secretRef without a name: got error %v, want a rejection", err)
	}
}

// parseCertificates parses the certificates in a PEM file.
func parseCertificates(t testing.TB, text []byte) []*x509.Certificate {
	t.Helper()
	var found []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, certificate)
	}
	return found
}

// servedTLS returns the content of an Instance's TLS Secret.
func (h *harness) servedTLS(name string) map[string][]byte {
	h.t.Helper()
	return mustGet(h, name+"-serving-tls", &corev1.Secret{}).Data
}

// verifyError verifies an Instance's certificate for a host as a client that trusts a
// ca.crt does. It returns the error message, or an empty string if the certificate is
// valid.
func (h *harness) verifyError(instance string, trusted []byte, host string) string {
	h.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trusted)
	now := time.Now().Add(time.Duration(h.clockOffset.Load()))
	_, err := parseCertificates(h.t, h.servedTLS(instance)["tls.crt"])[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now})
	if err != nil {
		return err.Error()
	}
	return ""
}

// advanceAndSettle advances the operator's clock and triggers a reconcile of an
// Instance.
func (h *harness) advanceAndSettle(name string, duration time.Duration) {
	h.t.Helper()
	h.clockOffset.Add(int64(duration))
	h.triggerReconcile(name)
	h.waitUntilIdle()
}

// requestCARotation annotates an object to request a new CA.
func requestCARotation[T client.Object](h *harness, name string, object T, value string) {
	h.t.Helper()
	mustUpdate(h, name, object, func(object T) {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[authority.RotateAnnotation] = "ca:" + value
		object.SetAnnotations(annotations)
	})
}

func TestLeakedCAIsReplacedAfterOverlap(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	template := mustGet(h, "acme", &appsv1.Deployment{}).Spec.Template
	h.advanceAndSettle("acme", time.Hour)
	host := "acme." + h.namespace + ".svc"
	leaked, first := mustGet(h, authority.SecretName, &corev1.Secret{}).Data, h.servedTLS("acme")

	requestCARotation(h, authority.SecretName, &corev1.Secret{}, "leaked")
	h.Eventually(func() int { return len(parseCertificates(t, h.servedTLS("acme")["ca.crt"])) }).Should(gomega.Equal(2))
	h.waitUntilIdle()
	published := h.servedTLS("acme")
	h.Expect(published["tls.crt"]).To(gomega.Equal(first["tls.crt"]), "the new certificate must not be served yet")
	h.Expect(h.verifyError("acme", first["ca.crt"], host)).To(gomega.BeEmpty())
	secret := mustGet(h, authority.SecretName, &corev1.Secret{})
	h.Expect(secret.Data["tls.key"]).To(gomega.Equal(leaked["tls.key"]))
	h.Expect(secret.Data["ca.crt"]).To(gomega.Equal(published["ca.crt"]), "the CA Secret must publish the same bundle")

	h.startOperator(serverImage)
	h.advanceAndSettle("acme", 23*time.Hour)
	h.Expect(h.servedTLS("acme")).To(gomega.Equal(published))
	h.Expect(mustGet(h, authority.SecretName, &corev1.Secret{}).Data).To(gomega.Equal(secret.Data), "each value must trigger only one rotation")

	h.advanceAndSettle("acme", 2*time.Hour)
	h.Eventually(func() []byte { return h.servedTLS("acme")["tls.crt"] }).ShouldNot(gomega.Equal(first["tls.crt"]))
	h.Expect(h.verifyError("acme", published["ca.crt"], host)).To(gomega.BeEmpty(), "clients that trust both CAs must trust the new certificate")
	h.Expect(h.verifyError("acme", first["ca.crt"], host)).NotTo(gomega.BeEmpty(), "clients that trust only the leaked CA must not trust the new certificate")
	h.Expect(parseCertificates(t, h.servedTLS("acme")["ca.crt"])).To(gomega.HaveLen(2), "the previous CA must stay trusted while pods may serve the previous certificate")
	promoted := mustGet(h, authority.SecretName, &corev1.Secret{})
	for name, content := range promoted.Data {
		h.Expect(content).NotTo(gomega.Equal(leaked["tls.key"]), "%s must not hold the leaked key", name)
	}

	h.advanceAndSettle("acme", 25*time.Hour)
	h.Eventually(func() []byte { return h.servedTLS("acme")["ca.crt"] }).Should(gomega.Equal(promoted.Data["tls.crt"]))
	h.Expect(mustGet(h, authority.SecretName, &corev1.Secret{}).Data).To(gomega.HaveLen(3))
	h.Expect(mustGet(h, "acme-serving-tls", &corev1.Secret{}).Annotations).NotTo(gomega.HaveKey(trustedSinceAnnotation))
	h.Expect(mustGet(h, "acme", &appsv1.Deployment{}).Spec.Template).To(gomega.Equal(template), "a CA rotation must not restart pods")
	h.expectNoWritesWhenSettled("acme")
}

func TestDeletedCAIsReplacedAfterOverlap(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	first := h.servedTLS("acme")
	if err := h.Delete(t.Context(), mustGet(h, authority.SecretName, &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	h.Eventually(func() int { return len(parseCertificates(t, h.servedTLS("acme")["ca.crt"])) }).Should(gomega.Equal(2))
	published := h.servedTLS("acme")
	h.Expect(published["tls.crt"]).To(gomega.Equal(first["tls.crt"]))
	h.advanceAndSettle("acme", 25*time.Hour)
	h.Expect(h.servedTLS("acme")["tls.crt"]).NotTo(gomega.Equal(first["tls.crt"]))
	h.Expect(h.verifyError("acme", published["ca.crt"], "acme."+h.namespace+".svc")).To(gomega.BeEmpty())
}

func TestUnconstrainedCAIsReissuedWithConstraints(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.stop()
	host := "acme." + h.namespace + ".svc"
	earlier := time.Now().Add(-10 * day)
	unconstrained, err := pki.NewAuthority(earlier)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := pki.ParseAuthority(unconstrained)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Issue([]string{host, "acme." + h.namespace, "acme"}, earlier)
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(h, authority.SecretName, &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data = map[string][]byte{"tls.crt": unconstrained.Certificate, "tls.key": unconstrained.Key, "ca.crt": unconstrained.Certificate}
	})
	mustUpdate(h, "acme-serving-tls", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data = map[string][]byte{"tls.crt": leaf.Certificate, "tls.key": leaf.Key, "ca.crt": unconstrained.Certificate}
	})

	h.startOperator(serverImage)
	h.Eventually(func() []byte { return h.servedTLS("acme")["tls.crt"] }).ShouldNot(gomega.Equal(leaf.Certificate))
	h.waitUntilIdle()
	h.Expect(parseCertificates(t, h.servedTLS("acme")["tls.crt"])[0].DNSNames).To(gomega.Equal([]string{host, host + ".cluster.local"}))
	h.Expect(h.verifyError("acme", unconstrained.Certificate, host)).To(gomega.BeEmpty(), "clients that trust the previous CA certificate must trust the new certificate")
	secretData := mustGet(h, authority.SecretName, &corev1.Secret{}).Data
	h.Expect(secretData["tls.key"]).To(gomega.Equal(unconstrained.Key))
	constrained := parseCertificates(t, secretData["tls.crt"])[0]
	h.Expect(constrained.PermittedDNSDomains).To(gomega.ConsistOf("svc", "cluster.local"))
	h.Expect(constrained.PermittedDNSDomainsCritical).To(gomega.BeTrue())
	h.Expect(h.verifyError("acme", secretData["tls.crt"], host+".cluster.local")).To(gomega.BeEmpty())

	h.advanceAndSettle("acme", time.Hour)
	h.Expect(h.servedTLS("acme")["ca.crt"]).To(gomega.Equal(slices.Concat(unconstrained.Certificate, secretData["tls.crt"])))
	h.advanceAndSettle("acme", 25*time.Hour)
	h.Eventually(func() []byte { return h.servedTLS("acme")["ca.crt"] }).Should(gomega.Equal(secretData["tls.crt"]))
	h.expectNoWritesWhenSettled("acme")
}

func TestExtraNamesAreIssuedByInstanceCA(t *testing.T) {
	h := newHarness(t)
	instance := h.newInstance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"*.acme.example", "acme.example"}}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready")
	host := "acme." + h.namespace + ".svc"
	secret := mustGet(h, "acme-serving-authority", &corev1.Secret{})
	h.Expect(metav1.IsControlledBy(secret, mustGet(h, "acme", &v1alpha1.Instance{}))).To(gomega.BeTrue())
	h.Expect(mustGet(h, "acme", &v1alpha1.Instance{}).Status.Inventory).To(gomega.ContainElement(v1alpha1.InventoryEntry{Kind: "Secret", Name: "acme-serving-authority"}))
	own := parseCertificates(t, secret.Data["tls.crt"])[0]
	h.Expect(own.PermittedDNSDomains).To(gomega.ConsistOf(host, host+".cluster.local", "acme.example"))
	h.Expect(own.PermittedDNSDomainsCritical).To(gomega.BeTrue())
	trusted := h.servedTLS("acme")["ca.crt"]
	h.Expect(trusted).To(gomega.Equal(secret.Data["tls.crt"]), "the bundle of a new Instance must contain only its own CA")
	for _, name := range []string{host, host + ".cluster.local", "acme.example", "www.acme.example"} {
		h.Expect(h.verifyError("acme", trusted, name)).To(gomega.BeEmpty(), name)
	}
	h.Expect(h.get(authority.SecretName, &corev1.Secret{})).To(gomega.BeFalse(), "the operator's CA must not be created")
	h.expectNoWritesWhenSettled("acme")

	requestCARotation(h, "acme", &v1alpha1.Instance{}, "1")
	h.Eventually(func() map[string][]byte { return mustGet(h, "acme-serving-authority", &corev1.Secret{}).Data }).Should(gomega.HaveKey("next.key"))
	h.waitUntilIdle()
	h.advanceAndSettle("acme", 25*time.Hour)
	h.advanceAndSettle("acme", 25*time.Hour)
	h.Eventually(func() []byte { return h.servedTLS("acme")["ca.crt"] }).Should(gomega.Equal(mustGet(h, "acme-serving-authority", &corev1.Secret{}).Data["tls.crt"]))
	h.Expect(h.servedTLS("acme")["ca.crt"]).NotTo(gomega.Equal(trusted))
	h.Expect(mustGet(h, "acme-serving-authority", &corev1.Secret{}).Annotations).To(gomega.HaveKeyWithValue(authority.RotatedAnnotation, "1"))
	h.expectNoWritesWhenSettled("acme")
}

func TestExtraNamesChangeWithoutBreakingClients(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	host := "acme." + h.namespace + ".svc"
	shared := h.servedTLS("acme")

	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"acme.example"}}
	})
	h.Eventually(func() int { return len(parseCertificates(t, h.servedTLS("acme")["ca.crt"])) }).Should(gomega.Equal(2))
	h.waitForConditions("acme", "Ready=True Ready")
	h.waitUntilIdle()
	published := h.servedTLS("acme")
	h.Expect(published["tls.crt"]).To(gomega.Equal(shared["tls.crt"]))
	h.Eventually(func() []string { return h.eventMessages(reasonNamesPending) }).Should(gomega.ContainElement(gomega.HavePrefix("acme.example: the certificate will cover these names once")))

	h.advanceAndSettle("acme", 25*time.Hour)
	h.Expect(h.verifyError("acme", published["ca.crt"], host)).To(gomega.BeEmpty())
	h.Expect(h.verifyError("acme", published["ca.crt"], "acme.example")).To(gomega.BeEmpty())
	h.advanceAndSettle("acme", 25*time.Hour)
	h.Eventually(func() []byte { return h.servedTLS("acme")["ca.crt"] }).Should(gomega.Equal(mustGet(h, "acme-serving-authority", &corev1.Secret{}).Data["tls.crt"]))

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS = nil })
	h.Eventually(func() bool { return h.get("acme-serving-authority", &corev1.Secret{}) }).Should(gomega.BeFalse())
	h.waitUntilIdle()
	published = h.servedTLS("acme")
	h.Expect(h.verifyError("acme", published["ca.crt"], host)).To(gomega.BeEmpty())
	h.advanceAndSettle("acme", 25*time.Hour)
	h.Expect(h.verifyError("acme", published["ca.crt"], host)).To(gomega.BeEmpty())
	h.Expect(h.verifyError("acme", published["ca.crt"], "acme.example")).NotTo(gomega.BeEmpty())
	h.advanceAndSettle("acme", 25*time.Hour)
	h.Eventually(func() []byte { return h.servedTLS("acme")["ca.crt"] }).Should(gomega.Equal(mustGet(h, authority.SecretName, &corev1.Secret{}).Data["tls.crt"]))
}

// eventMessages returns the messages of the events with a reason.
func (h *harness) eventMessages(reason string) []string {
	h.t.Helper()
	var list eventsv1.EventList
	if err := h.List(h.t.Context(), &list, client.InNamespace(h.namespace)); err != nil {
		h.t.Fatal(err)
	}
	var messages []string
	for _, event := range list.Items {
		if event.Reason == reason {
			messages = append(messages, event.Note)
		}
	}
	return messages
}

func TestInstanceCARejectsOtherServiceNames(t *testing.T) {
	h := newHarness(t)
	instance := h.newInstance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"acme.example", "acme.elsewhere.svc"}}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Stalled=True ExtraNameForbidden")
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("acme.elsewhere.svc is or includes a cluster-internal name"))
	h.Expect(h.get("acme-serving-authority", &corev1.Secret{})).To(gomega.BeFalse())
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS.ExtraNames = []string{"acme.example"} })
	h.waitForConditions("acme", "Ready=True Ready")
}

func TestUnreadableInstanceCAIsNotReplacedSilently(t *testing.T) {
	h := newHarness(t)
	instance := h.newInstance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"acme.example"}}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready")
	mustUpdate(h, "acme-serving-authority", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["tls.key"] = []byte("rubbish") })
	h.waitForConditions("acme", "Stalled=True CAInvalid", "Available=True Serving")
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("Secret acme-serving-authority: parsing the CA key"))
}

func TestCASecretIsRejectedAsTLSSecret(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("other"))
	h.waitForConditions("other", "Ready=True Ready")
	instance := h.newInstance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: authority.SecretName}}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Stalled=True TLSSecretInvalid")
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("holds the operator's CA, whose key must not be copied: reference a Secret with a server certificate"))

	root, err := pki.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	h.applyTLSSecret("root", root.Certificate, root.Key, nil)
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS.SecretRef.Name = "root" })
	h.Eventually(func() string { return h.conditionMessage("acme", "Ready") }).Should(gomega.And(
		gomega.ContainSubstring("TLS Secret root: tls.crt is a CA certificate (CA:TRUE)"), gomega.ContainSubstring("use a server certificate (CA:FALSE)")))
	h.waitForConditions("acme", "Stalled=True TLSSecretInvalid")
	h.Expect(h.get("acme-serving-tls", &corev1.Secret{})).To(gomega.BeFalse())
}

func TestGeneratedSecretReplacesOnlyReadVersion(t *testing.T) {
	h := newHarness(t)
	h.stop()
	h.mustCreate(&corev1.Secret{ObjectMeta: objectMeta(h.namespace, "acme-serving-authority")})
	before := mustGet(h, "acme-serving-authority", &corev1.Secret{})
	if err := authority.CheckUnmodified(t.Context(), h.Client, before); err != nil {
		t.Errorf("unmodified Secret: got error %v", err)
	}
	mustUpdate(h, "acme-serving-authority", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data = map[string][]byte{"next.key": []byte("x")} })
	if err := authority.CheckUnmodified(t.Context(), h.Client, before); !problem.IsConflict(err) {
		t.Errorf("modified Secret: got %v, want a conflict", err)
	}
}
