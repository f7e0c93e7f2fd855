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

func TestInvalidSpecIsRejectedOnCreate(t *testing.T) {
	h := newHarness(t)
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
		"two replicas on embedded": {func(i *v1alpha1.Instance) { i.Spec.Replicas = 2 }, "embedded storage supports one replica"},
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
		"an unknown plan": {
			func(i *v1alpha1.Instance) {
				i.Spec.Plans = []v1alpha1.Plan{{Name: "gold"}}
				i.Spec.Applications = []v1alpha1.Application{{Name: "portal", Plan: "gold"}, {Name: "kiosk", Plan: "silver"}}
			},
			"unknown plan: use one of spec.plans",
		},
		"a plan without any plans": {
			func(i *v1alpha1.Instance) {
				i.Spec.Applications = []v1alpha1.Application{{Name: "portal", Plan: "gold"}}
			},
			"unknown plan: use one of spec.plans",
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
		"a name no Service could have": {func(i *v1alpha1.Instance) { i.Name = "acme.example" }, "valid Service name"},
		"a name that begins with a digit": {
			func(i *v1alpha1.Instance) { i.Name = "1acme" },
			"valid Service name",
		},
	} {
		instance := h.newInstance("acme")
		test.change(instance)
		err := h.Create(t.Context(), instance, client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one that contains %q", name, err, test.want)
		}
	}
	planned := h.newInstance("planned")
	planned.Spec.Plans = []v1alpha1.Plan{{Name: "gold", MonthlyCalls: v1alpha1.MonthlyCalls{Triage: new(int64(0))}}}
	planned.Spec.Applications = []v1alpha1.Application{{Name: "portal", Plan: "gold"}, {Name: "kiosk", Plan: "trial"}, {Name: "own"}}
	if err := h.Create(t.Context(), planned, client.DryRunAll); err != nil {
		t.Errorf("applications with existing plans: got error %v", err)
	}
	longest := h.newInstance(strings.Repeat("a", 40))
	if err := h.Create(t.Context(), longest, client.DryRunAll); err != nil {
		t.Errorf("a name of 40 characters: got error %v", err)
	}
}

func TestInvalidSpecIsRejectedOnUpdate(t *testing.T) {
	h := newHarness(t)
	h.stop()
	class := "fast"
	h.mustCreate(h.newInstance("embedded"))
	h.mustCreate(h.newExternalInstance("external"))
	withClass := h.newInstance("classed")
	withClass.Spec.Storage.Embedded.StorageClassName = &class
	h.mustCreate(withClass)
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
			"storage kind is immutable",
		},
		"back to embedded": {
			"external",
			func(i *v1alpha1.Instance) {
				i.Spec.Storage = v1alpha1.Storage{Embedded: &v1alpha1.EmbeddedStorage{}}
				i.Spec.Replicas = 1
			},
			"storage kind is immutable",
		},
		"a storage class given": {
			"embedded",
			func(i *v1alpha1.Instance) { i.Spec.Storage.Embedded.StorageClassName = &class },
			"storageClassName is immutable",
		},
		"a storage class taken": {
			"classed",
			func(i *v1alpha1.Instance) { i.Spec.Storage.Embedded.StorageClassName = nil },
			"storageClassName is immutable",
		},
	} {
		instance := mustGet(h, test.instance, &v1alpha1.Instance{})
		test.change(instance)
		err := h.Update(t.Context(), instance)
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
			h := newHarness(t)
			h.mustCreate(h.newInstance("acme"))
			h.waitForConditions("acme", "Ready=True Ready")
			before := mustGet(h, "acme", &appsv1.Deployment{})

			h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models = []v1alpha1.Model{test.model} })
			h.waitForConditions("acme", "Ready=False ModelsUnavailable", "ModelsReady=False ModelsUnavailable", "Stalled=True ModelsUnavailable", "Available=True Serving")
			h.Expect(h.kstatus("acme")).To(gomega.Equal(status.FailedStatus))
			h.Expect(h.conditionMessage("acme", "ModelsReady")).To(gomega.And(gomega.ContainSubstring(test.want), gomega.ContainSubstring("available models are")))
			h.waitUntilIdle()
			h.Expect(mustGet(h, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(before.Spec), "the Deployment must not change")
			h.Expect(mustGet(h, "acme", &v1alpha1.Instance{}).Status.Models).To(gomega.Equal([]v1alpha1.Model{{ID: "service-en", Version: newestVersion}}), "the status must report the served models")

			h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].ID = "service-yy" })
			h.waitForConditions("acme", "Stalled=True ModelsUnavailable")
			h.Eventually(h.listJobs).Should(gomega.HaveLen(1), "the Job of the earlier check must be deleted")

			h.updateInstance("acme", func(instance *v1alpha1.Instance) {
				instance.Spec.Models = []v1alpha1.Model{{ID: "service-de"}, {ID: "service-en", Version: olderVersion}}
			})
			h.waitForConditions("acme", "Ready=True Ready")
			h.Expect(mustGet(h, "acme", &v1alpha1.Instance{}).Status.Models).To(gomega.Equal([]v1alpha1.Model{
				{ID: "service-de", Version: newestVersion}, {ID: "service-en", Version: olderVersion},
			}))
			h.Eventually(h.listJobs).Should(gomega.BeEmpty(), "the preflight Job must be deleted")
		})
	}
}

// listJobs returns the existing Jobs.
func (h *harness) listJobs() []batchv1.Job {
	h.t.Helper()
	var jobs batchv1.JobList
	if err := h.List(h.t.Context(), &jobs, client.InNamespace(h.namespace)); err != nil {
		h.t.Fatal(err)
	}
	return jobs.Items
}

func TestStalledInstanceCausesNoWrites(t *testing.T) {
	h := newHarness(t)
	instance := h.newInstance("acme")
	instance.Spec.Models[0].ID = "service-xx"
	h.mustCreate(instance)
	h.waitForConditions("acme", "Stalled=True ModelsUnavailable")
	h.expectNoWritesWhenSettled("acme")
}

func TestPreflightIsRerunWhenResultIsLost(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = true })
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=False PreflightRunning", "Reconciling=True PreflightRunning")
	job := h.listJobs()[0]
	finishJob(&job, true)
	if err := h.Status().Update(t.Context(), &job); err != nil {
		t.Fatal(err)
	}
	h.Eventually(func() bool {
		recreated := &batchv1.Job{}
		return h.get(job.Name, recreated) && recreated.UID != job.UID
	}).Should(gomega.BeTrue())
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = false })
	h.waitForConditions("acme", "Ready=True Ready")
}

func TestPreflightThatCannotRunStallsAndRecovers(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = true })
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=False PreflightRunning")
	h.clockOffset.Store(int64(resources.DefaultProgressDeadline + time.Minute))
	h.triggerReconcile("acme")
	h.waitForConditions("acme", "Stalled=True PreflightTimedOut")
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = false })
	h.waitForConditions("acme", "Ready=True Ready")
}

func TestPreflightWithoutPodReportsReason(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = true })
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Reconciling=True PreflightRunning")
	job := h.listJobs()[0]
	for kind, message := range map[string]string{corev1.EventTypeWarning: "exceeded quota", corev1.EventTypeNormal: "nothing of note"} {
		h.mustCreate(&corev1.Event{
			ObjectMeta:     objectMeta(h.namespace, strings.ToLower(kind)),
			InvolvedObject: corev1.ObjectReference{Kind: "Job", Namespace: h.namespace, Name: job.Name, UID: job.UID},
			Type:           kind, Reason: "FailedCreate", Message: message,
			LastTimestamp: metav1.Now(),
		})
	}
	h.triggerReconcile("acme")
	h.Eventually(func() string { return h.conditionMessage("acme", "ModelsReady") }).Should(gomega.HaveSuffix("cannot run: FailedCreate: exceeded quota"))
}

// applyTLSSecret creates or updates a TLS Secret that is watched.
func (h *harness) applyTLSSecret(name string, certificate, key, authority []byte) {
	h.t.Helper()
	data := map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": authority}
	if authority == nil {
		delete(data, "ca.crt")
	}
	secret := &corev1.Secret{}
	if h.get(name, secret) {
		mustUpdate(h, name, secret, func(secret *corev1.Secret) { secret.Data = data })
		return
	}
	secret.Name, secret.Namespace, secret.Data = name, h.namespace, data
	secret.Labels = map[string]string{v1alpha1.WatchLabel: "true"}
	h.mustCreate(secret)
}

// newTLSPair returns a CA and a certificate issued by it, both created at a given time.
func newTLSPair(t testing.TB, at time.Time) (pair pki.KeyPair, authority []byte) {
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

func TestInvalidTLSSecretKeepsServingPreviousCertificate(t *testing.T) {
	h := newHarness(t)
	valid, authority := newTLSPair(t, time.Now())
	other, otherAuthority := newTLSPair(t, time.Now())
	expired, expiredAuthority := newTLSPair(t, time.Now().AddDate(-1, 0, 0))

	instance := h.newInstance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own-tls"}}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=False TLSSecretNotFound", "Reconciling=True TLSSecretNotFound")
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("Secret own-tls not found"))

	h.applyTLSSecret("own-tls", valid.Certificate, valid.Key, authority)
	h.waitForConditions("acme", "Ready=True Ready")
	for _, test := range []struct {
		name                        string
		certificate, key, authority []byte
		want                        string
	}{
		{"rubbish", []byte("rubbish"), valid.Key, authority, "tls.crt: PEM data does not contain a certificate"},
		{"another key", valid.Certificate, other.Key, authority, "tls.key is not the private key"},
		{"expired", expired.Certificate, expired.Key, expiredAuthority, "expired at"},
		{"another authority", valid.Certificate, valid.Key, otherAuthority, "ca.crt did not issue"},
		{"no key", valid.Certificate, nil, authority, "tls.key is not the private key"},
	} {
		h.applyTLSSecret("own-tls", test.certificate, test.key, test.authority)
		h.waitForConditions("acme", "Ready=False TLSSecretInvalid", "Stalled=True TLSSecretInvalid", "Available=True Serving")
		h.Eventually(func() string { return h.conditionMessage("acme", "Ready") }).Should(gomega.ContainSubstring(test.want), test.name)
		h.Expect(mustGet(h, "acme-serving-tls", &corev1.Secret{}).Data["tls.crt"]).To(gomega.Equal(valid.Certificate), "the last valid certificate must stay in use")
	}
	h.applyTLSSecret("own-tls", other.Certificate, other.Key, otherAuthority)
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(mustGet(h, "acme-serving-tls", &corev1.Secret{}).Data["tls.crt"]).To(gomega.Equal(other.Certificate))
	h.Expect(h.templateHashes("acme")).To(gomega.HaveLen(1), "a new certificate must not restart pods")
}

func TestTLSSecretWithoutCAMayShareInstanceName(t *testing.T) {
	h := newHarness(t)
	valid, _ := newTLSPair(t, time.Now())
	h.applyTLSSecret("acme-tls", valid.Certificate, valid.Key, nil)
	instance := h.newInstance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "acme-tls"}}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready")
	h.expectNoWritesWhenSettled("acme")
	h.Expect(mustGet(h, "acme-serving-tls", &corev1.Secret{}).Data).NotTo(gomega.HaveKey("ca.crt"))

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS.SecretRef.Name = "acme-serving-tls" })
	h.waitForConditions("acme", "Stalled=True TLSSecretInvalid", "Available=True Serving")
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("reference a Secret of your own"))
}

func TestUnwatchedSecretIsReadOnResync(t *testing.T) {
	h := newHarness(t)
	h.resyncPeriod = 500 * time.Millisecond
	h.startOperator(serverImage)
	valid, authority := newTLSPair(t, time.Now())
	h.mustCreate(&corev1.Secret{
		ObjectMeta: objectMeta(h.namespace, "own-tls"),
		Data:       map[string][]byte{"tls.crt": valid.Certificate, "tls.key": valid.Key, "ca.crt": authority},
	})
	instance := h.newInstance("acme")
	instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own-tls"}}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready")
	for _, data := range [][]byte{[]byte("rubbish"), valid.Certificate} {
		mustUpdate(h, "own-tls", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["tls.crt"] = data })
		want := "Ready=True Ready"
		if !bytes.Equal(data, valid.Certificate) {
			want = "Stalled=True TLSSecretInvalid"
		}
		h.waitForConditions("acme", want)
	}
}

func TestUnboundVolumeIsReported(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) {
		c.volumesPending = true
		c.brokenTemplate = func(corev1.PodTemplateSpec) bool { return true }
	})
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "StorageReady=False VolumePending")
	claim := mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{})
	h.mustCreate(&corev1.Event{
		ObjectMeta:     objectMeta(h.namespace, "complaint"),
		InvolvedObject: corev1.ObjectReference{Kind: "PersistentVolumeClaim", Name: claim.Name, Namespace: h.namespace, UID: claim.UID},
		Reason:         "FailedBinding", Message: "no persistent volumes available for this claim", Type: "Normal",
	})
	h.clockOffset.Store(int64(resources.DefaultProgressDeadline + time.Minute))
	h.triggerReconcile("acme")
	h.waitForConditions("acme", "StorageReady=False VolumeBindFailed", "Stalled=True VolumeBindFailed")
	h.Expect(h.conditionMessage("acme", "StorageReady")).To(gomega.ContainSubstring("no persistent volumes available"))

	h.cluster.update(func(c *fakeCluster) {
		c.volumesPending = false
		c.brokenTemplate = func(corev1.PodTemplateSpec) bool { return false }
	})
	h.waitForConditions("acme", "Ready=True Ready", "StorageReady=True VolumeBound")
}

func TestMissingStorageClassIsReported(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) { c.volumesPending = true })
	class := "faster-than-light"
	instance := h.newInstance("acme")
	instance.Spec.Storage.Embedded.StorageClassName = &class
	h.mustCreate(instance)
	h.waitForConditions("acme", "StorageReady=False VolumePending")
	h.clockOffset.Store(int64(time.Minute))
	h.triggerReconcile("acme")
	h.waitForConditions("acme", "StorageReady=False VolumeBindFailed", "Stalled=True VolumeBindFailed")
	h.Expect(h.conditionMessage("acme", "StorageReady")).To(gomega.ContainSubstring("storage class faster-than-light, which does not exist"))
}

func TestInvalidDatabaseSecretIsReportedWithoutItsContent(t *testing.T) {
	h := newHarness(t)
	instance := h.newExternalInstance("acme")
	if err := h.Delete(t.Context(), mustGet(h, "acme-db", &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=False DatabaseSecretNotFound", "StorageReady=False DatabaseSecretNotFound", "Reconciling=True DatabaseSecretNotFound")

	secret := &corev1.Secret{
		ObjectMeta: objectMeta(h.namespace, "acme-db"),
		StringData: map[string]string{"url": "mysql://acme:secret-password@db.example/acme?sslmode=verify-full"},
	}
	secret.Labels = map[string]string{v1alpha1.WatchLabel: "true"}
	h.mustCreate(secret)
	h.waitForConditions("acme", "Ready=False DatabaseSecretInvalid", "StorageReady=False DatabaseSecretInvalid", "Stalled=True DatabaseSecretInvalid")
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.And(gomega.ContainSubstring("postgres://"), gomega.Not(gomega.ContainSubstring("secret-password"))))

	mustUpdate(h, "acme-db", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.StringData = map[string]string{"url": "postgres://acme:secret-password@db.example/acme?sslmode=verify-full"}
	})
	h.waitForConditions("acme", "Ready=True Ready", "StorageReady=True DatabaseConfigured")
	h.Expect(h.templateHashes("acme")).To(gomega.HaveLen(1))

	mustUpdate(h, "acme-db", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.StringData = map[string]string{"url": "postgres://acme:new-password@db.example/acme?sslmode=verify-full"}
	})
	h.Eventually(func() []string { return h.templateHashes("acme") }).Should(gomega.HaveLen(2), "a new URL must replace the pods")
	h.waitForConditions("acme", "Ready=True Ready")

	served := mustGet(h, "acme", &appsv1.Deployment{})
	if err := h.Delete(t.Context(), mustGet(h, "acme-db", &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	h.waitForConditions("acme", "Ready=False DatabaseSecretNotFound", "Available=True Serving")
	h.Expect(mustGet(h, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(served.Spec), "running pods must not change")
}

func TestRejectedObjectStallsInstance(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	before := mustGet(h, "acme", &appsv1.Deployment{}).Spec
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: mustQuantity("2Gi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: mustQuantity("1Gi")},
		}
	})
	h.waitForConditions("acme", "Ready=False RejectedByAPIServer", "Stalled=True RejectedByAPIServer", "Available=True Serving")
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("must be less than or equal to memory limit"))
	h.Expect(mustGet(h, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(before))
}

// TestBlockedPreflightPicksUpSpecChange checks that a Job that cannot pull its image is
// recreated with the missing pull credentials.
func TestBlockedPreflightPicksUpSpecChange(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = true })
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=False PreflightRunning")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Pods = &v1alpha1.Pods{ImagePullSecrets: []v1alpha1.SecretReference{{Name: "registry"}}}
	})
	h.Eventually(func() []corev1.LocalObjectReference {
		var jobs batchv1.JobList
		if err := h.List(t.Context(), &jobs, client.InNamespace(h.namespace)); err != nil || len(jobs.Items) != 1 {
			return nil
		}
		return jobs.Items[0].Spec.Template.Spec.ImagePullSecrets
	}).Should(gomega.ConsistOf(corev1.LocalObjectReference{Name: "registry"}))
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = false })
	h.waitForConditions("acme", "Ready=True Ready")
}

// TestUnverifiedDatabaseIsRejected checks that an insecure database connection is
// reported before the first pod starts, and that serving pods are left unchanged.
func TestUnverifiedDatabaseIsRejected(t *testing.T) {
	h := newHarness(t)
	instance := h.newExternalInstance("acme")
	rewrite := func(url string) {
		secret := mustGet(h, "acme-db", &corev1.Secret{})
		secret.StringData = map[string]string{"url": url}
		if err := h.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	const unverified = "postgres://acme:secret-password@db.example/acme?sslmode=require"
	rewrite(unverified)
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=False DatabaseUnverified", "StorageReady=False DatabaseUnverified")
	h.Expect(h.conditionMessage("acme", "StorageReady")).To(gomega.And(gomega.ContainSubstring("allowInsecure"), gomega.Not(gomega.ContainSubstring("secret-password"))))
	h.Expect(h.get("acme", &appsv1.Deployment{})).To(gomega.BeFalse(), "no pod must start")

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.External.AllowInsecure = true })
	h.waitForConditions("acme", "Ready=True Ready", "StorageReady=True DatabaseConfigured")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.External.AllowInsecure = false })
	h.waitForConditions("acme", "Ready=True Ready", "StorageReady=True DatabaseUnverified")
}

func TestDatabaseURLAndCAKeysFollowSpec(t *testing.T) {
	h := newHarness(t)
	instance := h.newExternalInstance("acme")
	secret := mustGet(h, "acme-db", &corev1.Secret{})
	secret.Data["uri"] = secret.Data["url"]
	delete(secret.Data, "url")
	if err := h.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	external := instance.Spec.Storage.External
	external.SecretRef.Key = "uri"
	external.CARef = &v1alpha1.CABundleReference{Kind: "ConfigMap", Name: "acme-db-ca", Key: "root.pem"}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=False DatabaseCANotFound")
	authority, err := pki.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	configMap := &corev1.ConfigMap{ObjectMeta: objectMeta(h.namespace, "acme-db-ca"), Data: map[string]string{"root.pem": "nothing"}}
	configMap.Labels = map[string]string{v1alpha1.WatchLabel: "true"}
	h.mustCreate(configMap)
	h.waitForConditions("acme", "Ready=False DatabaseCAInvalid")
	configMap.Data["root.pem"] = string(authority.Certificate)
	if err := h.Update(t.Context(), configMap); err != nil {
		t.Fatal(err)
	}
	h.waitForConditions("acme", "Ready=True Ready")
	before := mustGet(h, "acme", &appsv1.Deployment{}).Spec.Template.Annotations[resources.DatabaseChecksumAnnotation]
	configMap.Data["root.pem"] += string(authority.Certificate)
	if err := h.Update(t.Context(), configMap); err != nil {
		t.Fatal(err)
	}
	h.Eventually(func() string {
		return mustGet(h, "acme", &appsv1.Deployment{}).Spec.Template.Annotations[resources.DatabaseChecksumAnnotation]
	}).ShouldNot(gomega.Equal(before), "a changed CA bundle must replace the pods")
}
