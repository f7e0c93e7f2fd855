// SPDX-License-Identifier: Apache-2.0

package people_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

func (r *rig) note(keys ...people.Key) {
	r.t.Helper()
	if err := r.NoteKeys(r.t.Context(), keys); err != nil {
		r.t.Fatal(err)
	}
}

// Keys that come and go are recorded once, whichever replica sees it first, and
// also while the keys turn by which they are remembered.
func TestKeysAreRecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first := people.Key{Resource: audit.ApplicationKey, ID: "portal", Digest: []byte("first")}
	second := people.Key{Resource: audit.ApplicationKey, ID: "portal", Digest: []byte("second")}
	signing := people.Key{Resource: audit.SigningKey, ID: "2026-11"}
	r.note(first, signing)
	if got := r.acts(); len(got) != 0 {
		t.Errorf("of keys that were there from the beginning, recorded %v", got)
	}
	r.note(first, second, signing)
	r.note(first, second, signing)
	r.addKeys(true)
	r.Keys, _ = r.openKeys()
	r.note(second, first, signing)
	r.note(second, signing)
	r.note(second)
	record := func(action audit.Action, resource audit.Resource, id string) audit.Record {
		return audit.Record{At: now, Action: action, Resource: resource, ResourceID: id}
	}
	want := []audit.Record{
		record(audit.Delete, audit.SigningKey, "2026-11"),
		record(audit.Delete, audit.ApplicationKey, "portal"),
		record(audit.Create, audit.ApplicationKey, "portal"),
	}
	if diff := cmp.Diff(want, r.acts()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// What is kept of a key does not say whether a guess at it is good.
func TestKeysAreKeptAsKeyedHashes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.note(people.Key{Resource: audit.ApplicationKey, ID: "portal", Digest: []byte("digest-of-the-key")})
	var kept string
	err := r.Storage.Transact(t.Context(), func(tx storage.Tx) (err error) {
		kept, err = tx.LockState(t.Context(), "keys", "")
		return err
	})
	if err != nil || !strings.Contains(kept, "portal") || strings.Contains(kept, "digest-of") || strings.Contains(kept, "ZGlnZXN0") {
		t.Errorf("kept %q, %v", kept, err)
	}
}
