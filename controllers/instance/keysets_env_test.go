// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// What the server encrypted, nobody reads without its keysets.

func TestKeysetsThatAreGoneAreNeverMadeAnew(t *testing.T) {
	for name, forget := range map[string]func(*platform){
		"and nothing else":       func(*platform) {},
		"with the status":        func(p *platform) { p.wipeStatus("acme") },
		"with status and server": forgetServer,
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			p.create(p.instance("acme"))
			p.reaches("acme", "Ready=True Ready")
			p.settle()
			p.stop()
			if err := p.Delete(t.Context(), read(p, "acme-keysets", &corev1.Secret{})); err != nil {
				t.Fatal(err)
			}
			forget(p)
			p.startOperator(serverImage)
			p.reaches("acme", "Stalled=True KeysetsLost", "Ready=False KeysetsLost")
			p.visitAgain("acme")
			p.settle()
			p.Expect(p.get("acme-keysets", &corev1.Secret{})).To(gomega.BeFalse())
			p.Expect(p.message("acme", "Stalled")).To(gomega.ContainSubstring("from a backup"))
		})
	}
}

// forgetServer takes away all that tells of keysets but the volume.
func forgetServer(p *platform) {
	if err := p.Delete(p.t.Context(), read(p, "acme", &appsv1.Deployment{})); err != nil {
		p.t.Fatal(err)
	}
	p.Eventually(func() bool { return p.get("acme", &appsv1.Deployment{}) }).Should(gomega.BeFalse())
	p.wipeStatus("acme")
}

func TestKeysetsThatCannotBeReadAreLeftAsTheyAre(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	good := read(p, "acme-keysets", &corev1.Secret{}).Data
	edit(p, "acme-keysets", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["lookup.json"] = []byte("rubbish") })
	p.reaches("acme", "Stalled=True KeysetsInvalid", "Available=True Serving")
	p.Expect(p.message("acme", "Stalled")).To(gomega.ContainSubstring("the keyset for lookups cannot be read"))
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Pods = &v1alpha1.Pods{LogLevel: "debug"} })
	p.settle()
	p.Expect(read(p, "acme-keysets", &corev1.Secret{}).Data).To(gomega.HaveKeyWithValue("lookup.json", []byte("rubbish")))
	p.Expect(p.templates("acme")).To(gomega.HaveLen(1), "no pod is started that could not read its data")
	edit(p, "acme-keysets", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data = good })
	p.reaches("acme", "Ready=True Ready")
}

// TestRetainedDataKeepsItsKeys deletes an Instance of each kind of storage and
// has another take up what it left.
func TestRetainedDataKeepsItsKeys(t *testing.T) {
	for name, build := range map[string]func(*platform) *v1alpha1.Instance{
		"embedded": embeddedAcme,
		"external": func(p *platform) *v1alpha1.Instance {
			if p.get("acme-db", &corev1.Secret{}) {
				if err := p.Delete(p.t.Context(), read(p, "acme-db", &corev1.Secret{})); err != nil {
					p.t.Fatal(err)
				}
			}
			return p.external("acme")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlatform(t)
			p.create(build(p))
			p.reaches("acme", "Ready=True Ready")
			first, before := read(p, "acme", &v1alpha1.Instance{}), p.keys()
			deletes(p)
			p.Eventually(func() bool { return isGone(p) }).Should(gomega.BeTrue())
			for _, name := range resources.DataSecrets(first) {
				p.Expect(read(p, name, &corev1.Secret{}).Annotations).To(gomega.HaveKeyWithValue("argocd.argoproj.io/sync-options", "Prune=false,Delete=false"))
			}

			second := build(p)
			p.create(second)
			p.reaches("acme", "Stalled=True DataOfAnotherInstance")
			p.Expect(p.message("acme", "Ready")).To(gomega.ContainSubstring(fmt.Sprintf("anamnesis.dev/adopt: %s", first.UID)))
			p.editInstance("acme", func(instance *v1alpha1.Instance) {
				instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: string(first.UID)}
			})
			p.reaches("acme", "Ready=True Ready")
			if diff := cmp.Diff(before, p.keys()); diff != "" {
				t.Errorf("keys (-before +adopted):\n%s", diff)
			}
			p.Expect(read(p, "acme-keysets", &corev1.Secret{}).Labels).To(gomega.HaveKeyWithValue(v1alpha1.InstanceUIDLabel, string(second.UID)))
		})
	}
}

// keys are the contents of the Secrets of acme that hold keys for good.
func (p *platform) keys() map[string]string {
	p.t.Helper()
	all := p.secrets()
	maps.DeleteFunc(all, func(name, _ string) bool {
		return !regexp.MustCompile(`^acme-(app-|credentials|keysets|signing-keys)`).MatchString(name)
	})
	return all
}

// TestDatabaseOfUnknownKeysetsIsNotTakenUp: what is in it may be encrypted by what
// nobody brought along.
func TestDatabaseOfUnknownKeysetsIsNotTakenUp(t *testing.T) {
	p := newPlatform(t)
	instance := p.external("acme")
	instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: "6f1f7a53"}
	p.create(instance)
	p.reaches("acme", "Stalled=True KeysetsLost")
	p.Expect(p.get("acme-keysets", &corev1.Secret{})).To(gomega.BeFalse())
	p.Expect(p.get("acme", &appsv1.Deployment{})).To(gomega.BeFalse())
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Annotations = nil })
	p.reaches("acme", "Ready=True Ready")
}

// TestKeysBecomeDataWithRevision4 moves a tenant of an earlier revision.
func TestKeysBecomeDataWithRevision4(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.pinTo("acme", 3)
	p.Expect(read(p, "acme-credentials", &corev1.Secret{}).OwnerReferences).To(gomega.HaveLen(1))
	before := p.keys()

	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Rollout = nil })
	p.Eventually(func() int32 { return read(p, "acme", &v1alpha1.Instance{}).Status.Server.Revision }).Should(gomega.Equal(resources.Revision))
	p.reaches("acme", "Ready=True Ready")
	acme := read(p, "acme", &v1alpha1.Instance{})
	for _, name := range resources.DataSecrets(acme) {
		secret := read(p, name, &corev1.Secret{})
		p.Expect(secret.OwnerReferences).To(gomega.BeEmpty(), name)
		p.Expect(secret.Labels).To(gomega.HaveKeyWithValue(v1alpha1.InstanceUIDLabel, string(acme.UID)), name)
	}
	after := p.keys()
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if before[name] != after[name] {
			t.Errorf("%s changed with the revision", name)
		}
	}
}

// pinTo has an Instance be one that an earlier operator built, and stay so: its
// Deployment says of which revision it is, and moves with no wave.
func (p *platform) pinTo(name string, revision int32) {
	p.t.Helper()
	p.editInstance(name, func(instance *v1alpha1.Instance) { instance.Spec.Rollout = &v1alpha1.RolloutSpec{Pause: true} })
	p.settle()
	noted := regexp.MustCompile(`"revision":[0-9]+`)
	edit(p, name, &appsv1.Deployment{}, func(deployment *appsv1.Deployment) {
		deployment.Annotations[resources.RolloutAnnotation] = noted.ReplaceAllString(deployment.Annotations[resources.RolloutAnnotation], fmt.Sprintf(`"revision":%d`, revision))
	})
	p.Eventually(func() int32 { return read(p, name, &v1alpha1.Instance{}).Status.Server.Revision }).Should(gomega.Equal(revision))
	p.settle()
}
