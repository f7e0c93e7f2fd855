// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/sealing"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

// turned are keys that are others now, and open what the former sealed.
type turned struct{ *sealing.Keys }

func (turned) Generation() string { return "the next" }

// When keysets turn, secrets are sealed with the new keys, once, and stay what they
// were.
func TestRenew(t *testing.T) {
	t.Parallel()
	store, err := open.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	keys, err := sealing.Generate()
	if err != nil {
		t.Fatal(err)
	}
	r := &webhooks.Register{Storage: store, Keys: keys, Now: time.Now, Changed: func() {}}
	url, token := "https://portal.example", "the-token"
	made, err := r.Create(t.Context(), audit.Actor{}, webhooks.Settings{URL: &url, Token: &token})
	if err != nil {
		t.Fatal(err)
	}
	r.Keys = turned{keys}
	for _, want := range []int{1, 0} {
		if renewed, err := r.Renew(t.Context()); err != nil || renewed != want {
			t.Errorf("renewed %d, %v; want %d", renewed, err, want)
		}
	}
	err = store.Transact(t.Context(), func(tx storage.Tx) error {
		kept, err := tx.Webhook(t.Context(), made.ID)
		if err != nil {
			return err
		}
		secrets, err := r.Open(kept)
		if secrets != made.Secrets || kept.Generation != "the next" {
			t.Errorf("of generation %s, and the secrets are others: %t", kept.Generation, secrets != made.Secrets)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
