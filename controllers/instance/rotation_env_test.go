// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
)

// A serverCredential is the credential file of an application on the server.
type serverCredential struct {
	Key  string   `json:"key"`
	Keys []string `json:"keys"`
}

func (h *harness) serverCredential(application string) (credential serverCredential) {
	h.t.Helper()
	if err := json.Unmarshal(mustGet(h, "acme-credentials", &corev1.Secret{}).Data[application+".json"], &credential); err != nil {
		h.t.Fatal(err)
	}
	return credential
}

func (h *harness) publishedKey(application string) string {
	h.t.Helper()
	return string(mustGet(h, "acme-app-"+application, &corev1.Secret{}).Data["key"])
}

// requestRotation requests a rotation of acme's keys.
func requestRotation(value string) func(*harness) {
	return updateAcme(func(instance *v1alpha1.Instance) {
		metav1.SetMetaDataAnnotation(&instance.ObjectMeta, rotation.Annotation, value)
	})
}

// reconcileAt sets the clock offset and triggers a reconcile.
func (h *harness) reconcileAt(total time.Duration) {
	h.t.Helper()
	h.clockOffset.Store(int64(total))
	h.triggerReconcile("acme")
}

func (h *harness) isRotating() bool {
	return slices.ContainsFunc(h.conditionLines("acme"), func(condition string) bool { return strings.HasPrefix(condition, "KeysRotating=") })
}

func TestKeyRotationRejectsNoClient(t *testing.T) {
	h := newHarness(t)
	instance := h.newInstance("acme")
	instance.Spec.Applications = []v1alpha1.Application{{Name: "portal"}, {Name: "kiosk"}}
	instance.Annotations = map[string]string{rotation.Annotation: "keys:0"}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(h.isRotating()).To(gomega.BeFalse(), "a request on a new Instance must not rotate new keys")
	first := map[string]string{"portal": h.publishedKey("portal"), "kiosk": h.publishedKey("kiosk")}

	requestRotation("keys:1")(h)
	h.waitForConditions("acme", "Ready=True Ready", "KeysRotating=True Rotating")
	h.waitUntilIdle()
	second := map[string]string{}
	for name, key := range first {
		h.Expect(h.publishedKey(name)).To(gomega.Equal(key), "the new key must not be used before every server has it")
		h.Expect(h.serverCredential(name).Key).To(gomega.Equal(key))
		h.Expect(h.serverCredential(name).Keys).To(gomega.HaveLen(1))
		second[name] = h.serverCredential(name).Keys[0]
	}
	h.Expect(second["portal"]).NotTo(gomega.Equal(second["kiosk"]))
	annotations := fmt.Sprint(mustGet(h, "acme-credentials", &corev1.Secret{}).Annotations)
	for _, key := range slices.Concat(slices.Collect(maps.Values(first)), slices.Collect(maps.Values(second))) {
		h.Expect(annotations).NotTo(gomega.ContainSubstring(key))
	}

	h.reconcileAt(3 * time.Minute)
	for name, key := range second {
		h.Eventually(func() string { return h.publishedKey(name) }).Should(gomega.Equal(key))
		h.Expect(h.serverCredential(name)).To(gomega.Equal(serverCredential{key, []string{first[name]}}))
	}
	h.Eventually(func() string { return h.conditionMessage("acme", "KeysRotating") }).Should(gomega.ContainSubstring("are valid until"))
	h.reconcileAt(24 * time.Hour)
	h.waitUntilIdle()
	h.Expect(h.serverCredential("portal").Keys).To(gomega.Equal([]string{first["portal"]}), "the previous key must stay valid for a day after the new key is published")
	h.reconcileAt(25 * time.Hour)
	h.Eventually(h.isRotating).Should(gomega.BeFalse())
	for name, key := range second {
		h.Expect(h.serverCredential(name)).To(gomega.Equal(serverCredential{Key: key}))
		h.Expect(h.publishedKey(name)).To(gomega.Equal(key))
	}
	h.reconcileAt(50 * time.Hour)
	h.waitUntilIdle()
	h.Expect(h.publishedKey("portal")).To(gomega.Equal(second["portal"]), "each value must trigger only one rotation")
	h.Expect(h.templateHashes("acme")).To(gomega.HaveLen(1), "a key rotation must not restart pods")
}

func TestKeysAreRevokedImmediately(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	first := h.publishedKey("default")
	requestRotation("keys:1")(h)
	h.waitForConditions("acme", "KeysRotating=True Rotating")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.KeyOverlap = &metav1.Duration{} })
	h.Eventually(func() string { return h.publishedKey("default") }).ShouldNot(gomega.Equal(first), "during a rotation")
	second := h.publishedKey("default")
	h.Expect(h.serverCredential("default")).To(gomega.Equal(serverCredential{Key: second}))
	requestRotation("keys:2")(h)
	h.Eventually(func() string { return h.publishedKey("default") }).ShouldNot(gomega.Equal(second), "without an overlap")
	h.Expect(h.serverCredential("default")).To(gomega.Equal(serverCredential{Key: h.publishedKey("default")}))
	h.Eventually(h.isRotating).Should(gomega.BeFalse())
}

// TestPublishedKeyIsRestored checks that a revoked key is replaced if the operator was
// killed before it published the new one.
func TestPublishedKeyIsRestored(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	known := h.serverCredential("default")
	mustUpdate(h, "acme-app-default", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["key"] = []byte("revoked") })
	h.Eventually(func() string { return h.publishedKey("default") }).Should(gomega.Equal(known.Key))
	h.waitUntilIdle()
	h.Expect(h.serverCredential("default")).To(gomega.Equal(known))
}

func TestSigningKeysRotateOneAtATime(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	files := func() []string {
		return slices.Sorted(maps.Keys(mustGet(h, "acme-signing-keys", &corev1.Secret{}).Data))
	}
	first := files()
	h.reconcileAt(time.Minute)
	requestRotation("signing-keys:1")(h)
	h.waitForConditions("acme", "Ready=True Ready", "KeysRotating=True Rotating")
	rotated := files()
	h.Expect(rotated).To(gomega.HaveLen(2))
	h.Expect(rotated[0]).To(gomega.Equal(first[0]))
	block, _ := pem.Decode(mustGet(h, "acme-signing-keys", &corev1.Secret{}).Data[rotated[1]])
	from, err := time.Parse(time.RFC3339, block.Headers["Signs-From"])
	h.Expect(err).NotTo(gomega.HaveOccurred())
	h.Expect(from).To(gomega.BeTemporally("~", time.Now().Add(3*time.Minute), time.Minute))
	h.reconcileAt(24 * time.Hour)
	h.waitUntilIdle()
	h.Expect(files()).To(gomega.Equal(rotated), "the last signed tokens must stay valid")
	h.reconcileAt(26 * time.Hour)
	h.Eventually(files).Should(gomega.Equal(rotated[1:]))
	h.Eventually(h.isRotating).Should(gomega.BeFalse())
	h.reconcileAt(92 * 24 * time.Hour)
	h.Eventually(files).Should(gomega.HaveLen(2), "an old key must be rotated automatically")
	h.Expect(h.templateHashes("acme")).To(gomega.HaveLen(1))
}

func TestKeysetRotationKeepsOldKeys(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	type keyset struct {
		PrimaryKeyID uint32 `json:"primaryKeyId"`
		Key          []struct {
			KeyID  uint32 `json:"keyId"`
			Status string `json:"status"`
		} `json:"key"`
	}
	keysets := func() (found [2]keyset) {
		for i, name := range []string{"encryption.json", "lookup.json"} {
			if err := json.Unmarshal(mustGet(h, "acme-keysets", &corev1.Secret{}).Data[name], &found[i]); err != nil {
				t.Fatal(err)
			}
		}
		return found
	}
	before := keysets()
	requestRotation("keysets:1")(h)
	h.waitForConditions("acme", "KeysRotating=True Rotating")
	added := keysets()
	for i, keyset := range added {
		h.Expect(keyset.Key).To(gomega.HaveLen(2))
		h.Expect(keyset.PrimaryKeyID).To(gomega.Equal(before[i].PrimaryKeyID), "the new key must not be used before every server has it")
	}
	h.reconcileAt(3 * time.Minute)
	h.Eventually(h.isRotating).Should(gomega.BeFalse())
	for i, keyset := range keysets() {
		h.Expect(keyset.PrimaryKeyID).To(gomega.Equal(added[i].Key[1].KeyID))
		h.Expect(keyset.Key[0].KeyID).To(gomega.Equal(before[i].PrimaryKeyID), "the old key must stay in the keyset")
		h.Expect(keyset.Key[0].Status).To(gomega.Equal("ENABLED"))
	}
	h.waitUntilIdle()
	writesBefore := len(h.writes.all())
	h.reconcileAt(time.Hour)
	h.waitUntilIdle()
	h.Expect(h.writes.all()[writesBefore:]).To(gomega.BeEmpty(), "completed keysets must not be written again")
}

func TestUnknownRotationTargetIsReported(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	requestRotation("key:1,signing-keys:1")(h)
	h.waitForConditions("acme", "Ready=True Ready", "KeysRotating=True UnknownRotation")
	h.Eventually(func() string { return h.conditionMessage("acme", "KeysRotating") }).Should(gomega.And(
		gomega.ContainSubstring(`invalid rotation "key:1"`),
		gomega.ContainSubstring("expected one of ca, keys, keysets, signing-keys"),
		gomega.ContainSubstring("signing-keys: ")), "a valid target must be rotated despite an invalid entry")
	requestRotation("")(h)
	h.reconcileAt(26 * time.Hour)
	h.Eventually(h.isRotating).Should(gomega.BeFalse())
}
