// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/steps"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// What must never happen: data lost or shared by mistake, keys handed out or
// changed, a deletion that hangs.

func TestDeletionNeverTouchesDataThatWasNotTakenUp(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.remove("acme")

	stranger := p.instance("acme")
	stranger.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
	p.create(stranger)
	p.reaches("acme", "Stalled=True DataOfAnotherInstance")
	p.remove("acme")
	p.settle()
	p.Expect(read(p, "acme-data", &corev1.PersistentVolumeClaim{}).DeletionTimestamp).To(gomega.BeNil())
}

func TestAdoptedDataOfALargerVolumeIsNotShrunk(t *testing.T) {
	p := newPlatform(t)
	large := p.instance("acme")
	large.Spec.Storage.Embedded.Size = mustQuantity("5Gi")
	p.create(large)
	p.reaches("acme", "Ready=True Ready")
	earlier := read(p, "acme", &v1alpha1.Instance{}).UID
	p.remove("acme")

	small := p.instance("acme")
	small.Annotations = map[string]string{v1alpha1.AdoptAnnotation: string(earlier)}
	p.create(small)
	p.reaches("acme", "Ready=False RefusedByAPIServer", "StorageReady=False RefusedByAPIServer")
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("5Gi") })
	p.reaches("acme", "Ready=True Ready")
}

func TestClaimThatSomebodyDeletesIsAnAlarm(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.world.change(func(w *world) { w.collects = false })
	if err := p.Delete(t.Context(), read(p, "acme-data", &corev1.PersistentVolumeClaim{})); err != nil {
		t.Fatal(err)
	}
	p.reaches("acme", "Ready=False VolumeBeingDeleted", "StorageReady=False VolumeBeingDeleted", "Available=True Serving")
	p.world.change(func(w *world) { w.collects = true })
	p.reaches("acme", "Ready=True Ready")
}

func TestForeignSecretIsNeitherReadNorChanged(t *testing.T) {
	p := newPlatform(t)
	foreign := &corev1.Secret{ObjectMeta: objectMeta(p.namespace, "acme-app-default"), StringData: map[string]string{"key": "somebody's"}}
	foreign.Labels = resources.Labels(p.instance("acme"))
	p.create(foreign)
	p.create(p.instance("acme"))
	p.reaches("acme", "Stalled=True ObjectNotOurs")
	p.Expect(p.get("acme-credentials", &corev1.Secret{})).To(gomega.BeFalse(), "a key that somebody planted opens nothing")
	p.Expect(read(p, "acme-app-default", &corev1.Secret{}).ResourceVersion).To(gomega.Equal(foreign.ResourceVersion))
}

// TestForeignSecretOfOneApplicationStopsNoOther: the others get their keys, and
// the server learns of these alone.
func TestForeignSecretOfOneApplicationStopsNoOther(t *testing.T) {
	p := newPlatform(t)
	foreign := &corev1.Secret{ObjectMeta: objectMeta(p.namespace, "acme-app-kiosk"), StringData: map[string]string{"key": "somebody's"}}
	p.create(foreign)
	instance := p.instance("acme")
	instance.Spec.Applications = []v1alpha1.Application{{Name: "kiosk"}, {Name: "portal"}}
	p.create(instance)
	p.reaches("acme", "Stalled=True ObjectNotOurs")
	p.Eventually(func() bool { return p.get("acme-credentials", &corev1.Secret{}) }).Should(gomega.BeTrue())
	p.Expect(read(p, "acme-app-portal", &corev1.Secret{}).Data).To(gomega.HaveKey("key"))
	p.Expect(read(p, "acme-credentials", &corev1.Secret{}).Data).To(gomega.And(gomega.HaveKey("portal.json"), gomega.Not(gomega.HaveKey("kiosk.json"))))
}

// TestPinOfANewerOperatorIsLeftAlone puts an operator back to one that does not
// know how the pods of an Instance were built: it leaves them as they are until
// the wave moves the Instance, which pauses here.
func TestPinOfANewerOperatorIsLeftAlone(t *testing.T) {
	p := newPlatform(t)
	instance := p.external("acme")
	instance.Spec.Rollout = &v1alpha1.RolloutSpec{Pause: true}
	p.create(instance)
	p.reaches("acme", "Ready=True Ready")
	p.Eventually(func() error {
		deployment := read(p, "acme", &appsv1.Deployment{})
		noted := deployment.Annotations[resources.RolloutAnnotation]
		deployment.Annotations[resources.RolloutAnnotation] = strings.ReplaceAll(noted,
			fmt.Sprintf(`"revision":%d`, resources.Revision), fmt.Sprintf(`"revision":%d`, resources.Revision+1))
		return p.Update(t.Context(), deployment)
	}).Should(gomega.Succeed())
	p.Eventually(func() int32 { return read(p, "acme", &v1alpha1.Instance{}).Status.Server.Revision }).Should(gomega.Equal(resources.Revision + 1))
	memory := func() string {
		container := read(p, "acme", &appsv1.Deployment{}).Spec.Template.Spec.Containers[0]
		return container.Resources.Limits.Memory().String()
	}
	before := memory()
	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: mustQuantity("3Gi")}}
	})
	p.settle()
	p.Expect(memory()).To(gomega.Equal(before))
	p.Expect(p.state("acme")).To(gomega.ContainElement("Ready=True Ready"))
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Rollout.Pause = false })
	p.Eventually(memory).Should(gomega.Equal("3Gi"))
}

func TestKeyIsNotMadeTwiceWhenTheCacheIsBehind(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	acme := read(p, "acme", &v1alpha1.Instance{})
	before := read(p, "acme-app-default", &corev1.Secret{}).Data["key"]
	// A visit that has seen none of the children, as right after a restart.
	means := &p.reconciler.means
	v := steps.NewVisit(means, acme.DeepCopy(), children.None(means.Access, acme), time.Now())
	if err := problem.Transient(v.Run(t.Context())); err != nil && !problem.IsRace(err) {
		t.Fatal(err)
	}
	input := resources.Input{Instance: acme}
	set := children.None(means.Access, acme)
	err := set.Create(t.Context(), resources.BuildApplicationSecret(input, v1alpha1.Application{Name: "default"}, pki.NewApplicationKey()))
	if !problem.IsRace(err) {
		t.Errorf("making the key anew: %v", err)
	}
	p.Expect(read(p, "acme-app-default", &corev1.Secret{}).Data["key"]).To(gomega.Equal(before))
}

func TestInstanceIsDeletedInEveryState(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.Instance){
		"stalled": func(i *v1alpha1.Instance) { i.Spec.Models[0].ID = "service-xx" },
		"waiting": func(i *v1alpha1.Instance) {
			i.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "none"}}
		},
		"suspended":  func(i *v1alpha1.Instance) { i.Spec.Suspend = true },
		"hibernated": func(i *v1alpha1.Instance) { i.Spec.Hibernate = true },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			instance := p.instance("acme")
			instance.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
			change(instance)
			p.create(instance)
			p.Eventually(func() []string { return p.state("acme") }).ShouldNot(gomega.BeEmpty())
			p.remove("acme")
			p.Eventually(func() bool { return p.get("acme-data", &corev1.PersistentVolumeClaim{}) }).Should(gomega.BeFalse())
		})
	}
}

func TestQuotaThatForbidsThePreflightStallsWhilePodsServe(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	none := corev1.ResourceList{"count/jobs.batch": mustQuantity("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: objectMeta(p.namespace, "none"), Spec: corev1.ResourceQuotaSpec{Hard: none}}
	p.create(quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	if err := p.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.reaches("acme", "Stalled=True ForbiddenByAPIServer", "ModelsReady=False ForbiddenByAPIServer", "Available=True Serving")
	p.Expect(p.message("acme", "Ready")).To(gomega.ContainSubstring("exceeded quota: none"))
}

func TestDeploymentThatIsDeletedComesBack(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	deployment := read(p, "acme", &appsv1.Deployment{})
	if err := p.Delete(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() bool {
		again := &appsv1.Deployment{}
		return p.get("acme", again) && again.UID != deployment.UID
	}).Should(gomega.BeTrue())
	p.reaches("acme", "Ready=True Ready")
}

func TestScalingReplacesNoPod(t *testing.T) {
	p := newPlatform(t)
	p.create(p.external("acme"))
	p.reaches("acme", "Ready=True Ready")
	before := read(p, "acme", &appsv1.Deployment{})
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Replicas = 4 })
	p.reaches("acme", "Ready=True Ready")
	after := read(p, "acme", &appsv1.Deployment{})
	p.Expect(after.Spec.Replicas).To(gomega.Equal(ptr.To[int32](4)))
	p.Expect(after.Spec.Template).To(gomega.Equal(before.Spec.Template))
}

func TestVisitOfAnInstanceThatIsGoneIsNothing(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	result, err := p.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: p.namespace, Name: "none"}})
	if err != nil || result != (ctrl.Result{}) {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestTwoOperatorsThatStartTogetherMakeOneAuthority(t *testing.T) {
	p := newPlatform(t)
	p.stop()
	stores := []*authority.Store{
		{Client: p.Client, Live: p.Client, Namespace: p.namespace},
		{Client: p.Client, Live: p.Client, Namespace: p.namespace},
	}
	first, err := stores[0].Load(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stores[1].Make(t.Context(), time.Now()); !problem.IsRace(err) {
		t.Errorf("a second authority was made: %v", err)
	}
	second, err := stores[1].Load(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p.Expect(second.PEM()).To(gomega.Equal(first.PEM()))
}

func TestAuthorityIsRenewedInItsSecret(t *testing.T) {
	p := newPlatform(t)
	p.stop()
	store := &authority.Store{Client: p.Client, Live: p.Client, Namespace: p.namespace}
	first, err := store.Load(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := store.Load(t.Context(), time.Now().AddDate(6, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	p.Expect(renewed.PEM()).NotTo(gomega.Equal(first.PEM()))
	p.Expect(read(p, authority.SecretName, &corev1.Secret{}).Data["tls.crt"]).To(gomega.Equal(renewed.PEM()))
}
