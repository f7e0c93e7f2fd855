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

func (rotatedKeyring) KeyVersion() string { return "next" }

// TestReencryptUsesNewKeysOnce checks that a keyset rotation re-encrypts unchanged secrets
// exactly once.
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
	service := &webhook.Service{Storage: storage.Scope[webhook.Reader, webhook.Tx]{Store: store}, Keyring: keys, Now: time.Now, OnChange: func() {}}
	url, token := "https://portal.example", "the-token"
	created, err := service.Create(t.Context(), audit.Actor{}, webhook.Settings{URL: &url, Token: &token})
	if err != nil {
		t.Fatal(err)
	}
	service.Keyring = rotatedKeyring{keys}
	for _, want := range []int{1, 0} {
		if count, err := service.Reencrypt(t.Context()); err != nil || count != want {
			t.Errorf("re-encrypted %d webhooks, error %v; want %d", count, err, want)
		}
	}
	err = store.Transact(t.Context(), func(tx storage.Tx) error {
		stored, err := tx.GetWebhook(t.Context(), created.ID)
		if err != nil {
			return err
		}
		secrets, err := service.DecryptSecrets(stored)
		if secrets != created.Secrets || stored.KeyVersion != "next" {
			t.Errorf("key version is %s, secrets changed: %t", stored.KeyVersion, secrets != created.Secrets)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
