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

func (p *harness) serverCredential(application string) (serverCredential serverCredential) {
	p.t.Helper()
	if err := json.Unmarshal(mustGet(p, "acme-credentials", &corev1.Secret{}).Data[application+".json"], &serverCredential); err != nil {
		p.t.Fatal(err)
	}
	return serverCredential
}

func (p *harness) publishedKey(application string) string {
	p.t.Helper()
	return string(mustGet(p, "acme-app-"+application, &corev1.Secret{}).Data["key"])
}

// requestRotation requests a rotation of acme's keys.
func requestRotation(what string) func(*harness) {
	return updateAcme(func(instance *v1alpha1.Instance) {
		metav1.SetMetaDataAnnotation(&instance.ObjectMeta, rotation.Annotation, what)
	})
}

// reconcileAt advances the clock to a total time since the test began and triggers a
// reconcile.
func (p *harness) reconcileAt(total time.Duration) {
	p.t.Helper()
	p.clockOffset.Store(int64(total))
	p.triggerReconcile("acme")
}

func (p *harness) isRotating() bool {
	return slices.ContainsFunc(p.conditionLines("acme"), func(condition string) bool { return strings.HasPrefix(condition, "KeysRotating=") })
}

func TestKeyRotationRejectsNoClient(t *testing.T) {
	p := newHarness(t)
	instance := p.newInstance("acme")
	instance.Spec.Applications = []v1alpha1.Application{{Name: "portal"}, {Name: "kiosk"}}
	instance.Annotations = map[string]string{rotation.Annotation: "keys:0"}
	p.mustCreate(instance)
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(p.isRotating()).To(gomega.BeFalse(), "keys that are new were asked for by then")
	first := map[string]string{"portal": p.publishedKey("portal"), "kiosk": p.publishedKey("kiosk")}

	requestRotation("keys:1")(p)
	p.waitForConditions("acme", "Ready=True Ready", "KeysRotating=True Rotating")
	p.waitUntilIdle()
	second := map[string]string{}
	for name, key := range first {
		p.Expect(p.publishedKey(name)).To(gomega.Equal(key), "not every server may know the new one")
		p.Expect(p.serverCredential(name).Key).To(gomega.Equal(key))
		p.Expect(p.serverCredential(name).Keys).To(gomega.HaveLen(1))
		second[name] = p.serverCredential(name).Keys[0]
	}
	p.Expect(second["portal"]).NotTo(gomega.Equal(second["kiosk"]))
	annotations := fmt.Sprint(mustGet(p, "acme-credentials", &corev1.Secret{}).Annotations)
	for _, key := range slices.Concat(slices.Collect(maps.Values(first)), slices.Collect(maps.Values(second))) {
		p.Expect(annotations).NotTo(gomega.ContainSubstring(key))
	}

	p.reconcileAt(3 * time.Minute)
	for name, key := range second {
		p.Eventually(func() string { return p.publishedKey(name) }).Should(gomega.Equal(key))
		p.Expect(p.serverCredential(name)).To(gomega.Equal(serverCredential{key, []string{first[name]}}))
	}
	p.Eventually(func() string { return p.conditionMessage("acme", "KeysRotating") }).Should(gomega.ContainSubstring("are valid until"))
	p.reconcileAt(24 * time.Hour)
	p.waitUntilIdle()
	p.Expect(p.serverCredential("portal").Keys).To(gomega.Equal([]string{first["portal"]}), "a day from when the new one was shown")
	p.reconcileAt(25 * time.Hour)
	p.Eventually(p.isRotating).Should(gomega.BeFalse())
	for name, key := range second {
		p.Expect(p.serverCredential(name)).To(gomega.Equal(serverCredential{Key: key}))
		p.Expect(p.publishedKey(name)).To(gomega.Equal(key))
	}
	p.reconcileAt(50 * time.Hour)
	p.waitUntilIdle()
	p.Expect(p.publishedKey("portal")).To(gomega.Equal(second["portal"]), "each value is met once")
	p.Expect(p.templateHashes("acme")).To(gomega.HaveLen(1), "keys restart nothing")
}

func TestKeysAreRevokedImmediately(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	first := p.publishedKey("default")
	requestRotation("keys:1")(p)
	p.waitForConditions("acme", "KeysRotating=True Rotating")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.KeyOverlap = &metav1.Duration{} })
	p.Eventually(func() string { return p.publishedKey("default") }).ShouldNot(gomega.Equal(first), "on the way")
	second := p.publishedKey("default")
	p.Expect(p.serverCredential("default")).To(gomega.Equal(serverCredential{Key: second}))
	requestRotation("keys:2")(p)
	p.Eventually(func() string { return p.publishedKey("default") }).ShouldNot(gomega.Equal(second), "from the start")
	p.Expect(p.serverCredential("default")).To(gomega.Equal(serverCredential{Key: p.publishedKey("default")}))
	p.Eventually(p.isRotating).Should(gomega.BeFalse())
}

// TestPublishedKeyIsRestored checks that a revoked key is replaced if the operator was
// killed before it published the new one.
func TestPublishedKeyIsRestored(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	known := p.serverCredential("default")
	mustUpdate(p, "acme-app-default", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["key"] = []byte("revoked") })
	p.Eventually(func() string { return p.publishedKey("default") }).Should(gomega.Equal(known.Key))
	p.waitUntilIdle()
	p.Expect(p.serverCredential("default")).To(gomega.Equal(known))
}

func TestSigningKeysRotateOneAtATime(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	files := func() []string {
		return slices.Sorted(maps.Keys(mustGet(p, "acme-signing-keys", &corev1.Secret{}).Data))
	}
	first := files()
	p.reconcileAt(time.Minute)
	requestRotation("signing-keys:1")(p)
	p.waitForConditions("acme", "Ready=True Ready", "KeysRotating=True Rotating")
	both := files()
	p.Expect(both).To(gomega.HaveLen(2))
	p.Expect(both[0]).To(gomega.Equal(first[0]))
	block, _ := pem.Decode(mustGet(p, "acme-signing-keys", &corev1.Secret{}).Data[both[1]])
	from, err := time.Parse(time.RFC3339, block.Headers["Signs-From"])
	p.Expect(err).NotTo(gomega.HaveOccurred())
	p.Expect(from).To(gomega.BeTemporally("~", time.Now().Add(3*time.Minute), time.Minute))
	p.reconcileAt(24 * time.Hour)
	p.waitUntilIdle()
	p.Expect(files()).To(gomega.Equal(both), "what was signed last is good still")
	p.reconcileAt(26 * time.Hour)
	p.Eventually(files).Should(gomega.Equal(both[1:]))
	p.Eventually(p.isRotating).Should(gomega.BeFalse())
	p.reconcileAt(92 * 24 * time.Hour)
	p.Eventually(files).Should(gomega.HaveLen(2), "a key that is old is replaced without being asked")
	p.Expect(p.templateHashes("acme")).To(gomega.HaveLen(1))
}

func TestKeysetRotationKeepsOldKeys(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	type keyset struct {
		PrimaryKeyID uint32 `json:"primaryKeyId"`
		Key          []struct {
			KeyID  uint32 `json:"keyId"`
			Status string `json:"status"`
		} `json:"key"`
	}
	look := func() (found [2]keyset) {
		for i, name := range []string{"encryption.json", "lookup.json"} {
			if err := json.Unmarshal(mustGet(p, "acme-keysets", &corev1.Secret{}).Data[name], &found[i]); err != nil {
				t.Fatal(err)
			}
		}
		return found
	}
	before := look()
	requestRotation("keysets:1")(p)
	p.waitForConditions("acme", "KeysRotating=True Rotating")
	added := look()
	for i, one := range added {
		p.Expect(one.Key).To(gomega.HaveLen(2))
		p.Expect(one.PrimaryKeyID).To(gomega.Equal(before[i].PrimaryKeyID), "not every server may know the new one")
	}
	p.reconcileAt(3 * time.Minute)
	p.Eventually(p.isRotating).Should(gomega.BeFalse())
	for i, one := range look() {
		p.Expect(one.PrimaryKeyID).To(gomega.Equal(added[i].Key[1].KeyID))
		p.Expect(one.Key[0].KeyID).To(gomega.Equal(before[i].PrimaryKeyID), "data depends on it")
		p.Expect(one.Key[0].Status).To(gomega.Equal("ENABLED"))
	}
	p.waitUntilIdle()
	counted := len(p.writes.all())
	p.reconcileAt(time.Hour)
	p.waitUntilIdle()
	p.Expect(p.writes.all()[counted:]).To(gomega.BeEmpty(), "keysets are not rewritten")
}

func TestUnknownRotationTargetIsReported(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	requestRotation("key:1,signing-keys:1")(p)
	p.waitForConditions("acme", "Ready=True Ready", "KeysRotating=True UnknownRotation")
	p.Eventually(func() string { return p.conditionMessage("acme", "KeysRotating") }).Should(gomega.And(
		gomega.ContainSubstring(`unknown rotation "key:1"`),
		gomega.ContainSubstring("use one of ca, keys, keysets, signing-keys"),
		gomega.ContainSubstring("signing-keys: ")), "what is known turns all the same")
	requestRotation("")(p)
	p.reconcileAt(26 * time.Hour)
	p.Eventually(p.isRotating).Should(gomega.BeFalse())
}
