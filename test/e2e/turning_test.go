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

// turnPatience is how long keys may take to turn: until every replica knows the
// next ones, until the old one is good no more, and until every replica knows that.
const turnPatience = 8 * time.Minute

// TestKeysTurnUnderLoad turns all that turns at once, on two replicas: the keys of
// applications, of tokens, and what personal data are sealed by. Programs that read
// their Secret anew go on without a refused call, whichever replica answers; tokens
// and people from before stay good; the key from before is refused in the end.
func TestKeysTurnUnderLoad(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, "turn")
	spec := external(t, namespace)
	spec.KeyOverlap = &metav1.Duration{Duration: time.Minute}
	n := apply(t, namespace, "wheel", spec)
	NewWithT(t).Eventually(n.podNames, patience, "500ms").Should(HaveLen(2))
	pods := podsOf([]tenant{n})
	n.dial("h2").mustCreateUser(t)

	address := n.relay()
	caller := n.calls(address)
	oldKey := n.secret("wheel-app-default", "key")
	oldToken, err := caller.token(t.Context(), oldKey)
	if err != nil {
		t.Fatal(err)
	}
	oldSeal := n.sealedBy()
	load := startLoad(t, n, func(*testing.T, apiClient) func(context.Context) error { return n.program(caller) })
	n.rotate("keys:1,signing-keys:1,keysets:1")

	eventually := func(what string, met func() error) {
		t.Helper()
		NewWithT(t).Eventually(met, turnPatience, "1s").Should(Succeed(), what)
	}
	eventually("another key is shown", func() error {
		if n.secret("wheel-app-default", "key") == oldKey {
			return errors.New("the key is still the first")
		}
		return nil
	})
	newKey := n.secret("wheel-app-default", "key")
	eventually("people are sealed by another key", func() error {
		if n.sealedBy() == oldSeal {
			return errors.New("they are still sealed by the first")
		}
		return nil
	})
	eventually("tokens are signed by another key", func() error {
		token, err := caller.token(t.Context(), newKey)
		if err == nil && header(token) == header(oldToken) {
			err = errors.New("tokens are still signed by the first")
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
	}, turnPatience, betweenGuesses).Should(Equal(6), "the key from before is refused, whichever replica is asked")
	load.stop(t)
	if keys, err := caller.signingKeys(t.Context()); err != nil || keys != 2 {
		t.Errorf("tokens may be signed by %d keys, %v: want the one from before too", keys, err)
	}
	for range replicasAsked {
		if err := caller.findUser(t.Context(), oldToken); err != nil {
			t.Errorf("by a token from before: %v", err)
		}
	}
	NewWithT(t).Expect(podsOf([]tenant{n})).To(Equal(pods), "keys restart nothing")
}

// betweenGuesses keeps the calls with a key that is refused under the ten a minute
// after which the others from the same address would have to wait.
const betweenGuesses = 7 * time.Second

// replicasAsked is how many calls, each on a connection of its own, meet both of
// two replicas, but for one time in a thousand.
const replicasAsked = 11

// header is the first part of a token, which names the key it is signed by.
func header(token string) string {
	first, _, _ := strings.Cut(token, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		return fmt.Sprintf("no token: %v", err)
	}
	return string(decoded)
}

// sealedBy is the id of the key by which personal data are sealed.
func (n tenant) sealedBy() uint32 {
	n.t.Helper()
	var keyset struct {
		PrimaryKeyID uint32 `json:"primaryKeyId"`
	}
	if err := json.Unmarshal([]byte(n.secret(n.key.Name+"-keysets", "encryption.json")), &keyset); err != nil || keyset.PrimaryKeyID == 0 {
		n.t.Fatalf("the keyset of %s has no key to seal by: %v", n.key, err)
	}
	return keyset.PrimaryKeyID
}

// rotate asks for keys to be turned.
func (n tenant) rotate(what string) {
	n.t.Helper()
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"anamnesis.dev/rotate":%q}}}`, what)
	instance := &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: n.key.Namespace, Name: n.key.Name}}
	if err := kube.Patch(n.t.Context(), instance, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		n.t.Fatal(err)
	}
}

// program does what a tenant's program does all day: it looks at its Secret every
// ten seconds, gets a token, and looks for a user. The token meets a replica that
// may not be the one that made it.
func (n tenant) program(caller caller) func(context.Context) error {
	var application corev1.Secret
	var read time.Time
	return func(ctx context.Context) error {
		time.Sleep(300 * time.Millisecond)
		if time.Since(read) > 10*time.Second {
			if err := kube.Get(ctx, client.ObjectKey{Namespace: n.key.Namespace, Name: n.key.Name + "-app-default"}, &application); err != nil {
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
