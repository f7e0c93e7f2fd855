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

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
)

// A knownKey is what the server is told of an application.
type knownKey struct {
	Key  string   `json:"key"`
	Keys []string `json:"keys"`
}

func (p *platform) known(application string) (known knownKey) {
	p.t.Helper()
	if err := json.Unmarshal(read(p, "acme-credentials", &corev1.Secret{}).Data[application+".json"], &known); err != nil {
		p.t.Fatal(err)
	}
	return known
}

func (p *platform) shown(application string) string {
	p.t.Helper()
	return string(read(p, "acme-app-"+application, &corev1.Secret{}).Data["key"])
}

// ask asks for keys of acme to be turned.
func ask(what string) func(*platform) {
	return edits(func(instance *v1alpha1.Instance) {
		metav1.SetMetaDataAnnotation(&instance.ObjectMeta, rotation.Annotation, what)
	})
}

// pass lets time pass, in all, since the test began, and has the operator look.
func (p *platform) pass(total time.Duration) {
	p.t.Helper()
	p.ahead.Store(int64(total))
	p.visitAgain("acme")
}

func (p *platform) turns() bool {
	return slices.ContainsFunc(p.state("acme"), func(condition string) bool { return strings.HasPrefix(condition, "KeysTurning=") })
}

func TestKeysTurnAndRefuseNoClient(t *testing.T) {
	p := newPlatform(t)
	instance := p.instance("acme")
	instance.Spec.Applications = []v1alpha1.Application{{Name: "portal"}, {Name: "kiosk"}}
	instance.Annotations = map[string]string{rotation.Annotation: "keys:0"}
	p.create(instance)
	p.reaches("acme", "Ready=True Ready")
	p.Expect(p.turns()).To(gomega.BeFalse(), "keys that are new were asked for by then")
	first := map[string]string{"portal": p.shown("portal"), "kiosk": p.shown("kiosk")}

	ask("keys:1")(p)
	p.reaches("acme", "Ready=True Ready", "KeysTurning=True Turning")
	p.settle()
	second := map[string]string{}
	for name, key := range first {
		p.Expect(p.shown(name)).To(gomega.Equal(key), "not every server may know the new one")
		p.Expect(p.known(name).Key).To(gomega.Equal(key))
		p.Expect(p.known(name).Keys).To(gomega.HaveLen(1))
		second[name] = p.known(name).Keys[0]
	}
	p.Expect(second["portal"]).NotTo(gomega.Equal(second["kiosk"]))
	annotations := fmt.Sprint(read(p, "acme-credentials", &corev1.Secret{}).Annotations)
	for _, key := range slices.Concat(slices.Collect(maps.Values(first)), slices.Collect(maps.Values(second))) {
		p.Expect(annotations).NotTo(gomega.ContainSubstring(key))
	}

	p.pass(3 * time.Minute)
	for name, key := range second {
		p.Eventually(func() string { return p.shown(name) }).Should(gomega.Equal(key))
		p.Expect(p.known(name)).To(gomega.Equal(knownKey{key, []string{first[name]}}))
	}
	p.Eventually(func() string { return p.message("acme", "KeysTurning") }).Should(gomega.ContainSubstring("are good until"))
	p.pass(24 * time.Hour)
	p.settle()
	p.Expect(p.known("portal").Keys).To(gomega.Equal([]string{first["portal"]}), "a day from when the new one was shown")
	p.pass(25 * time.Hour)
	p.Eventually(p.turns).Should(gomega.BeFalse())
	for name, key := range second {
		p.Expect(p.known(name)).To(gomega.Equal(knownKey{Key: key}))
		p.Expect(p.shown(name)).To(gomega.Equal(key))
	}
	p.pass(50 * time.Hour)
	p.settle()
	p.Expect(p.shown("portal")).To(gomega.Equal(second["portal"]), "each value is met once")
	p.Expect(p.templates("acme")).To(gomega.HaveLen(1), "keys restart nothing")
}

func TestKeysAreRevokedAtOnce(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	first := p.shown("default")
	ask("keys:1")(p)
	p.reaches("acme", "KeysTurning=True Turning")
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.KeyOverlap = &metav1.Duration{} })
	p.Eventually(func() string { return p.shown("default") }).ShouldNot(gomega.Equal(first), "on the way")
	second := p.shown("default")
	p.Expect(p.known("default")).To(gomega.Equal(knownKey{Key: second}))
	ask("keys:2")(p)
	p.Eventually(func() string { return p.shown("default") }).ShouldNot(gomega.Equal(second), "from the start")
	p.Expect(p.known("default")).To(gomega.Equal(knownKey{Key: p.shown("default")}))
	p.Eventually(p.turns).Should(gomega.BeFalse())
}

// TestKeyThatIsNotTheServersIsPutBack: an operator that was killed before it showed
// another key left the one that was revoked.
func TestKeyThatIsNotTheServersIsPutBack(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	known := p.known("default")
	edit(p, "acme-app-default", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["key"] = []byte("revoked") })
	p.Eventually(func() string { return p.shown("default") }).Should(gomega.Equal(known.Key))
	p.settle()
	p.Expect(p.known("default")).To(gomega.Equal(known))
}

func TestSigningKeysTurnOneAfterTheOther(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	files := func() []string {
		return slices.Sorted(maps.Keys(read(p, "acme-signing-keys", &corev1.Secret{}).Data))
	}
	first := files()
	p.pass(time.Minute)
	ask("signing-keys:1")(p)
	p.reaches("acme", "Ready=True Ready", "KeysTurning=True Turning")
	both := files()
	p.Expect(both).To(gomega.HaveLen(2))
	p.Expect(both[0]).To(gomega.Equal(first[0]))
	block, _ := pem.Decode(read(p, "acme-signing-keys", &corev1.Secret{}).Data[both[1]])
	from, err := time.Parse(time.RFC3339, block.Headers["Signs-From"])
	p.Expect(err).NotTo(gomega.HaveOccurred())
	p.Expect(from).To(gomega.BeTemporally("~", time.Now().Add(3*time.Minute), time.Minute))
	p.pass(24 * time.Hour)
	p.settle()
	p.Expect(files()).To(gomega.Equal(both), "what was signed last is good still")
	p.pass(26 * time.Hour)
	p.Eventually(files).Should(gomega.Equal(both[1:]))
	p.Eventually(p.turns).Should(gomega.BeFalse())
	p.pass(92 * 24 * time.Hour)
	p.Eventually(files).Should(gomega.HaveLen(2), "a key that is old is replaced without being asked")
	p.Expect(p.templates("acme")).To(gomega.HaveLen(1))
}

func TestKeysetsTurnWithAllTheirKeys(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	type keyset struct {
		PrimaryKeyID uint32 `json:"primaryKeyId"`
		Key          []struct {
			KeyID  uint32 `json:"keyId"`
			Status string `json:"status"`
		} `json:"key"`
	}
	look := func() (found [2]keyset) {
		for i, name := range []string{"encryption.json", "lookup.json"} {
			if err := json.Unmarshal(read(p, "acme-keysets", &corev1.Secret{}).Data[name], &found[i]); err != nil {
				t.Fatal(err)
			}
		}
		return found
	}
	before := look()
	ask("keysets:1")(p)
	p.reaches("acme", "KeysTurning=True Turning")
	added := look()
	for i, one := range added {
		p.Expect(one.Key).To(gomega.HaveLen(2))
		p.Expect(one.PrimaryKeyID).To(gomega.Equal(before[i].PrimaryKeyID), "not every server may know the new one")
	}
	p.pass(3 * time.Minute)
	p.Eventually(p.turns).Should(gomega.BeFalse())
	for i, one := range look() {
		p.Expect(one.PrimaryKeyID).To(gomega.Equal(added[i].Key[1].KeyID))
		p.Expect(one.Key[0].KeyID).To(gomega.Equal(before[i].PrimaryKeyID), "data depends on it")
		p.Expect(one.Key[0].Status).To(gomega.Equal("ENABLED"))
	}
	p.settle()
	counted := len(p.writes.all())
	p.pass(time.Hour)
	p.settle()
	p.Expect(p.writes.all()[counted:]).To(gomega.BeEmpty(), "keysets are not written anew")
}

func TestKeysOfEarlierServersWait(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.pinTo("acme", 3)
	before := p.keys()
	ask("keys:1,signing-keys:1,keysets:1")(p)
	p.reaches("acme", "Ready=True Ready", "KeysTurning=True AwaitsServer")
	p.settle()
	if diff := cmp.Diff(before, p.keys()); diff != "" {
		t.Errorf("what the server would not understand was written (-before +after):\n%s", diff)
	}
	for _, word := range []string{"keys turn when", "signing-keys turn when", "keysets turn when"} {
		p.Expect(p.message("acme", "KeysTurning")).To(gomega.ContainSubstring(word))
	}
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Rollout = nil })
	p.Eventually(func() int32 { return read(p, "acme", &v1alpha1.Instance{}).Status.Server.Revision }).Should(gomega.Equal(resources.Revision))
	p.reaches("acme", "Ready=True Ready", "KeysTurning=True Turning")
	p.Expect(p.known("default").Keys).To(gomega.HaveLen(1))
}

func TestWhatDoesNotTurnIsTold(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	ask("key:1,signing-keys:1")(p)
	p.reaches("acme", "Ready=True Ready", "KeysTurning=True RotateUnknown")
	p.Eventually(func() string { return p.message("acme", "KeysTurning") }).Should(gomega.And(
		gomega.ContainSubstring(`asks for "key:1"`),
		gomega.ContainSubstring("name one of authority, keys, keysets, signing-keys"),
		gomega.ContainSubstring("signing-keys: ")), "what is known turns all the same")
	ask("")(p)
	p.pass(26 * time.Hour)
	p.Eventually(p.turns).Should(gomega.BeFalse())
}
