// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"maps"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// Encrypted data is unreadable without the server's keysets.

func TestLostKeysetsAreNotRegenerated(t *testing.T) {
	for name, forget := range map[string]func(*harness){
		"and nothing else":       func(*harness) {},
		"with the status":        func(p *harness) { p.clearStatus("acme") },
		"with status and server": deleteDeploymentAndStatus,
	} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t)
			p.mustCreate(p.newInstance("acme"))
			p.waitForConditions("acme", "Ready=True Ready")
			p.waitUntilIdle()
			p.stop()
			if err := p.Delete(t.Context(), mustGet(p, "acme-keysets", &corev1.Secret{})); err != nil {
				t.Fatal(err)
			}
			forget(p)
			p.startOperator(serverImage)
			p.waitForConditions("acme", "Stalled=True KeysetsLost", "Ready=False KeysetsLost")
			p.triggerReconcile("acme")
			p.waitUntilIdle()
			p.Expect(p.get("acme-keysets", &corev1.Secret{})).To(gomega.BeFalse())
			p.Expect(p.conditionMessage("acme", "Stalled")).To(gomega.ContainSubstring("from a backup"))
		})
	}
}

// deleteDeploymentAndStatus removes every trace of the keysets except the volume.
func deleteDeploymentAndStatus(p *harness) {
	if err := p.Delete(p.t.Context(), mustGet(p, "acme", &appsv1.Deployment{})); err != nil {
		p.t.Fatal(err)
	}
	p.Eventually(func() bool { return p.get("acme", &appsv1.Deployment{}) }).Should(gomega.BeFalse())
	p.clearStatus("acme")
}

func TestUnreadableKeysetsAreKept(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	good := mustGet(p, "acme-keysets", &corev1.Secret{}).Data
	mustUpdate(p, "acme-keysets", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["lookup.json"] = []byte("rubbish") })
	p.waitForConditions("acme", "Stalled=True KeysetsInvalid", "Available=True Serving")
	p.Expect(p.conditionMessage("acme", "Stalled")).To(gomega.ContainSubstring("lookup keyset: not a Tink keyset"))
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Pods = &v1alpha1.Pods{LogLevel: "debug"} })
	p.waitUntilIdle()
	p.Expect(mustGet(p, "acme-keysets", &corev1.Secret{}).Data).To(gomega.HaveKeyWithValue("lookup.json", []byte("rubbish")))
	p.Expect(p.templateHashes("acme")).To(gomega.HaveLen(1), "no pod is started that could not read its data")
	mustUpdate(p, "acme-keysets", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data = good })
	p.waitForConditions("acme", "Ready=True Ready")
}

// TestRetainedDataKeepsItsKeys deletes an Instance of each kind of storage and lets
// another Instance adopt the retained data.
func TestRetainedDataKeepsItsKeys(t *testing.T) {
	for name, build := range map[string]func(*harness) *v1alpha1.Instance{
		"embedded": embeddedAcme,
		"external": func(p *harness) *v1alpha1.Instance {
			if p.get("acme-db", &corev1.Secret{}) {
				if err := p.Delete(p.t.Context(), mustGet(p, "acme-db", &corev1.Secret{})); err != nil {
					p.t.Fatal(err)
				}
			}
			return p.newExternalInstance("acme")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t)
			p.mustCreate(build(p))
			p.waitForConditions("acme", "Ready=True Ready")
			first, before := mustGet(p, "acme", &v1alpha1.Instance{}), p.keySecretContents()
			deleteAcme(p)
			p.Eventually(func() bool { return isDeleted(p) }).Should(gomega.BeTrue())
			for _, name := range resources.RetainedSecretNames(first) {
				p.Expect(mustGet(p, name, &corev1.Secret{}).Annotations).To(gomega.HaveKeyWithValue("argocd.argoproj.io/sync-options", "Prune=false,Delete=false"))
			}

			second := build(p)
			p.mustCreate(second)
			p.waitForConditions("acme", "Stalled=True DataNotOwned")
			p.Expect(p.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring(fmt.Sprintf("anamnesis.dev/adopt: %s", first.UID)))
			p.updateInstance("acme", func(instance *v1alpha1.Instance) {
				instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: string(first.UID)}
			})
			p.waitForConditions("acme", "Ready=True Ready")
			if diff := cmp.Diff(before, p.keySecretContents()); diff != "" {
				t.Errorf("keys (-before +adopted):\n%s", diff)
			}
			p.Expect(mustGet(p, "acme-keysets", &corev1.Secret{}).Labels).To(gomega.HaveKeyWithValue(v1alpha1.InstanceUIDLabel, string(second.UID)))
		})
	}
}

// keySecretContents returns the contents of acme's Secrets that hold permanent keys.
func (p *harness) keySecretContents() map[string]string {
	p.t.Helper()
	all := p.secretContents()
	maps.DeleteFunc(all, func(name, _ string) bool {
		return !regexp.MustCompile(`^acme-(app-|credentials|keysets|signing-keys)`).MatchString(name)
	})
	return all
}

// TestDatabaseWithoutKeysetsIsNotAdopted checks that a database is not adopted without
// keysets, because it may be encrypted with keysets that are missing.
func TestDatabaseWithoutKeysetsIsNotAdopted(t *testing.T) {
	p := newHarness(t)
	instance := p.newExternalInstance("acme")
	instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: "6f1f7a53"}
	p.mustCreate(instance)
	p.waitForConditions("acme", "Stalled=True KeysetsLost")
	p.Expect(p.get("acme-keysets", &corev1.Secret{})).To(gomega.BeFalse())
	p.Expect(p.get("acme", &appsv1.Deployment{})).To(gomega.BeFalse())
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Annotations = nil })
	p.waitForConditions("acme", "Ready=True Ready")
}
