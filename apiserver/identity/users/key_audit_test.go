// SPDX-License-Identifier: Apache-2.0

package users_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

func (r *harness) auditKeyChanges(keys ...users.AuditedKey) {
	r.t.Helper()
	if err := r.AuditKeyChanges(r.t.Context(), keys); err != nil {
		r.t.Fatal(err)
	}
}

// TestKeyChangesAreAudited checks that added and removed keys are recorded once, by
// whichever replica notices first, and also while the hash keys rotate.
func TestKeyChangesAreAudited(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	first := users.AuditedKey{Resource: audit.ApplicationKey, ID: "portal", Digest: []byte("first")}
	second := users.AuditedKey{Resource: audit.ApplicationKey, ID: "portal", Digest: []byte("second")}
	signing := users.AuditedKey{Resource: audit.SigningKey, ID: "2026-11"}
	r.auditKeyChanges(first, signing)
	if got := r.auditRecords(); len(got) != 0 {
		t.Errorf("of keys that were there from the beginning, recorded %v", got)
	}
	r.auditKeyChanges(first, second, signing)
	r.auditKeyChanges(first, second, signing)
	r.addKeys(true)
	r.Keyring, _ = r.loadKeyring()
	r.auditKeyChanges(second, first, signing)
	r.auditKeyChanges(second, signing)
	r.auditKeyChanges(second)
	record := func(action audit.Action, resource audit.Resource, id string) audit.Record {
		return audit.Record{At: now, Action: action, Resource: resource, ResourceID: id}
	}
	want := []audit.Record{
		record(audit.Delete, audit.SigningKey, "2026-11"),
		record(audit.Delete, audit.ApplicationKey, "portal"),
		record(audit.Create, audit.ApplicationKey, "portal"),
	}
	if diff := cmp.Diff(want, r.auditRecords()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// TestAuditedKeysAreStoredAsKeyedHashes checks that stored keys cannot be used to
// confirm a guess.
func TestAuditedKeysAreStoredAsKeyedHashes(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	r.auditKeyChanges(users.AuditedKey{Resource: audit.ApplicationKey, ID: "portal", Digest: []byte("digest-of-the-key")})
	var kept string
	err := r.Storage.Transact(t.Context(), func(tx users.Tx) (err error) {
		kept, err = tx.LockState(t.Context(), "keys", "")
		return err
	})
	if err != nil || !strings.Contains(kept, "portal") || strings.Contains(kept, "digest-of") || strings.Contains(kept, "ZGlnZXN0") {
		t.Errorf("kept %q, %v", kept, err)
	}
}
