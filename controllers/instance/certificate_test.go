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
		t.Errorf("refers to %q", got)
	}
}

func TestExtraNamesAreValidatedOnApply(t *testing.T) {
	p := newHarness(t)
	p.stop()
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprintf("host-%d.example", i)
	}
	const notOwn = "must not contain cluster-internal names of other Services"
	for name, test := range map[string]struct {
		extra []string
		want  string
	}{
		"none":                          {nil, ""},
		"a name":                        {[]string{"acme.example"}, ""},
		"a wildcard":                    {[]string{"*.acme.example"}, ""},
		"its own":                       {[]string{"acme." + p.namespace + ".svc", "acme." + p.namespace + ".svc.cluster.local"}, ""},
		"a company called svc":          {[]string{"api.svc.example"}, ""},
		"as many as there may be":       {many[:16], ""},
		"too many":                      {many, "must have at most 16 items"},
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
		"another service":               {[]string{"other." + p.namespace + ".svc"}, notOwn},
		"another service, in full":      {[]string{"acme.example", "other." + p.namespace + ".svc.cluster.local"}, notOwn},
		"all services of a namespace":   {[]string{"*." + p.namespace + ".svc"}, notOwn},
		"a name that begins as its own": {[]string{"acmes." + p.namespace + ".svc"}, notOwn},
	} {
		instance := p.newInstance("acme")
		instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: test.extra}
		err := p.Create(t.Context(), instance, client.DryRunAll)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got error %v, want one that contains %q", name, err, test.want)
		}
	}
	both := p.newInstance("acme")
	both.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own"}, ExtraNames: []string{"acme.example"}}
	if err := p.Create(t.Context(), both, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "extraNames and secretRef are mutually exclusive") {
		t.Errorf("extra names for a certificate that is brought: %v", err)
	}
	p.mustCreate(p.newInstance("acme"))
	nameless := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"tls":{"secretRef":{}}}}`))
	if err := p.Patch(t.Context(), mustGet(p, "acme", &v1alpha1.Instance{}), nameless, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "spec.tls.secretRef.name") {
		t.Errorf("a Secret without a name: %v", err)
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
func (p *harness) servedTLS(name string) map[string][]byte {
	p.t.Helper()
	return mustGet(p, name+"-serving-tls", &corev1.Secret{}).Data
}

// verifyError returns why a client that trusts a ca.crt rejects an Instance's
// certificate for a host, or an empty string if it accepts it.
func (p *harness) verifyError(instance string, trusted []byte, host string) string {
	p.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trusted)
	now := time.Now().Add(time.Duration(p.clockOffset.Load()))
	_, err := parseCertificates(p.t, p.servedTLS(instance)["tls.crt"])[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now})
	if err != nil {
		return err.Error()
	}
	return ""
}

// advanceAndSettle advances the operator's clock and triggers a reconcile of an
// Instance.
func (p *harness) advanceAndSettle(name string, by time.Duration) {
	p.t.Helper()
	p.clockOffset.Add(int64(by))
	p.triggerReconcile(name)
	p.waitUntilIdle()
}

// requestCARotation annotates an object to request a new CA.
func requestCARotation[T client.Object](p *harness, name string, object T, value string) {
	p.t.Helper()
	mustUpdate(p, name, object, func(object T) {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[authority.RotateAnnotation] = "ca:" + value
		object.SetAnnotations(annotations)
	})
}

func TestLeakedCAIsReplacedAfterOverlap(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	template := mustGet(p, "acme", &appsv1.Deployment{}).Spec.Template
	p.advanceAndSettle("acme", time.Hour)
	host := "acme." + p.namespace + ".svc"
	leaked, first := mustGet(p, authority.SecretName, &corev1.Secret{}).Data, p.servedTLS("acme")

	requestCARotation(p, authority.SecretName, &corev1.Secret{}, "leaked")
	p.Eventually(func() int { return len(parseCertificates(t, p.servedTLS("acme")["ca.crt"])) }).Should(gomega.Equal(2))
	p.waitUntilIdle()
	told := p.servedTLS("acme")
	p.Expect(told["tls.crt"]).To(gomega.Equal(first["tls.crt"]), "the next certificate is not served yet")
	p.Expect(p.verifyError("acme", first["ca.crt"], host)).To(gomega.BeEmpty())
	kept := mustGet(p, authority.SecretName, &corev1.Secret{})
	p.Expect(kept.Data["tls.key"]).To(gomega.Equal(leaked["tls.key"]))
	p.Expect(kept.Data["ca.crt"]).To(gomega.Equal(told["ca.crt"]), "the platform team reads it there")

	p.startOperator(serverImage)
	p.advanceAndSettle("acme", 23*time.Hour)
	p.Expect(p.servedTLS("acme")).To(gomega.Equal(told))
	p.Expect(mustGet(p, authority.SecretName, &corev1.Secret{}).Data).To(gomega.Equal(kept.Data), "once for each value")

	p.advanceAndSettle("acme", 2*time.Hour)
	p.Eventually(func() []byte { return p.servedTLS("acme")["tls.crt"] }).ShouldNot(gomega.Equal(first["tls.crt"]))
	p.Expect(p.verifyError("acme", told["ca.crt"], host)).To(gomega.BeEmpty(), "who learned of both trusts the next")
	p.Expect(p.verifyError("acme", first["ca.crt"], host)).NotTo(gomega.BeEmpty(), "the leaked one issued it")
	p.Expect(parseCertificates(t, p.servedTLS("acme")["ca.crt"])).To(gomega.HaveLen(2), "pods may serve the certificate before")
	promoted := mustGet(p, authority.SecretName, &corev1.Secret{})
	for name, content := range promoted.Data {
		p.Expect(content).NotTo(gomega.Equal(leaked["tls.key"]), "%s holds the leaked key", name)
	}

	p.advanceAndSettle("acme", 25*time.Hour)
	p.Eventually(func() []byte { return p.servedTLS("acme")["ca.crt"] }).Should(gomega.Equal(promoted.Data["tls.crt"]))
	p.Expect(mustGet(p, authority.SecretName, &corev1.Secret{}).Data).To(gomega.HaveLen(3))
	p.Expect(mustGet(p, "acme-serving-tls", &corev1.Secret{}).Annotations).NotTo(gomega.HaveKey(trustedSinceAnnotation))
	p.Expect(mustGet(p, "acme", &appsv1.Deployment{}).Spec.Template).To(gomega.Equal(template), "an authority restarts nothing")
	p.expectNoWritesWhenSettled("acme")
}

func TestDeletedCAIsReplacedAfterOverlap(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	first := p.servedTLS("acme")
	if err := p.Delete(t.Context(), mustGet(p, authority.SecretName, &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() int { return len(parseCertificates(t, p.servedTLS("acme")["ca.crt"])) }).Should(gomega.Equal(2))
	told := p.servedTLS("acme")
	p.Expect(told["tls.crt"]).To(gomega.Equal(first["tls.crt"]))
	p.advanceAndSettle("acme", 25*time.Hour)
	p.Expect(p.servedTLS("acme")["tls.crt"]).NotTo(gomega.Equal(first["tls.crt"]))
	p.Expect(p.verifyError("acme", told["ca.crt"], "acme."+p.namespace+".svc")).To(gomega.BeEmpty())
}

func TestUnconstrainedCAIsReissuedWithConstraints(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.stop()
	host := "acme." + p.namespace + ".svc"
	earlier := time.Now().Add(-10 * day)
	open, err := pki.NewAuthority(earlier)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := pki.ParseAuthority(open)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := opened.Issue([]string{host, "acme." + p.namespace, "acme"}, earlier)
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(p, authority.SecretName, &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data = map[string][]byte{"tls.crt": open.Certificate, "tls.key": open.Key, "ca.crt": open.Certificate}
	})
	mustUpdate(p, "acme-serving-tls", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data = map[string][]byte{"tls.crt": leaf.Certificate, "tls.key": leaf.Key, "ca.crt": open.Certificate}
	})

	p.startOperator(serverImage)
	p.Eventually(func() []byte { return p.servedTLS("acme")["tls.crt"] }).ShouldNot(gomega.Equal(leaf.Certificate))
	p.waitUntilIdle()
	p.Expect(parseCertificates(t, p.servedTLS("acme")["tls.crt"])[0].DNSNames).To(gomega.Equal([]string{host, host + ".cluster.local"}))
	p.Expect(p.verifyError("acme", open.Certificate, host)).To(gomega.BeEmpty(), "clients hold the certificate from before")
	kept := mustGet(p, authority.SecretName, &corev1.Secret{}).Data
	p.Expect(kept["tls.key"]).To(gomega.Equal(open.Key))
	constrained := parseCertificates(t, kept["tls.crt"])[0]
	p.Expect(constrained.PermittedDNSDomains).To(gomega.ConsistOf("svc", "cluster.local"))
	p.Expect(constrained.PermittedDNSDomainsCritical).To(gomega.BeTrue())
	p.Expect(p.verifyError("acme", kept["tls.crt"], host+".cluster.local")).To(gomega.BeEmpty())

	p.advanceAndSettle("acme", time.Hour)
	p.Expect(p.servedTLS("acme")["ca.crt"]).To(gomega.Equal(slices.Concat(open.Certificate, kept["tls.crt"])))
	p.advanceAndSettle("acme", 25*time.Hour)
	p.Eventually(func() []byte { return p.servedTLS("acme")["ca.crt"] }).Should(gomega.Equal(kept["tls.crt"]))
	p.expectNoWritesWhenSettled("acme")
}

func TestExtraNamesAreIssuedByInstanceCA(t *testing.T) {
	p := newHarness(t)
	instance := p.newInstance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"*.acme.example", "acme.example"}}
	p.mustCreate(instance)
	p.waitForConditions("acme", "Ready=True Ready")
	host := "acme." + p.namespace + ".svc"
	secret := mustGet(p, "acme-serving-authority", &corev1.Secret{})
	p.Expect(metav1.IsControlledBy(secret, mustGet(p, "acme", &v1alpha1.Instance{}))).To(gomega.BeTrue())
	p.Expect(mustGet(p, "acme", &v1alpha1.Instance{}).Status.Inventory).To(gomega.ContainElement(v1alpha1.InventoryEntry{Kind: "Secret", Name: "acme-serving-authority"}))
	own := parseCertificates(t, secret.Data["tls.crt"])[0]
	p.Expect(own.PermittedDNSDomains).To(gomega.ConsistOf(host, host+".cluster.local", "acme.example"))
	p.Expect(own.PermittedDNSDomainsCritical).To(gomega.BeTrue())
	trusted := p.servedTLS("acme")["ca.crt"]
	p.Expect(trusted).To(gomega.Equal(secret.Data["tls.crt"]), "of a new Instance no client knows anything else")
	for _, name := range []string{host, host + ".cluster.local", "acme.example", "www.acme.example"} {
		p.Expect(p.verifyError("acme", trusted, name)).To(gomega.BeEmpty(), name)
	}
	p.Expect(p.get(authority.SecretName, &corev1.Secret{})).To(gomega.BeFalse(), "the operator's authority has nothing to do with it")
	p.expectNoWritesWhenSettled("acme")

	requestCARotation(p, "acme", &v1alpha1.Instance{}, "1")
	p.Eventually(func() map[string][]byte { return mustGet(p, "acme-serving-authority", &corev1.Secret{}).Data }).Should(gomega.HaveKey("next.key"))
	p.waitUntilIdle()
	p.advanceAndSettle("acme", 25*time.Hour)
	p.advanceAndSettle("acme", 25*time.Hour)
	p.Eventually(func() []byte { return p.servedTLS("acme")["ca.crt"] }).Should(gomega.Equal(mustGet(p, "acme-serving-authority", &corev1.Secret{}).Data["tls.crt"]))
	p.Expect(p.servedTLS("acme")["ca.crt"]).NotTo(gomega.Equal(trusted))
	p.Expect(mustGet(p, "acme-serving-authority", &corev1.Secret{}).Annotations).To(gomega.HaveKeyWithValue(authority.RotatedAnnotation, "1"))
	p.expectNoWritesWhenSettled("acme")
}

func TestExtraNamesChangeWithoutBreakingClients(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	host := "acme." + p.namespace + ".svc"
	shared := p.servedTLS("acme")

	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"acme.example"}}
	})
	p.Eventually(func() int { return len(parseCertificates(t, p.servedTLS("acme")["ca.crt"])) }).Should(gomega.Equal(2))
	p.waitForConditions("acme", "Ready=True Ready")
	p.waitUntilIdle()
	told := p.servedTLS("acme")
	p.Expect(told["tls.crt"]).To(gomega.Equal(shared["tls.crt"]))
	p.Eventually(func() []string { return p.eventNotes(reasonNamesPending) }).Should(gomega.ContainElement(gomega.HavePrefix("acme.example: the certificate does not cover these names until")))

	p.advanceAndSettle("acme", 25*time.Hour)
	p.Expect(p.verifyError("acme", told["ca.crt"], host)).To(gomega.BeEmpty())
	p.Expect(p.verifyError("acme", told["ca.crt"], "acme.example")).To(gomega.BeEmpty())
	p.advanceAndSettle("acme", 25*time.Hour)
	p.Eventually(func() []byte { return p.servedTLS("acme")["ca.crt"] }).Should(gomega.Equal(mustGet(p, "acme-serving-authority", &corev1.Secret{}).Data["tls.crt"]))

	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS = nil })
	p.Eventually(func() bool { return p.get("acme-serving-authority", &corev1.Secret{}) }).Should(gomega.BeFalse())
	p.waitUntilIdle()
	told = p.servedTLS("acme")
	p.Expect(p.verifyError("acme", told["ca.crt"], host)).To(gomega.BeEmpty())
	p.advanceAndSettle("acme", 25*time.Hour)
	p.Expect(p.verifyError("acme", told["ca.crt"], host)).To(gomega.BeEmpty())
	p.Expect(p.verifyError("acme", told["ca.crt"], "acme.example")).NotTo(gomega.BeEmpty())
	p.advanceAndSettle("acme", 25*time.Hour)
	p.Eventually(func() []byte { return p.servedTLS("acme")["ca.crt"] }).Should(gomega.Equal(mustGet(p, authority.SecretName, &corev1.Secret{}).Data["tls.crt"]))
}

// eventNotes returns the messages of the events with a reason.
func (p *harness) eventNotes(reason string) []string {
	p.t.Helper()
	var list eventsv1.EventList
	if err := p.List(p.t.Context(), &list, client.InNamespace(p.namespace)); err != nil {
		p.t.Fatal(err)
	}
	var notes []string
	for _, event := range list.Items {
		if event.Reason == reason {
			notes = append(notes, event.Note)
		}
	}
	return notes
}

func TestInstanceCARejectsOtherServiceNames(t *testing.T) {
	p := newHarness(t)
	instance := p.newInstance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"acme.example", "acme.elsewhere.svc"}}
	p.mustCreate(instance)
	p.waitForConditions("acme", "Stalled=True ExtraNameForbidden")
	p.Expect(p.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("acme.elsewhere.svc is or includes a cluster-internal name"))
	p.Expect(p.get("acme-serving-authority", &corev1.Secret{})).To(gomega.BeFalse())
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS.ExtraNames = []string{"acme.example"} })
	p.waitForConditions("acme", "Ready=True Ready")
}

func TestUnreadableInstanceCAIsNotReplacedSilently(t *testing.T) {
	p := newHarness(t)
	instance := p.newInstance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"acme.example"}}
	p.mustCreate(instance)
	p.waitForConditions("acme", "Ready=True Ready")
	mustUpdate(p, "acme-serving-authority", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["tls.key"] = []byte("rubbish") })
	p.waitForConditions("acme", "Stalled=True CAInvalid", "Available=True Serving")
	p.Expect(p.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("Secret acme-serving-authority: parsing the CA key"))
}

func TestCASecretIsRejectedAsTLSSecret(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("other"))
	p.waitForConditions("other", "Ready=True Ready")
	instance := p.newInstance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: authority.SecretName}}
	p.mustCreate(instance)
	p.waitForConditions("acme", "Stalled=True TLSSecretInvalid")
	p.Expect(p.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("holds the operator's CA, whose key must stay with the operator: reference a Secret with a server certificate"))

	root, err := pki.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p.applyTLSSecret("root", root.Certificate, root.Key, nil)
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS.SecretRef.Name = "root" })
	p.Eventually(func() string { return p.conditionMessage("acme", "Ready") }).Should(gomega.And(
		gomega.ContainSubstring("TLS Secret root: tls.crt is a CA certificate (CA:TRUE)"), gomega.ContainSubstring("use a server certificate (CA:FALSE)")))
	p.waitForConditions("acme", "Stalled=True TLSSecretInvalid")
	p.Expect(p.get("acme-serving-tls", &corev1.Secret{})).To(gomega.BeFalse())
}

func TestGeneratedSecretReplacesOnlyReadVersion(t *testing.T) {
	p := newHarness(t)
	p.stop()
	p.mustCreate(&corev1.Secret{ObjectMeta: objectMeta(p.namespace, "acme-serving-authority")})
	before := mustGet(p, "acme-serving-authority", &corev1.Secret{})
	if err := authority.CheckUnmodified(t.Context(), p.Client, before); err != nil {
		t.Errorf("unmodified Secret: %v", err)
	}
	mustUpdate(p, "acme-serving-authority", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data = map[string][]byte{"next.key": []byte("x")} })
	if err := authority.CheckUnmodified(t.Context(), p.Client, before); !problem.IsConflict(err) {
		t.Errorf("modified Secret: got %v, want a conflict", err)
	}
}
