// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// breakModel makes the pods never become ready whose models include a version.
func (p *platform) breakModel(version string) {
	p.world.change(func(w *world) {
		w.broken = func(template corev1.PodTemplateSpec) bool {
			return strings.Contains(template.Annotations[resources.ModelsAnnotation], version)
		}
	})
}

func models(p *platform, name string) string {
	return read(p, name, &appsv1.Deployment{}).Spec.Template.Annotations[resources.ModelsAnnotation]
}

// templates names the pod templates that an Instance's Deployment has had. Its
// generation does not tell: that grows with every annotation.
func (p *platform) templates(name string) []string {
	p.t.Helper()
	var sets appsv1.ReplicaSetList
	if err := p.List(p.t.Context(), &sets, client.InNamespace(p.namespace), client.MatchingLabels{resources.InstanceLabel: name}); err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, set := range sets.Items {
		names = append(names, set.Spec.Template.Annotations[resources.TemplateHashAnnotation])
	}
	return names
}

func TestRolloutThatFailsIsPutBack(t *testing.T) {
	for name, build := range map[string]func(*platform) *v1alpha1.Instance{
		"surge":    func(p *platform) *v1alpha1.Instance { return p.external("acme") },
		"recreate": func(p *platform) *v1alpha1.Instance { return p.instance("acme") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			p.breakModel(olderVersion)
			p.create(build(p))
			p.reaches("acme", "Ready=True Ready")

			p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
			p.reaches("acme", "Ready=False RolloutFailed", "Stalled=True RolloutFailed", "Available=True Serving")
			p.Expect(p.kstatus("acme")).To(gomega.Equal(status.FailedStatus))
			p.Eventually(func() string { return models(p, "acme") }).Should(gomega.Equal("service-en@" + newestVersion))
			p.Expect(p.message("acme", "Ready")).To(gomega.ContainSubstring("put back"))
			p.atRest("acme")
			p.Expect(models(p, "acme")).To(gomega.Equal("service-en@" + newestVersion))

			p.breakModel("none")
			p.editInstance("acme", func(instance *v1alpha1.Instance) {
				instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"*"}}
			})
			p.reaches("acme", "Ready=True Ready")
			p.Expect(models(p, "acme")).To(gomega.Equal("service-en@"+olderVersion), "a change of the spec tries again")
			p.Expect(read(p, "acme", &v1alpha1.Instance{}).Status.Rollout.Failed).To(gomega.BeEmpty())
		})
	}
}

func TestFirstRolloutThatFailsStallsAndRecovers(t *testing.T) {
	p := newPlatform(t)
	p.breakModel(newestVersion)
	p.create(p.external("acme"))
	p.reaches("acme", "Ready=False RolloutFailed", "Stalled=True RolloutFailed", "Available=False NoPodReady")
	p.breakModel("none")
	p.reaches("acme", "Ready=True Ready")
}

func TestRolloutThatFailsSaysWhatThePodsSaid(t *testing.T) {
	p := newPlatform(t)
	p.create(p.external("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.breakModel(olderVersion)
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.reaches("acme", "Stalled=True RolloutFailed")
	p.Expect(p.message("acme", "Ready")).To(gomega.MatchRegexp("pod acme-[0-9a-f]+: CrashLoopBackOff back-off 5m0s restarting"))
}

func TestUpgradeOfTheOperatorMovesInstancesInAWave(t *testing.T) {
	p := newPlatform(t)
	names := []string{"one", "two", "three"}
	for _, name := range names {
		p.create(p.instance(name))
	}
	for _, name := range names {
		p.reaches(name, "Ready=True Ready")
	}
	p.world.change(func(w *world) { w.idle = true })
	p.startOperator(nextServerImage)
	moved := func() (moved []string) {
		for _, name := range names {
			if read(p, name, &v1alpha1.Instance{}).Status.Server.Image == nextServerImage {
				moved = append(moved, name)
			}
		}
		return moved
	}
	p.Eventually(moved).Should(gomega.HaveLen(1))
	p.settle()
	p.Expect(moved()).To(gomega.HaveLen(1), "the next one waits for the first")
	for _, name := range names {
		p.Expect(read(p, name, &appsv1.Deployment{}).Spec.Template.Spec.Containers[0].Image).To(gomega.Equal(serverImage), "no pod is touched before the preflight")
	}
	p.world.change(func(w *world) { w.idle = false })
	p.Eventually(moved).Should(gomega.HaveLen(3))
	for _, name := range names {
		p.reaches(name, "Ready=True Ready")
		p.Expect(read(p, name, &appsv1.Deployment{}).Spec.Template.Spec.Containers[0].Image).To(gomega.Equal(nextServerImage))
	}
}

func TestWaveHaltsWhenAnInstanceFails(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("one"))
	second := p.instance("two")
	second.Spec.Models[0].Version = newestVersion
	p.create(second)
	p.reaches("one", "Ready=True Ready")
	p.reaches("two", "Ready=True Ready")
	p.world.change(func(w *world) { w.catalogue[nextServerImage] = map[string][]string{"service-de": {newestVersion}} })
	p.startOperator(nextServerImage)
	p.Eventually(func() []string {
		return slices.Concat(p.state("one"), p.state("two"))
	}).Should(gomega.ContainElement("Stalled=True ModelsUnavailable"))
	p.settle()
	var images []string
	for _, name := range []string{"one", "two"} {
		images = append(images, read(p, name, &v1alpha1.Instance{}).Status.Server.Image)
		p.Expect(p.state(name)).To(gomega.ContainElement("Available=True Serving"))
	}
	p.Expect(images).To(gomega.ConsistOf(serverImage, nextServerImage))

	p.startOperator(serverImage)
	p.reaches("one", "Ready=True Ready")
	p.reaches("two", "Ready=True Ready")
}

func TestUpgradeOfTheOperatorKeepsASuspendedInstance(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Suspend = true })
	p.reaches("acme", "Ready=True Suspended")
	p.startOperator(nextServerImage)
	p.settle()
	p.Expect(read(p, "acme", &v1alpha1.Instance{}).Status.Server.Image).To(gomega.Equal(serverImage))
}

func TestCertificateIsRenewedBeforeItsEnd(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	first := read(p, "acme-serving-tls", &corev1.Secret{}).Data
	p.Expect(first["ca.crt"]).To(gomega.Equal(read(p, authority.SecretName, &corev1.Secret{}).Data["tls.crt"]))
	if _, err := pki.Check(pki.KeyPair{Certificate: first["tls.crt"], Key: first["tls.key"]}, first["ca.crt"], time.Now()); err != nil {
		t.Errorf("the certificate is not good: %v", err)
	}
	result, err := p.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: p.namespace, Name: "acme"}})
	if days := result.RequeueAfter.Hours() / 24; err != nil || days < 59 || days > 60 {
		t.Errorf("the next visit is due in %.1f days, %v", days, err)
	}
	p.ahead.Store(int64(65 * 24 * time.Hour))
	p.visitAgain("acme")
	p.Eventually(func() []byte { return read(p, "acme-serving-tls", &corev1.Secret{}).Data["tls.crt"] }).ShouldNot(gomega.Equal(first["tls.crt"]))
	p.Expect(read(p, "acme-serving-tls", &corev1.Secret{}).Data["ca.crt"]).To(gomega.Equal(first["ca.crt"]))
	p.Expect(p.templates("acme")).To(gomega.HaveLen(1), "a certificate restarts nothing")
}

func TestAuthorityThatCannotBeReadStallsWhilePodsServe(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	edit(p, authority.SecretName, &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["tls.key"] = []byte("rubbish") })
	p.reaches("acme", "Ready=False AuthorityInvalid", "Stalled=True AuthorityInvalid", "Available=True Serving")
}

func TestApplicationKeyIsMadeOnceAndRotatedByDeletingItsSecret(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	secret := read(p, "acme-app-default", &corev1.Secret{})
	first := string(secret.Data["key"])
	p.Expect(first).To(gomega.HaveLen(26))
	p.Expect(string(read(p, "acme-credentials", &corev1.Secret{}).Data["default.json"])).To(gomega.ContainSubstring(first))
	if err := p.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() string {
		p.get("acme-app-default", secret)
		return string(secret.Data["key"])
	}).ShouldNot(gomega.Equal(first))
	p.Eventually(func() string { return string(read(p, "acme-credentials", &corev1.Secret{}).Data["default.json"]) }).
		Should(gomega.And(gomega.ContainSubstring(string(secret.Data["key"])), gomega.Not(gomega.ContainSubstring(first))))
	p.Expect(p.templates("acme")).To(gomega.HaveLen(1), "a key restarts nothing")
}

func TestSigningKeysOfPeopleStay(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	secret := read(p, "acme-signing-keys", &corev1.Secret{})
	p.Expect(secret.Data).To(gomega.HaveLen(1))
	id, key, err := pki.NewSigningKey(time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	edit(p, "acme-signing-keys", secret, func(secret *corev1.Secret) { secret.Data[id+".pem"] = key })
	p.visitAgain("acme")
	p.settle()
	p.Expect(read(p, "acme-signing-keys", &corev1.Secret{}).Data).To(gomega.And(gomega.HaveLen(2), gomega.HaveKeyWithValue(id+".pem", key)))
}

func TestTransientErrorsAreTriedAgain(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.settle()
	p.writes.refuse(func(request *http.Request) error {
		if strings.Contains(request.URL.Path, "/configmaps/") {
			return errors.New("connection refused")
		}
		return nil
	})
	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"*"}}
	})
	p.reaches("acme", "Reconciling=True TransientError")
	p.Expect(p.kstatus("acme")).To(gomega.Equal(status.InProgressStatus))
	p.Expect(meta.IsStatusConditionTrue(read(p, "acme", &v1alpha1.Instance{}).Status.Conditions, v1alpha1.ConditionReady)).To(gomega.BeTrue(), "one error says little")
	p.ahead.Store(int64(3 * time.Minute))
	p.reaches("acme", "Ready=Unknown TransientError", "Reconciling=True TransientError")
	p.writes.refuse(nil)
	p.reaches("acme", "Ready=True Ready")
	p.Expect(read(p, "acme-config", &corev1.ConfigMap{}).Data["config.yaml"]).To(gomega.ContainSubstring("*"))
}

func TestOperatorCaresForTheInstancesOfItsSelectorOnly(t *testing.T) {
	p := newPlatform(t)
	p.stop()
	p.selector = "team=blue"
	p.startOperator(serverImage)
	blue, red := p.instance("blue"), p.instance("red")
	blue.Labels, red.Labels = map[string]string{"team": "blue"}, map[string]string{"team": "red"}
	p.create(red)
	p.create(blue)
	p.reaches("blue", "Ready=True Ready")
	p.Expect(read(p, "red", &v1alpha1.Instance{}).Status.ObservedGeneration).To(gomega.Equal(int64(-1)))
}

func TestManyInstancesSettleAtOnce(t *testing.T) {
	p := newPlatform(t)
	const count = 12
	for i := range count {
		p.create(p.instance(fmt.Sprintf("tenant-%d", i)))
	}
	for i := range count {
		p.reaches(fmt.Sprintf("tenant-%d", i), "Ready=True Ready")
	}
	p.settle()
	before := len(p.writes.all())
	for i := range count {
		p.visitAgain(fmt.Sprintf("tenant-%d", i))
	}
	p.settle()
	p.Expect(p.writes.all()).To(gomega.HaveLen(before))
	t.Logf("%d writes for %d Instances until they were ready", before, count)
}

func TestGrowingVolumeIsAskedFor(t *testing.T) {
	p := newPlatform(t)
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}, Provisioner: "test.example/none", AllowVolumeExpansion: ptr.To(true)}
	p.create(class)
	t.Cleanup(func() {
		if err := p.Delete(context.Background(), class); err != nil {
			t.Error(err)
		}
	})
	instance := p.instance("acme")
	instance.Spec.Storage.Embedded.StorageClassName = ptr.To(p.namespace)
	p.create(instance)
	p.reaches("acme", "Ready=True Ready")
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	p.reaches("acme", "Ready=True Ready")
	claim := read(p, "acme-data", &corev1.PersistentVolumeClaim{})
	p.Expect(claim.Spec.Resources.Requests.Storage().String()).To(gomega.Equal("2Gi"))

	claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: mustQuantity("2Gi")}
	if err := p.Status().Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("512Mi") })
	p.reaches("acme", "Stalled=True RefusedByAPIServer", "Available=True Serving")
	p.Expect(p.message("acme", "StorageReady")).To(gomega.ContainSubstring("can not be less than"))
}

func TestVolumeThatCannotGrowStallsWhilePodsServe(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	p.reaches("acme", "Ready=False ForbiddenByAPIServer", "StorageReady=False ForbiddenByAPIServer", "Stalled=True ForbiddenByAPIServer", "Available=True Serving")
	p.Expect(p.message("acme", "StorageReady")).To(gomega.ContainSubstring("can be resized"))
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("1Gi") })
	p.reaches("acme", "Ready=True Ready")
}

func TestVersionThatIsServedAlreadyReplacesNoPod(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	before := read(p, "acme", &appsv1.Deployment{})
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = newestVersion })
	p.reaches("acme", "Ready=True Ready")
	p.Expect(read(p, "acme", &appsv1.Deployment{}).Spec.Template).To(gomega.Equal(before.Spec.Template))
}

func TestOpenVersionStaysPinned(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.world.change(func(w *world) {
		w.catalogue[serverImage] = map[string][]string{"service-en": {"2027-01-01T00:00:00Z", newestVersion}}
	})
	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"*"}}
	})
	p.reaches("acme", "Ready=True Ready")
	p.Expect(read(p, "acme", &v1alpha1.Instance{}).Status.Models[0].Version).To(gomega.Equal(newestVersion))
}
