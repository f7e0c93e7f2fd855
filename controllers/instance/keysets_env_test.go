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

// These tests check that keysets are never lost, because encrypted data is unreadable
// without them.

func TestLostKeysetsAreNotRegenerated(t *testing.T) {
	for name, lose := range map[string]func(*harness){
		"and nothing else":       func(*harness) {},
		"with the status":        func(h *harness) { h.clearStatus("acme") },
		"with status and server": deleteDeploymentAndStatus,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.mustCreate(h.newInstance("acme"))
			h.waitForConditions("acme", "Ready=True Ready")
			h.waitUntilIdle()
			h.stop()
			if err := h.Delete(t.Context(), mustGet(h, "acme-keysets", &corev1.Secret{})); err != nil {
				t.Fatal(err)
			}
			lose(h)
			h.startOperator(serverImage)
			h.waitForConditions("acme", "Stalled=True KeysetsLost", "Ready=False KeysetsLost")
			h.triggerReconcile("acme")
			h.waitUntilIdle()
			h.Expect(h.get("acme-keysets", &corev1.Secret{})).To(gomega.BeFalse())
			h.Expect(h.conditionMessage("acme", "Stalled")).To(gomega.ContainSubstring("from a backup"))
		})
	}
}

// deleteDeploymentAndStatus removes every trace of the keysets except the volume.
func deleteDeploymentAndStatus(h *harness) {
	if err := h.Delete(h.t.Context(), mustGet(h, "acme", &appsv1.Deployment{})); err != nil {
		h.t.Fatal(err)
	}
	h.Eventually(func() bool { return h.get("acme", &appsv1.Deployment{}) }).Should(gomega.BeFalse())
	h.clearStatus("acme")
}

func TestUnreadableKeysetsAreKept(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	valid := mustGet(h, "acme-keysets", &corev1.Secret{}).Data
	mustUpdate(h, "acme-keysets", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["lookup.json"] = []byte("rubbish") })
	h.waitForConditions("acme", "Stalled=True KeysetsInvalid", "Available=True Serving")
	h.Expect(h.conditionMessage("acme", "Stalled")).To(gomega.ContainSubstring("lookup keyset: not a Tink keyset"))
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Pods = &v1alpha1.Pods{LogLevel: "debug"} })
	h.waitUntilIdle()
	h.Expect(mustGet(h, "acme-keysets", &corev1.Secret{}).Data).To(gomega.HaveKeyWithValue("lookup.json", []byte("rubbish")))
	h.Expect(h.templateHashes("acme")).To(gomega.HaveLen(1), "no pod must start with unreadable keysets")
	mustUpdate(h, "acme-keysets", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data = valid })
	h.waitForConditions("acme", "Ready=True Ready")
}

// TestRetainedDataKeepsItsKeys deletes an Instance of each kind of storage and lets
// another Instance adopt the retained data.
func TestRetainedDataKeepsItsKeys(t *testing.T) {
	for name, build := range map[string]func(*harness) *v1alpha1.Instance{
		"embedded": embeddedAcme,
		"external": func(h *harness) *v1alpha1.Instance {
			if h.get("acme-db", &corev1.Secret{}) {
				if err := h.Delete(h.t.Context(), mustGet(h, "acme-db", &corev1.Secret{})); err != nil {
					h.t.Fatal(err)
				}
			}
			return h.newExternalInstance("acme")
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.mustCreate(build(h))
			h.waitForConditions("acme", "Ready=True Ready")
			first, before := mustGet(h, "acme", &v1alpha1.Instance{}), h.keySecretContents()
			deleteAcme(h)
			h.Eventually(func() bool { return isDeleted(h) }).Should(gomega.BeTrue())
			for _, name := range resources.RetainedSecretNames(first) {
				h.Expect(mustGet(h, name, &corev1.Secret{}).Annotations).To(gomega.HaveKeyWithValue("argocd.argoproj.io/sync-options", "Prune=false,Delete=false"))
			}

			second := build(h)
			h.mustCreate(second)
			h.waitForConditions("acme", "Stalled=True DataNotOwned")
			h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring(fmt.Sprintf("anamnesis.dev/adopt: %s", first.UID)))
			h.updateInstance("acme", func(instance *v1alpha1.Instance) {
				instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: string(first.UID)}
			})
			h.waitForConditions("acme", "Ready=True Ready")
			if diff := cmp.Diff(before, h.keySecretContents()); diff != "" {
				t.Errorf("keys (-before +adopted):\n%s", diff)
			}
			h.Expect(mustGet(h, "acme-keysets", &corev1.Secret{}).Labels).To(gomega.HaveKeyWithValue(v1alpha1.InstanceUIDLabel, string(second.UID)))
		})
	}
}

// keySecretContents returns the contents of acme's Secrets that hold permanent keys.
func (h *harness) keySecretContents() map[string]string {
	h.t.Helper()
	all := h.secretContents()
	maps.DeleteFunc(all, func(name, _ string) bool {
		return !regexp.MustCompile(`^acme-(app-|credentials|keysets|signing-keys)`).MatchString(name)
	})
	return all
}

// TestDatabaseWithoutKeysetsIsNotAdopted checks that a database is not adopted without
// keysets, because it may be encrypted with keysets that are missing.
func TestDatabaseWithoutKeysetsIsNotAdopted(t *testing.T) {
	h := newHarness(t)
	instance := h.newExternalInstance("acme")
	instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: "6f1f7a53"}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Stalled=True KeysetsLost")
	h.Expect(h.get("acme-keysets", &corev1.Secret{})).To(gomega.BeFalse())
	h.Expect(h.get("acme", &appsv1.Deployment{})).To(gomega.BeFalse())
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Annotations = nil })
	h.waitForConditions("acme", "Ready=True Ready")
}
