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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/steps"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
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

func TestExtraNamesAreJudgedAtApply(t *testing.T) {
	p := newPlatform(t)
	p.stop()
	many := make([]string, 17)
	for i := range many {
		many[i] = fmt.Sprintf("host-%d.example", i)
	}
	const notOwn = "a name inside the cluster that is not this Instance's"
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
		instance := p.instance("acme")
		instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: test.extra}
		err := p.Create(t.Context(), instance, client.DryRunAll)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got error %v, want one that contains %q", name, err, test.want)
		}
	}
	both := p.instance("acme")
	both.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own"}, ExtraNames: []string{"acme.example"}}
	if err := p.Create(t.Context(), both, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "the certificate you bring has the names it has") {
		t.Errorf("extra names for a certificate that is brought: %v", err)
	}
	p.create(p.instance("acme"))
	nameless := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"tls":{"secretRef":{}}}}`))
	if err := p.Patch(t.Context(), read(p, "acme", &v1alpha1.Instance{}), nameless, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "spec.tls.secretRef.name") {
		t.Errorf("a Secret without a name: %v", err)
	}
}

// certificates reads those of a PEM file.
func certificates(t testing.TB, text []byte) []*x509.Certificate {
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

// serving is what an Instance's TLS Secret holds.
func (p *platform) serving(name string) map[string][]byte {
	p.t.Helper()
	return read(p, name+"-serving-tls", &corev1.Secret{}).Data
}

// refusal says why a client that trusts a ca.crt refuses what an Instance serves
// under a name; empty when it does not.
func (p *platform) refusal(instance string, trusted []byte, host string) string {
	p.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trusted)
	now := time.Now().Add(time.Duration(p.ahead.Load()))
	_, err := certificates(p.t, p.serving(instance)["tls.crt"])[0].Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now})
	if err != nil {
		return err.Error()
	}
	return ""
}

// leap moves the operator's clock on, and has it look at an Instance.
func (p *platform) leap(name string, by time.Duration) {
	p.t.Helper()
	p.ahead.Add(int64(by))
	p.visitAgain(name)
	p.settle()
}

// rotate annotates an object so that another authority is asked for.
func rotate[T client.Object](p *platform, name string, object T, value string) {
	p.t.Helper()
	edit(p, name, object, func(object T) {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[authority.RotateAnnotation] = "authority:" + value
		object.SetAnnotations(annotations)
	})
}

func TestLeakedAuthorityIsReplacedWhileClientsLearnOfTheNext(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	template := read(p, "acme", &appsv1.Deployment{}).Spec.Template
	p.leap("acme", time.Hour)
	host := "acme." + p.namespace + ".svc"
	leaked, first := read(p, authority.SecretName, &corev1.Secret{}).Data, p.serving("acme")

	rotate(p, authority.SecretName, &corev1.Secret{}, "leaked")
	p.Eventually(func() int { return len(certificates(t, p.serving("acme")["ca.crt"])) }).Should(gomega.Equal(2))
	p.settle()
	told := p.serving("acme")
	p.Expect(told["tls.crt"]).To(gomega.Equal(first["tls.crt"]), "nobody knows the next one yet")
	p.Expect(p.refusal("acme", first["ca.crt"], host)).To(gomega.BeEmpty())
	kept := read(p, authority.SecretName, &corev1.Secret{})
	p.Expect(kept.Data["tls.key"]).To(gomega.Equal(leaked["tls.key"]))
	p.Expect(kept.Data["ca.crt"]).To(gomega.Equal(told["ca.crt"]), "the platform team reads it there")

	p.startOperator(serverImage)
	p.leap("acme", 23*time.Hour)
	p.Expect(p.serving("acme")).To(gomega.Equal(told))
	p.Expect(read(p, authority.SecretName, &corev1.Secret{}).Data).To(gomega.Equal(kept.Data), "once for each value")

	p.leap("acme", 2*time.Hour)
	p.Eventually(func() []byte { return p.serving("acme")["tls.crt"] }).ShouldNot(gomega.Equal(first["tls.crt"]))
	p.Expect(p.refusal("acme", told["ca.crt"], host)).To(gomega.BeEmpty(), "who learned of both trusts the next")
	p.Expect(p.refusal("acme", first["ca.crt"], host)).NotTo(gomega.BeEmpty(), "the leaked one issued it")
	p.Expect(certificates(t, p.serving("acme")["ca.crt"])).To(gomega.HaveLen(2), "pods may serve the certificate before")
	promoted := read(p, authority.SecretName, &corev1.Secret{})
	for name, content := range promoted.Data {
		p.Expect(content).NotTo(gomega.Equal(leaked["tls.key"]), "%s holds the leaked key", name)
	}

	p.leap("acme", 25*time.Hour)
	p.Eventually(func() []byte { return p.serving("acme")["ca.crt"] }).Should(gomega.Equal(promoted.Data["tls.crt"]))
	p.Expect(read(p, authority.SecretName, &corev1.Secret{}).Data).To(gomega.HaveLen(3))
	p.Expect(read(p, "acme-serving-tls", &corev1.Secret{}).Annotations).NotTo(gomega.HaveKey(steps.TrustedSinceAnnotation))
	p.Expect(read(p, "acme", &appsv1.Deployment{}).Spec.Template).To(gomega.Equal(template), "an authority restarts nothing")
	p.atRest("acme")
}

func TestClientsLearnInTimeOfAnAuthorityThatReplacesADeletedOne(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	first := p.serving("acme")
	if err := p.Delete(t.Context(), read(p, authority.SecretName, &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() int { return len(certificates(t, p.serving("acme")["ca.crt"])) }).Should(gomega.Equal(2))
	told := p.serving("acme")
	p.Expect(told["tls.crt"]).To(gomega.Equal(first["tls.crt"]))
	p.leap("acme", 25*time.Hour)
	p.Expect(p.serving("acme")["tls.crt"]).NotTo(gomega.Equal(first["tls.crt"]))
	p.Expect(p.refusal("acme", told["ca.crt"], "acme."+p.namespace+".svc")).To(gomega.BeEmpty())
}

func TestAuthorityFromBeforeThereWereConstraintsGetsThem(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
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
	edit(p, authority.SecretName, &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data = map[string][]byte{"tls.crt": open.Certificate, "tls.key": open.Key, "ca.crt": open.Certificate}
	})
	edit(p, "acme-serving-tls", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data = map[string][]byte{"tls.crt": leaf.Certificate, "tls.key": leaf.Key, "ca.crt": open.Certificate}
	})

	p.startOperator(serverImage)
	p.Eventually(func() []byte { return p.serving("acme")["tls.crt"] }).ShouldNot(gomega.Equal(leaf.Certificate))
	p.settle()
	p.Expect(certificates(t, p.serving("acme")["tls.crt"])[0].DNSNames).To(gomega.Equal([]string{host, host + ".cluster.local"}))
	p.Expect(p.refusal("acme", open.Certificate, host)).To(gomega.BeEmpty(), "clients hold the certificate from before")
	kept := read(p, authority.SecretName, &corev1.Secret{}).Data
	p.Expect(kept["tls.key"]).To(gomega.Equal(open.Key))
	constrained := certificates(t, kept["tls.crt"])[0]
	p.Expect(constrained.PermittedDNSDomains).To(gomega.ConsistOf("svc", "cluster.local"))
	p.Expect(constrained.PermittedDNSDomainsCritical).To(gomega.BeTrue())
	p.Expect(p.refusal("acme", kept["tls.crt"], host+".cluster.local")).To(gomega.BeEmpty())

	p.leap("acme", time.Hour)
	p.Expect(p.serving("acme")["ca.crt"]).To(gomega.Equal(slices.Concat(open.Certificate, kept["tls.crt"])))
	p.leap("acme", 25*time.Hour)
	p.Eventually(func() []byte { return p.serving("acme")["ca.crt"] }).Should(gomega.Equal(kept["tls.crt"]))
	p.atRest("acme")
}

func TestExtraNamesAreVouchedForByAnAuthorityOfTheInstance(t *testing.T) {
	p := newPlatform(t)
	instance := p.instance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"*.acme.example", "acme.example"}}
	p.create(instance)
	p.reaches("acme", "Ready=True Ready")
	host := "acme." + p.namespace + ".svc"
	secret := read(p, "acme-serving-authority", &corev1.Secret{})
	p.Expect(metav1.IsControlledBy(secret, read(p, "acme", &v1alpha1.Instance{}))).To(gomega.BeTrue())
	p.Expect(read(p, "acme", &v1alpha1.Instance{}).Status.Inventory).To(gomega.ContainElement(v1alpha1.InventoryEntry{Kind: "Secret", Name: "acme-serving-authority"}))
	own := certificates(t, secret.Data["tls.crt"])[0]
	p.Expect(own.PermittedDNSDomains).To(gomega.ConsistOf(host, host+".cluster.local", "acme.example"))
	p.Expect(own.PermittedDNSDomainsCritical).To(gomega.BeTrue())
	trusted := p.serving("acme")["ca.crt"]
	p.Expect(trusted).To(gomega.Equal(secret.Data["tls.crt"]), "of a new Instance no client knows anything else")
	for _, name := range []string{host, host + ".cluster.local", "acme.example", "www.acme.example"} {
		p.Expect(p.refusal("acme", trusted, name)).To(gomega.BeEmpty(), name)
	}
	p.Expect(p.get(authority.SecretName, &corev1.Secret{})).To(gomega.BeFalse(), "the operator's authority has nothing to do with it")
	p.atRest("acme")

	rotate(p, "acme", &v1alpha1.Instance{}, "1")
	p.Eventually(func() map[string][]byte { return read(p, "acme-serving-authority", &corev1.Secret{}).Data }).Should(gomega.HaveKey("next.key"))
	p.settle()
	p.leap("acme", 25*time.Hour)
	p.leap("acme", 25*time.Hour)
	p.Eventually(func() []byte { return p.serving("acme")["ca.crt"] }).Should(gomega.Equal(read(p, "acme-serving-authority", &corev1.Secret{}).Data["tls.crt"]))
	p.Expect(p.serving("acme")["ca.crt"]).NotTo(gomega.Equal(trusted))
	p.Expect(read(p, "acme-serving-authority", &corev1.Secret{}).Annotations).To(gomega.HaveKeyWithValue(authority.RotatedAnnotation, "1"))
	p.atRest("acme")
}

func TestExtraNamesComeAndGoWithoutLosingClients(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	host := "acme." + p.namespace + ".svc"
	shared := p.serving("acme")

	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"acme.example"}}
	})
	p.Eventually(func() int { return len(certificates(t, p.serving("acme")["ca.crt"])) }).Should(gomega.Equal(2))
	p.reaches("acme", "Ready=True Ready")
	p.settle()
	told := p.serving("acme")
	p.Expect(told["tls.crt"]).To(gomega.Equal(shared["tls.crt"]))
	p.Eventually(func() []string { return p.notes(steps.ReasonNamesAwaited) }).Should(gomega.ContainElement(gomega.HavePrefix("acme.example: the certificate is not good for them before")))

	p.leap("acme", 25*time.Hour)
	p.Expect(p.refusal("acme", told["ca.crt"], host)).To(gomega.BeEmpty())
	p.Expect(p.refusal("acme", told["ca.crt"], "acme.example")).To(gomega.BeEmpty())
	p.leap("acme", 25*time.Hour)
	p.Eventually(func() []byte { return p.serving("acme")["ca.crt"] }).Should(gomega.Equal(read(p, "acme-serving-authority", &corev1.Secret{}).Data["tls.crt"]))

	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS = nil })
	p.Eventually(func() bool { return p.get("acme-serving-authority", &corev1.Secret{}) }).Should(gomega.BeFalse())
	p.settle()
	told = p.serving("acme")
	p.Expect(p.refusal("acme", told["ca.crt"], host)).To(gomega.BeEmpty())
	p.leap("acme", 25*time.Hour)
	p.Expect(p.refusal("acme", told["ca.crt"], host)).To(gomega.BeEmpty())
	p.Expect(p.refusal("acme", told["ca.crt"], "acme.example")).NotTo(gomega.BeEmpty())
	p.leap("acme", 25*time.Hour)
	p.Eventually(func() []byte { return p.serving("acme")["ca.crt"] }).Should(gomega.Equal(read(p, authority.SecretName, &corev1.Secret{}).Data["tls.crt"]))
}

// notes are the events of a reason.
func (p *platform) notes(reason string) []string {
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

func TestNoAuthorityVouchesForTheServiceOfAnother(t *testing.T) {
	p := newPlatform(t)
	instance := p.instance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"acme.example", "acme.elsewhere.svc"}}
	p.create(instance)
	p.reaches("acme", "Stalled=True ExtraNameNotOwn")
	p.Expect(p.message("acme", "Ready")).To(gomega.ContainSubstring("acme.elsewhere.svc is, or holds, a name inside the cluster"))
	p.Expect(p.get("acme-serving-authority", &corev1.Secret{})).To(gomega.BeFalse())
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS.ExtraNames = []string{"acme.example"} })
	p.reaches("acme", "Ready=True Ready")
}

func TestOwnAuthorityThatCannotBeReadIsNotReplacedUnseen(t *testing.T) {
	p := newPlatform(t)
	instance := p.instance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{ExtraNames: []string{"acme.example"}}
	p.create(instance)
	p.reaches("acme", "Ready=True Ready")
	edit(p, "acme-serving-authority", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["tls.key"] = []byte("rubbish") })
	p.reaches("acme", "Stalled=True AuthorityInvalid", "Available=True Serving")
	p.Expect(p.message("acme", "Ready")).To(gomega.ContainSubstring("Secret acme-serving-authority: reading the authority's key"))
}

func TestNoServerGetsTheKeyOfAnAuthority(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("other"))
	p.reaches("other", "Ready=True Ready")
	instance := p.instance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: authority.SecretName}}
	p.create(instance)
	p.reaches("acme", "Stalled=True TLSSecretInvalid")
	p.Expect(p.message("acme", "Ready")).To(gomega.ContainSubstring("is the operator's authority, whose key no server may have: name one with a server certificate"))

	root, err := pki.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p.putTLS("root", root.Certificate, root.Key, nil)
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS.SecretRef.Name = "root" })
	p.Eventually(func() string { return p.message("acme", "Ready") }).Should(gomega.And(
		gomega.ContainSubstring("TLS Secret root: tls.crt is the certificate of an authority (CA:TRUE)"), gomega.ContainSubstring("put a server certificate (CA:FALSE)")))
	p.reaches("acme", "Stalled=True TLSSecretInvalid")
	p.Expect(p.get("acme-serving-tls", &corev1.Secret{})).To(gomega.BeFalse())
}

func TestWhatIsMadeByChanceReplacesOnlyWhatWasRead(t *testing.T) {
	p := newPlatform(t)
	p.stop()
	p.create(&corev1.Secret{ObjectMeta: objectMeta(p.namespace, "acme-serving-authority")})
	before := read(p, "acme-serving-authority", &corev1.Secret{})
	if err := authority.IsNewest(t.Context(), p.Client, before); err != nil {
		t.Errorf("nobody wrote it: %v", err)
	}
	edit(p, "acme-serving-authority", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data = map[string][]byte{"next.key": []byte("x")} })
	if err := authority.IsNewest(t.Context(), p.Client, before); !problem.IsRace(err) {
		t.Errorf("somebody wrote it: %v", err)
	}
}
