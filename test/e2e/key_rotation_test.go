// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// rotationTimeout is the timeout for a key rotation: all replicas load the new keys, the
// old key expires, and all replicas drop it.
const rotationTimeout = 8 * time.Minute

// TestKeyRotationUnderLoad rotates application keys, signing keys, and the keysets that
// encrypt personal data, all at once and on two replicas. Programs that reread their
// Secret see no rejected request on any replica. Existing tokens and users remain valid.
// The old application key is rejected in the end.
func TestKeyRotationUnderLoad(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "turn")
	spec := externalSpec(t, namespace)
	spec.KeyOverlap = &metav1.Duration{Duration: time.Minute}
	n := createReadyInstance(t, namespace, "wheel", spec)
	NewWithT(t).Eventually(n.podNames, defaultTimeout, "500ms").Should(HaveLen(2))
	pods := podRestarts([]tenant{n})
	n.newAPIClient("h2").mustCreateUser(t)

	address := n.relay()
	caller := n.newCaller(address)
	oldKey := n.secret("wheel-app-default", "key")
	oldToken, err := caller.token(t.Context(), oldKey)
	if err != nil {
		t.Fatal(err)
	}
	oldSeal := n.encryptionKeyID()
	load := startLoad(t, n, func(*testing.T, apiClient) func(context.Context) error { return n.credentialLoad(caller) })
	n.requestRotation("keys:1,signing-keys:1,keysets:1")

	eventually := func(what string, met func() error) {
		t.Helper()
		NewWithT(t).Eventually(met, rotationTimeout, "1s").Should(Succeed(), what)
	}
	eventually("another key is shown", func() error {
		if n.secret("wheel-app-default", "key") == oldKey {
			return errors.New("application key has not changed")
		}
		return nil
	})
	newKey := n.secret("wheel-app-default", "key")
	eventually("people are sealed by another key", func() error {
		if n.encryptionKeyID() == oldSeal {
			return errors.New("personal data is still encrypted with the first key")
		}
		return nil
	})
	eventually("tokens are signed by another key", func() error {
		token, err := caller.token(t.Context(), newKey)
		if err == nil && tokenHeader(token) == tokenHeader(oldToken) {
			err = errors.New("tokens are still signed with the first key")
		}
		return err
	})
	refused := 0
	NewWithT(t).Eventually(func() int {
		if _, err := caller.token(t.Context(), oldKey); err == nil {
			refused = 0
		} else {
			refused++
		}
		return refused
	}, rotationTimeout, retryInterval).Should(Equal(6), "the key from before is refused, whichever replica is asked")
	load.stop(t)
	if keys, err := caller.countSigningKeys(t.Context()); err != nil || keys != 2 {
		t.Errorf("got %d signing keys, error %v, want the previous key too", keys, err)
	}
	for range rejectionSamples {
		if err := caller.findUser(t.Context(), oldToken); err != nil {
			t.Errorf("calling with a previous token: %v", err)
		}
	}
	NewWithT(t).Expect(podRestarts([]tenant{n})).To(Equal(pods), "keys restart nothing")
}

// retryInterval keeps the number of rejected requests below ten per minute. Above that
// limit, the server throttles all requests from the address.
const retryInterval = 7 * time.Second

// rejectionSamples is the number of requests, each on a new connection, that reach both
// of two replicas with a probability of 99.9 %.
const rejectionSamples = 11

// tokenHeader returns the decoded header of a token, which contains the ID of the
// signing key.
func tokenHeader(token string) string {
	first, _, _ := strings.Cut(token, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		return fmt.Sprintf("no token: %v", err)
	}
	return string(decoded)
}

// encryptionKeyID returns the ID of the key that encrypts personal data.
func (tn tenant) encryptionKeyID() uint32 {
	tn.t.Helper()
	var keyset struct {
		PrimaryKeyID uint32 `json:"primaryKeyId"`
	}
	if err := json.Unmarshal([]byte(tn.secret(tn.key.Name+"-keysets", "encryption.json")), &keyset); err != nil || keyset.PrimaryKeyID == 0 {
		tn.t.Fatalf("keyset of %s has no primary key: %v", tn.key, err)
	}
	return keyset.PrimaryKeyID
}

// requestRotation requests a key rotation through the rotate annotation.
func (tn tenant) requestRotation(what string) {
	tn.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"anamnesis.dev/rotate":%q}}}`, what)
	instance := &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: tn.key.Namespace, Name: tn.key.Name}}
	if err := kubeClient.Patch(tn.t.Context(), instance, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		tn.t.Fatal(err)
	}
}

// credentialLoad behaves like a tenant's program: it rereads its Secret every ten
// seconds, requests a token, and looks up a user. The lookup may reach a different
// replica than the one that issued the token.
func (tn tenant) credentialLoad(caller caller) func(context.Context) error {
	var application corev1.Secret
	var read time.Time
	return func(ctx context.Context) error {
		time.Sleep(300 * time.Millisecond)
		if time.Since(read) > 10*time.Second {
			if err := kubeClient.Get(ctx, client.ObjectKey{Namespace: tn.key.Namespace, Name: tn.key.Name + "-app-default"}, &application); err != nil {
				return err
			}
			read = time.Now()
		}
		token, err := caller.token(ctx, string(application.Data["key"]))
		if err != nil {
			return err
		}
		return caller.findUser(ctx, token)
	}
}
