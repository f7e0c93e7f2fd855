// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
)

// rotatedKeyring has a new current key and still decrypts with the previous ones.
type rotatedKeyring struct{ *encryption.Keyring }

func (rotatedKeyring) KeyVersion() string { return "the next" }

// TestReencryptUsesNewKeysOnce checks that, after a keyset rotation, secrets are
// re-encrypted exactly once and stay the same.
func TestReencryptUsesNewKeysOnce(t *testing.T) {
	t.Parallel()
	store, err := open.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	keys, err := encryption.GenerateKeyring()
	if err != nil {
		t.Fatal(err)
	}
	r := &webhook.Service{Storage: storage.Scope[webhook.Reader, webhook.Tx]{Store: store}, Keyring: keys, Now: time.Now, OnChange: func() {}}
	url, token := "https://portal.example", "the-token"
	made, err := r.Create(t.Context(), audit.Actor{}, webhook.Settings{URL: &url, Token: &token})
	if err != nil {
		t.Fatal(err)
	}
	r.Keyring = rotatedKeyring{keys}
	for _, want := range []int{1, 0} {
		if renewed, err := r.Reencrypt(t.Context()); err != nil || renewed != want {
			t.Errorf("renewed %d, %v; want %d", renewed, err, want)
		}
	}
	err = store.Transact(t.Context(), func(tx storage.Tx) error {
		kept, err := tx.GetWebhook(t.Context(), made.ID)
		if err != nil {
			return err
		}
		secrets, err := r.DecryptSecrets(kept)
		if secrets != made.Secrets || kept.KeyVersion != "the next" {
			t.Errorf("of generation %s, and the secrets are others: %t", kept.KeyVersion, secrets != made.Secrets)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
