// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

func TestBadInputIsRefusedAtApply(t *testing.T) {
	p := newPlatform(t)
	for name, test := range map[string]struct {
		change func(*v1alpha1.Instance)
		want   string
	}{
		"two kinds of storage": {
			func(i *v1alpha1.Instance) {
				i.Spec.Storage.External = &v1alpha1.ExternalStorage{SecretRef: v1alpha1.SecretKeyReference{Name: "db"}}
			},
			"choose exactly one kind of storage",
		},
		"no storage":               {func(i *v1alpha1.Instance) { i.Spec.Storage.Embedded = nil }, "choose exactly one kind of storage"},
		"two replicas on embedded": {func(i *v1alpha1.Instance) { i.Spec.Replicas = 2 }, "embedded storage has a single writer"},
		"negative replicas":        {func(i *v1alpha1.Instance) { i.Spec.Replicas = -1 }, "spec.replicas"},
		"an empty volume": {
			func(i *v1alpha1.Instance) { i.Spec.Storage.Embedded.Size = mustQuantity("-1Gi") },
			"must be greater than zero",
		},
		"no model":             {func(i *v1alpha1.Instance) { i.Spec.Models = nil }, "spec.models"},
		"one model twice":      {func(i *v1alpha1.Instance) { i.Spec.Models = append(i.Spec.Models, i.Spec.Models[0]) }, "Duplicate value"},
		"an id with a space":   {func(i *v1alpha1.Instance) { i.Spec.Models[0].ID = "service en" }, "spec.models[0].id"},
		"a version of words":   {func(i *v1alpha1.Instance) { i.Spec.Models[0].Version = "newest" }, "spec.models[0].version"},
		"the 31st of February": {func(i *v1alpha1.Instance) { i.Spec.Models[0].Version = "2026-02-31T00:00:00Z" }, "spec.models[0].version"},
		"an application twice": {
			func(i *v1alpha1.Instance) {
				i.Spec.Applications = []v1alpha1.Application{{Name: "portal"}, {Name: "portal"}}
			},
			"Duplicate value",
		},
		"an unknown scope": {
			func(i *v1alpha1.Instance) {
				i.Spec.Applications = []v1alpha1.Application{{Name: "portal", Scopes: []v1alpha1.Scope{"survey:delete"}}}
			},
			"Unsupported value",
		},
		"a plan that is not there": {
			func(i *v1alpha1.Instance) {
				i.Spec.Plans = []v1alpha1.Plan{{Name: "gold"}}
				i.Spec.Applications = []v1alpha1.Application{{Name: "portal", Plan: "gold"}, {Name: "kiosk", Plan: "silver"}}
			},
			"an application has a plan that is not there",
		},
		"a plan without any plans": {
			func(i *v1alpha1.Instance) {
				i.Spec.Applications = []v1alpha1.Application{{Name: "portal", Plan: "gold"}}
			},
			"an application has a plan that is not there",
		},
		"a plan twice": {
			func(i *v1alpha1.Instance) { i.Spec.Plans = []v1alpha1.Plan{{Name: "gold"}, {Name: "gold"}} },
			"Duplicate value",
		},
		"a plan without a name": {
			func(i *v1alpha1.Instance) { i.Spec.Plans = []v1alpha1.Plan{{}} },
			"spec.plans[0].name",
		},
		"fewer than no calls": {
			func(i *v1alpha1.Instance) {
				i.Spec.Plans = []v1alpha1.Plan{{Name: "gold", MonthlyCalls: v1alpha1.MonthlyCalls{Triage: new(int64(-1))}}}
			},
			"spec.plans[0].monthlyCalls.triage",
		},
		"an origin with a path": {
			func(i *v1alpha1.Instance) {
				i.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"https://portal.example/path"}}
			},
			"spec.cors.allowedOrigins",
		},
		"a claim on devices": {
			func(i *v1alpha1.Instance) {
				i.Spec.Resources = &corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}}
			},
			"resource claims are not supported",
		},
		"an unknown deletion policy": {func(i *v1alpha1.Instance) { i.Spec.DeletionPolicy = "Orphan" }, "Unsupported value"},
		"a Secret without a name": {
			func(i *v1alpha1.Instance) {
				i.Spec.Storage = v1alpha1.Storage{External: &v1alpha1.ExternalStorage{}}
			},
			"spec.storage.external.secretRef.name",
		},
		"a name too long":              {func(i *v1alpha1.Instance) { i.Name = strings.Repeat("a", 41) }, "at most 40 characters"},
		"a name no Service could have": {func(i *v1alpha1.Instance) { i.Name = "acme.example" }, "as the name of a Service"},
		"a name that begins with a digit": {
			func(i *v1alpha1.Instance) { i.Name = "1acme" },
			"as the name of a Service",
		},
	} {
		instance := p.instance("acme")
		test.change(instance)
		err := p.Create(t.Context(), instance, client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one that contains %q", name, err, test.want)
		}
	}
	planned := p.instance("planned")
	planned.Spec.Plans = []v1alpha1.Plan{{Name: "gold", MonthlyCalls: v1alpha1.MonthlyCalls{Triage: new(int64(0))}}}
	planned.Spec.Applications = []v1alpha1.Application{{Name: "portal", Plan: "gold"}, {Name: "kiosk", Plan: "trial"}, {Name: "own"}}
	if err := p.Create(t.Context(), planned, client.DryRunAll); err != nil {
		t.Errorf("plans that are there: %v", err)
	}
	longest := p.instance(strings.Repeat("a", 40))
	if err := p.Create(t.Context(), longest, client.DryRunAll); err != nil {
		t.Errorf("a name of 40 characters: %v", err)
	}
}

func TestBadEditsAreRefusedAtApply(t *testing.T) {
	p := newPlatform(t)
	p.stop()
	class := "fast"
	p.create(p.instance("embedded"))
	p.create(p.external("external"))
	classed := p.instance("classed")
	classed.Spec.Storage.Embedded.StorageClassName = &class
	p.create(classed)
	for name, test := range map[string]struct {
		instance string
		change   func(*v1alpha1.Instance)
		want     string
	}{
		"another kind of storage": {
			"embedded",
			func(i *v1alpha1.Instance) {
				i.Spec.Storage = v1alpha1.Storage{External: &v1alpha1.ExternalStorage{SecretRef: v1alpha1.SecretKeyReference{Name: "db"}}}
			},
			"the kind of storage cannot change",
		},
		"back to embedded": {
			"external",
			func(i *v1alpha1.Instance) {
				i.Spec.Storage = v1alpha1.Storage{Embedded: &v1alpha1.EmbeddedStorage{}}
				i.Spec.Replicas = 1
			},
			"the kind of storage cannot change",
		},
		"a storage class given": {
			"embedded",
			func(i *v1alpha1.Instance) { i.Spec.Storage.Embedded.StorageClassName = &class },
			"the storage class of a volume cannot change",
		},
		"a storage class taken": {
			"classed",
			func(i *v1alpha1.Instance) { i.Spec.Storage.Embedded.StorageClassName = nil },
			"the storage class of a volume cannot change",
		},
	} {
		instance := read(p, test.instance, &v1alpha1.Instance{})
		test.change(instance)
		err := p.Update(t.Context(), instance)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one that contains %q", name, err, test.want)
		}
	}
}

func TestUnknownModelStallsWhilePodsServe(t *testing.T) {
	for name, test := range map[string]struct {
		model v1alpha1.Model
		want  string
	}{
		"an id that no image has":        {v1alpha1.Model{ID: "service-xx"}, "service-xx"},
		"a version that no release has":  {v1alpha1.Model{ID: "service-en", Version: "2020-01-01T00:00:00Z"}, "2020-01-01T00:00:00Z"},
		"a version of another model has": {v1alpha1.Model{ID: "service-de", Version: olderVersion}, olderVersion},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			p.create(p.instance("acme"))
			p.reaches("acme", "Ready=True Ready")
			before := read(p, "acme", &appsv1.Deployment{})

			p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models = []v1alpha1.Model{test.model} })
			p.reaches("acme", "Ready=False ModelsUnavailable", "ModelsReady=False ModelsUnavailable", "Stalled=True ModelsUnavailable", "Available=True Serving")
			p.Expect(p.kstatus("acme")).To(gomega.Equal(status.FailedStatus))
			p.Expect(p.message("acme", "ModelsReady")).To(gomega.And(gomega.ContainSubstring(test.want), gomega.ContainSubstring("there are")))
			p.settle()
			p.Expect(read(p, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(before.Spec), "the Deployment is untouched")
			p.Expect(read(p, "acme", &v1alpha1.Instance{}).Status.Models).To(gomega.Equal([]v1alpha1.Model{{ID: "service-en", Version: newestVersion}}), "the status says what serves")

			p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].ID = "service-yy" })
			p.reaches("acme", "Stalled=True ModelsUnavailable")
			p.Eventually(p.jobs).Should(gomega.HaveLen(1), "the Job of the earlier question is deleted")

			p.editInstance("acme", func(instance *v1alpha1.Instance) {
				instance.Spec.Models = []v1alpha1.Model{{ID: "service-de"}, {ID: "service-en", Version: olderVersion}}
			})
			p.reaches("acme", "Ready=True Ready")
			p.Expect(read(p, "acme", &v1alpha1.Instance{}).Status.Models).To(gomega.Equal([]v1alpha1.Model{
				{ID: "service-de", Version: newestVersion}, {ID: "service-en", Version: olderVersion},
			}))
			p.Eventually(p.jobs).Should(gomega.BeEmpty(), "the preflight Job is cleaned up")
		})
	}
}

// jobs gives the Jobs that there are.
func (p *platform) jobs() []batchv1.Job {
	p.t.Helper()
	var jobs batchv1.JobList
	if err := p.List(p.t.Context(), &jobs, client.InNamespace(p.namespace)); err != nil {
		p.t.Fatal(err)
	}
	return jobs.Items
}

func TestStalledInstanceCostsNothing(t *testing.T) {
	p := newPlatform(t)
	instance := p.instance("acme")
	instance.Spec.Models[0].ID = "service-xx"
	p.create(instance)
	p.reaches("acme", "Stalled=True ModelsUnavailable")
	p.atRest("acme")
}

func TestLostPreflightAnswerIsAskedForAgain(t *testing.T) {
	p := newPlatform(t)
	p.world.change(func(w *world) { w.idle = true })
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=False PreflightRunning", "Reconciling=True PreflightRunning")
	job := p.jobs()[0]
	finishJob(&job, true)
	if err := p.Status().Update(t.Context(), &job); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() bool {
		again := &batchv1.Job{}
		return p.get(job.Name, again) && again.UID != job.UID
	}).Should(gomega.BeTrue())
	p.world.change(func(w *world) { w.idle = false })
	p.reaches("acme", "Ready=True Ready")
}

func TestPreflightThatCannotRunStallsAndRecovers(t *testing.T) {
	p := newPlatform(t)
	p.world.change(func(w *world) { w.idle = true })
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=False PreflightRunning")
	p.ahead.Store(int64(resources.ProgressDeadline + time.Minute))
	p.visitAgain("acme")
	p.reaches("acme", "Stalled=True PreflightOverdue")
	p.world.change(func(w *world) { w.idle = false })
	p.reaches("acme", "Ready=True Ready")
}

func TestPreflightThatGetsNoPodSaysWhy(t *testing.T) {
	p := newPlatform(t)
	p.world.change(func(w *world) { w.idle = true })
	p.create(p.instance("acme"))
	p.reaches("acme", "Reconciling=True PreflightRunning")
	job := p.jobs()[0]
	for kind, message := range map[string]string{corev1.EventTypeWarning: "exceeded quota", corev1.EventTypeNormal: "nothing of note"} {
		p.create(&corev1.Event{
			ObjectMeta:     objectMeta(p.namespace, strings.ToLower(kind)),
			InvolvedObject: corev1.ObjectReference{Kind: "Job", Namespace: p.namespace, Name: job.Name, UID: job.UID},
			Type:           kind, Reason: "FailedCreate", Message: message,
			LastTimestamp: metav1.Now(),
		})
	}
	p.visitAgain("acme")
	p.Eventually(func() string { return p.message("acme", "ModelsReady") }).Should(gomega.HaveSuffix("cannot run: FailedCreate: exceeded quota"))
}

// putTLS makes or changes a TLS Secret that is watched.
func (p *platform) putTLS(name string, certificate, key, authority []byte) {
	p.t.Helper()
	data := map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": authority}
	if authority == nil {
		delete(data, "ca.crt")
	}
	secret := &corev1.Secret{}
	if p.get(name, secret) {
		edit(p, name, secret, func(secret *corev1.Secret) { secret.Data = data })
		return
	}
	secret.Name, secret.Namespace, secret.Data = name, p.namespace, data
	secret.Labels = map[string]string{v1alpha1.WatchLabel: "true"}
	p.create(secret)
}

// makeTLS gives an authority and a certificate by it, both made at a time.
func makeTLS(t testing.TB, at time.Time) (pair pki.KeyPair, authority []byte) {
	t.Helper()
	root, err := pki.NewAuthority(at)
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := pki.ParseAuthority(root)
	if err != nil {
		t.Fatal(err)
	}
	pair, err = issuer.Issue([]string{"acme.example"}, at)
	if err != nil {
		t.Fatal(err)
	}
	return pair, issuer.PEM()
}

func TestBadTLSSecretStallsWhileTheLastGoodOneServes(t *testing.T) {
	p := newPlatform(t)
	good, authority := makeTLS(t, time.Now())
	other, otherAuthority := makeTLS(t, time.Now())
	expired, expiredAuthority := makeTLS(t, time.Now().AddDate(-1, 0, 0))

	instance := p.instance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own-tls"}}
	p.create(instance)
	p.reaches("acme", "Ready=False TLSSecretNotFound", "Reconciling=True TLSSecretNotFound")
	p.Expect(p.message("acme", "Ready")).To(gomega.ContainSubstring("Secret own-tls does not exist"))

	p.putTLS("own-tls", good.Certificate, good.Key, authority)
	p.reaches("acme", "Ready=True Ready")
	for _, test := range []struct {
		name                        string
		certificate, key, authority []byte
		want                        string
	}{
		{"rubbish", []byte("rubbish"), good.Key, authority, "tls.crt: no certificate in PEM"},
		{"another key", good.Certificate, other.Key, authority, "tls.key is not the private key"},
		{"expired", expired.Certificate, expired.Key, expiredAuthority, "expired at"},
		{"another authority", good.Certificate, good.Key, otherAuthority, "ca.crt does not vouch"},
		{"no key", good.Certificate, nil, authority, "tls.key is not the private key"},
	} {
		p.putTLS("own-tls", test.certificate, test.key, test.authority)
		p.reaches("acme", "Ready=False TLSSecretInvalid", "Stalled=True TLSSecretInvalid", "Available=True Serving")
		p.Eventually(func() string { return p.message("acme", "Ready") }).Should(gomega.ContainSubstring(test.want), test.name)
		p.Expect(read(p, "acme-serving-tls", &corev1.Secret{}).Data["tls.crt"]).To(gomega.Equal(good.Certificate), "the last good one serves")
	}
	p.putTLS("own-tls", other.Certificate, other.Key, otherAuthority)
	p.reaches("acme", "Ready=True Ready")
	p.Expect(read(p, "acme-serving-tls", &corev1.Secret{}).Data["tls.crt"]).To(gomega.Equal(other.Certificate))
	p.Expect(p.templates("acme")).To(gomega.HaveLen(1), "a certificate restarts nothing")
}

func TestTLSSecretWithoutAuthorityMayBearTheNameOfTheInstance(t *testing.T) {
	p := newPlatform(t)
	good, _ := makeTLS(t, time.Now())
	p.putTLS("acme-tls", good.Certificate, good.Key, nil)
	instance := p.instance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "acme-tls"}}
	p.create(instance)
	p.reaches("acme", "Ready=True Ready")
	p.atRest("acme")
	p.Expect(read(p, "acme-serving-tls", &corev1.Secret{}).Data).NotTo(gomega.HaveKey("ca.crt"))

	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS.SecretRef.Name = "acme-serving-tls" })
	p.reaches("acme", "Stalled=True TLSSecretInvalid", "Available=True Serving")
	p.Expect(p.message("acme", "Ready")).To(gomega.ContainSubstring("name one that you made"))
}

func TestSecretThatIsNotWatchedIsReadAtTheResync(t *testing.T) {
	p := newPlatform(t)
	p.resync = 500 * time.Millisecond
	p.startOperator(serverImage)
	good, authority := makeTLS(t, time.Now())
	p.create(&corev1.Secret{
		ObjectMeta: objectMeta(p.namespace, "own-tls"),
		Data:       map[string][]byte{"tls.crt": good.Certificate, "tls.key": good.Key, "ca.crt": authority},
	})
	instance := p.instance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own-tls"}}
	p.create(instance)
	p.reaches("acme", "Ready=True Ready")
	for _, data := range [][]byte{[]byte("rubbish"), good.Certificate} {
		edit(p, "own-tls", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["tls.crt"] = data })
		want := "Ready=True Ready"
		if !bytes.Equal(data, good.Certificate) {
			want = "Stalled=True TLSSecretInvalid"
		}
		p.reaches("acme", want)
	}
}

func TestVolumeThatCannotBeBoundIsExplained(t *testing.T) {
	p := newPlatform(t)
	p.world.change(func(w *world) {
		w.unbound = true
		w.broken = func(corev1.PodTemplateSpec) bool { return true }
	})
	p.create(p.instance("acme"))
	p.reaches("acme", "StorageReady=False VolumePending")
	claim := read(p, "acme-data", &corev1.PersistentVolumeClaim{})
	p.create(&corev1.Event{
		ObjectMeta:     objectMeta(p.namespace, "complaint"),
		InvolvedObject: corev1.ObjectReference{Kind: "PersistentVolumeClaim", Name: claim.Name, Namespace: p.namespace, UID: claim.UID},
		Reason:         "FailedBinding", Message: "no persistent volumes available for this claim", Type: "Normal",
	})
	p.ahead.Store(int64(resources.ProgressDeadline + time.Minute))
	p.visitAgain("acme")
	p.reaches("acme", "StorageReady=False VolumeCannotBind", "Stalled=True VolumeCannotBind")
	p.Expect(p.message("acme", "StorageReady")).To(gomega.ContainSubstring("no persistent volumes available"))

	p.world.change(func(w *world) {
		w.unbound = false
		w.broken = func(corev1.PodTemplateSpec) bool { return false }
	})
	p.reaches("acme", "Ready=True Ready", "StorageReady=True VolumeBound")
}

func TestStorageClassThatDoesNotExistIsNamed(t *testing.T) {
	p := newPlatform(t)
	p.world.change(func(w *world) { w.unbound = true })
	class := "faster-than-light"
	instance := p.instance("acme")
	instance.Spec.Storage.Embedded.StorageClassName = &class
	p.create(instance)
	p.reaches("acme", "StorageReady=False VolumePending")
	p.ahead.Store(int64(time.Minute))
	p.visitAgain("acme")
	p.reaches("acme", "StorageReady=False VolumeCannotBind", "Stalled=True VolumeCannotBind")
	p.Expect(p.message("acme", "StorageReady")).To(gomega.ContainSubstring("storage class faster-than-light, which does not exist"))
}

func TestBadDatabaseSecretIsExplainedWithoutItsContent(t *testing.T) {
	p := newPlatform(t)
	instance := p.external("acme")
	if err := p.Delete(t.Context(), read(p, "acme-db", &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	p.create(instance)
	p.reaches("acme", "Ready=False DatabaseSecretNotFound", "StorageReady=False DatabaseSecretNotFound", "Reconciling=True DatabaseSecretNotFound")

	secret := &corev1.Secret{
		ObjectMeta: objectMeta(p.namespace, "acme-db"),
		StringData: map[string]string{"url": "mysql://acme:secret-password@db.example/acme?sslmode=verify-full"},
	}
	secret.Labels = map[string]string{v1alpha1.WatchLabel: "true"}
	p.create(secret)
	p.reaches("acme", "Ready=False DatabaseSecretInvalid", "StorageReady=False DatabaseSecretInvalid", "Stalled=True DatabaseSecretInvalid")
	p.Expect(p.message("acme", "Ready")).To(gomega.And(gomega.ContainSubstring("postgres://"), gomega.Not(gomega.ContainSubstring("secret-password"))))

	edit(p, "acme-db", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.StringData = map[string]string{"url": "postgres://acme:secret-password@db.example/acme?sslmode=verify-full"}
	})
	p.reaches("acme", "Ready=True Ready", "StorageReady=True DatabaseConfigured")
	p.Expect(p.templates("acme")).To(gomega.HaveLen(1))

	edit(p, "acme-db", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.StringData = map[string]string{"url": "postgres://acme:new-password@db.example/acme?sslmode=verify-full"}
	})
	p.Eventually(func() []string { return p.templates("acme") }).Should(gomega.HaveLen(2), "a new URL replaces the pods")
	p.reaches("acme", "Ready=True Ready")

	served := read(p, "acme", &appsv1.Deployment{})
	if err := p.Delete(t.Context(), read(p, "acme-db", &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	p.reaches("acme", "Ready=False DatabaseSecretNotFound", "Available=True Serving")
	p.Expect(read(p, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(served.Spec), "running pods keep serving")
}

func TestWhatTheAPIServerRefusesStalls(t *testing.T) {
	p := newPlatform(t)
	p.create(p.external("acme"))
	p.reaches("acme", "Ready=True Ready")
	before := read(p, "acme", &appsv1.Deployment{}).Spec
	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: mustQuantity("2Gi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: mustQuantity("1Gi")},
		}
	})
	p.reaches("acme", "Ready=False RefusedByAPIServer", "Stalled=True RefusedByAPIServer", "Available=True Serving")
	p.Expect(p.message("acme", "Ready")).To(gomega.ContainSubstring("must be less than or equal to memory limit"))
	p.Expect(read(p, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(before))
}

// TestPreflightThatCannotRunTakesUpWhatHelps: a Job that cannot pull its image is
// made anew with the credentials that it lacked.
func TestPreflightThatCannotRunTakesUpWhatHelps(t *testing.T) {
	p := newPlatform(t)
	p.world.change(func(w *world) { w.idle = true })
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=False PreflightRunning")
	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Pods = &v1alpha1.Pods{ImagePullSecrets: []v1alpha1.SecretReference{{Name: "registry"}}}
	})
	p.Eventually(func() []corev1.LocalObjectReference {
		var jobs batchv1.JobList
		if err := p.List(t.Context(), &jobs, client.InNamespace(p.namespace)); err != nil || len(jobs.Items) != 1 {
			return nil
		}
		return jobs.Items[0].Spec.Template.Spec.ImagePullSecrets
	}).Should(gomega.ConsistOf(corev1.LocalObjectReference{Name: "registry"}))
	p.world.change(func(w *world) { w.idle = false })
	p.reaches("acme", "Ready=True Ready")
}

// TestDatabaseThatIsNotVerifiedIsRefused: whoever may stand between is told of
// before the first pod starts, and pods that serve are left in peace.
func TestDatabaseThatIsNotVerifiedIsRefused(t *testing.T) {
	p := newPlatform(t)
	instance := p.external("acme")
	rewrite := func(url string) {
		secret := read(p, "acme-db", &corev1.Secret{})
		secret.StringData = map[string]string{"url": url}
		if err := p.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	const unverified = "postgres://acme:secret-password@db.example/acme?sslmode=require"
	rewrite(unverified)
	p.create(instance)
	p.reaches("acme", "Ready=False DatabaseNotVerified", "StorageReady=False DatabaseNotVerified")
	p.Expect(p.message("acme", "StorageReady")).To(gomega.And(gomega.ContainSubstring("allowInsecure"), gomega.Not(gomega.ContainSubstring("secret-password"))))
	p.Expect(p.get("acme", &appsv1.Deployment{})).To(gomega.BeFalse(), "no pod starts")

	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.External.AllowInsecure = true })
	p.reaches("acme", "Ready=True Ready", "StorageReady=True DatabaseConfigured")
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.External.AllowInsecure = false })
	p.reaches("acme", "Ready=True Ready", "StorageReady=True DatabaseNotVerified")
}

func TestDatabaseURLAndAuthorityAreReadWhereTheSpecSays(t *testing.T) {
	p := newPlatform(t)
	instance := p.external("acme")
	secret := read(p, "acme-db", &corev1.Secret{})
	secret.Data["uri"] = secret.Data["url"]
	delete(secret.Data, "url")
	if err := p.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	external := instance.Spec.Storage.External
	external.SecretRef.Key = "uri"
	external.CARef = &v1alpha1.CertificateReference{Kind: "ConfigMap", Name: "acme-db-ca", Key: "root.pem"}
	p.create(instance)
	p.reaches("acme", "Ready=False DatabaseAuthorityNotFound")
	authority, err := pki.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	configMap := &corev1.ConfigMap{ObjectMeta: objectMeta(p.namespace, "acme-db-ca"), Data: map[string]string{"root.pem": "nothing"}}
	configMap.Labels = map[string]string{v1alpha1.WatchLabel: "true"}
	p.create(configMap)
	p.reaches("acme", "Ready=False DatabaseAuthorityInvalid")
	configMap.Data["root.pem"] = string(authority.Certificate)
	if err := p.Update(t.Context(), configMap); err != nil {
		t.Fatal(err)
	}
	p.reaches("acme", "Ready=True Ready")
	before := read(p, "acme", &appsv1.Deployment{}).Spec.Template.Annotations[resources.DatabaseChecksumAnnotation]
	configMap.Data["root.pem"] += string(authority.Certificate)
	if err := p.Update(t.Context(), configMap); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() string {
		return read(p, "acme", &appsv1.Deployment{}).Spec.Template.Annotations[resources.DatabaseChecksumAnnotation]
	}).ShouldNot(gomega.Equal(before), "pods read authorities only when they start")
}
