// SPDX-License-Identifier: Apache-2.0

package users_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

func (h *harness) auditKeyChanges(keys ...users.AuditedKey) {
	h.t.Helper()
	if err := h.AuditKeyChanges(h.t.Context(), keys); err != nil {
		h.t.Fatal(err)
	}
}

// TestKeyChangesAreAudited checks that each added or removed key is recorded once, by the
// first replica to notice, even while the hash keys rotate.
func TestKeyChangesAreAudited(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	first := users.AuditedKey{Resource: audit.ApplicationKey, ID: "portal", Digest: []byte("first")}
	second := users.AuditedKey{Resource: audit.ApplicationKey, ID: "portal", Digest: []byte("second")}
	signing := users.AuditedKey{Resource: audit.SigningKey, ID: "2026-11"}
	h.auditKeyChanges(first, signing)
	if got := h.auditRecords(); len(got) != 0 {
		t.Errorf("got audit records %v for the initial keys", got)
	}
	h.auditKeyChanges(first, second, signing)
	h.auditKeyChanges(first, second, signing)
	h.addKeys(true)
	h.Keyring, _ = h.loadKeyring()
	h.auditKeyChanges(second, first, signing)
	h.auditKeyChanges(second, signing)
	h.auditKeyChanges(second)
	record := func(action audit.Action, resource audit.Resource, id string) audit.Record {
		return audit.Record{At: now, Action: action, Resource: resource, ResourceID: id}
	}
	want := []audit.Record{
		record(audit.Delete, audit.SigningKey, "2026-11"),
		record(audit.Delete, audit.ApplicationKey, "portal"),
		record(audit.Create, audit.ApplicationKey, "portal"),
	}
	if diff := cmp.Diff(want, h.auditRecords()); diff != "" {
		t.Errorf("audit records (-want +got):\n%s", diff)
	}
}

// TestAuditedKeysAreStoredAsKeyedHashes checks that stored keys cannot be used to
// confirm a guess.
func TestAuditedKeysAreStoredAsKeyedHashes(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.auditKeyChanges(users.AuditedKey{Resource: audit.ApplicationKey, ID: "portal", Digest: []byte("digest-of-the-key")})
	var stored string
	err := h.Storage.Transact(t.Context(), func(tx users.Tx) (err error) {
		stored, err = tx.LockState(t.Context(), "keys", "")
		return err
	})
	if err != nil || !strings.Contains(stored, "portal") || strings.Contains(stored, "digest-of") || strings.Contains(stored, "ZGlnZXN0") {
		t.Errorf("got stored state %q, %v", stored, err)
	}
}
