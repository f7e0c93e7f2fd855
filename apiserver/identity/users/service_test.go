// SPDX-License-Identifier: Apache-2.0

package users_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/prf"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

var (
	now       = time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC)
	portal    = identity.Principal{Actor: audit.Actor{Application: "portal"}}
	ada       = record.Contact{Email: "Ada@portal.example", Phone: "+493012345678"}
	firstPage = record.Page{Limit: 50}
)

// harness is a service with its own database and keysets.
type harness struct {
	*users.Service
	t          *testing.T
	database   string
	keysetsDir string
	source     *reload.Source
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	dir := t.TempDir()
	h := &harness{t: t, database: filepath.Join(dir, "anamnesis.db"), keysetsDir: filepath.Join(dir, "keysets")}
	if err := encryption.GenerateKeysetFiles(h.keysetsDir); err != nil {
		t.Fatal(err)
	}
	store, err := open.Open(t.Context(), "sqlite:"+h.database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	h.Service = &users.Service{Storage: storage.Scope[users.Reader, users.Tx]{Store: store}, Now: func() time.Time { return now }}
	h.Keyring, h.source = h.loadKeyring()
	return h
}

func (h *harness) loadKeyring() (*encryption.Keyring, *reload.Source) {
	h.t.Helper()
	keys, source, err := encryption.LoadKeyring(h.keysetsDir)
	if err != nil {
		h.t.Fatal(err)
	}
	return keys, source
}

func (h *harness) createUser(contact record.Contact) record.User {
	h.t.Helper()
	user, err := h.CreateUser(h.t.Context(), portal, contact)
	if err != nil {
		h.t.Fatal(err)
	}
	return user
}

func (h *harness) createPatient(userID string) record.Patient {
	h.t.Helper()
	patient, err := h.CreatePatient(h.t.Context(), portal, record.Patient{UserID: userID, Sex: "female", Age: record.Age{Value: 34, Unit: assessment.Year}})
	if err != nil {
		h.t.Fatal(err)
	}
	return patient
}

// findUsers returns the users with the given contact data.
func (h *harness) findUsers(filter record.Contact) []record.User {
	h.t.Helper()
	users, total, err := h.ListUsers(h.t.Context(), portal, filter, firstPage)
	if err != nil || total != int64(len(users)) {
		h.t.Fatalf("got %d of %d users, %v", len(users), total, err)
	}
	return users
}

// auditRecords returns the audit records, newest first.
func (h *harness) auditRecords() []audit.Record {
	h.t.Helper()
	records, _, err := h.ListAuditRecords(h.t.Context(), audit.Filter{}, firstPage)
	if err != nil {
		h.t.Fatal(err)
	}
	return records
}

func TestListUsersByContact(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	user := h.createUser(ada)
	h.createUser(record.Contact{})
	for name, test := range map[string]struct {
		find record.Contact
		want []record.User
	}{
		"by address":         {record.Contact{Email: "ADA@PORTAL.EXAMPLE"}, []record.User{user}},
		"by number":          {record.Contact{Phone: ada.Phone}, []record.User{user}},
		"by another address": {record.Contact{Email: "eve@portal.example"}, []record.User{}},
		"a number as one":    {record.Contact{Email: ada.Phone}, []record.User{}},
	} {
		if diff := cmp.Diff(test.want, h.findUsers(test.find)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := len(h.findUsers(record.Contact{})); got != 2 {
		t.Errorf("got %d users in total", got)
	}
}

func TestContactIsUnique(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.createUser(ada)
	eve := h.createUser(record.Contact{Email: "eve@portal.example"})
	var existsErr *record.AlreadyExistsError
	if _, err := h.CreateUser(t.Context(), portal, record.Contact{Email: "ada@PORTAL.example"}); !errors.As(err, &existsErr) || existsErr.Kind != "email" {
		t.Errorf("got %v", err)
	}
	_, err := h.UpdateUser(t.Context(), portal, eve.ID, func(contact *record.Contact) { contact.Phone = ada.Phone })
	if !errors.As(err, &existsErr) || existsErr.Kind != "phone" {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]record.User{eve}, h.findUsers(eve.Contact)); diff != "" {
		t.Errorf("users after a rejected change (-want +got):\n%s", diff)
	}
	if _, err := h.UpdateUser(t.Context(), portal, eve.ID, func(contact *record.Contact) { contact.Email = "Eve@portal.example" }); err != nil {
		t.Errorf("changing the case of the own address: %v", err)
	}
}

// TestContactIsEncrypted checks that the database does not reveal contact data.
func TestContactIsEncrypted(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	user := h.createUser(ada)
	if _, err := h.UpdateUser(t.Context(), portal, user.ID, func(contact *record.Contact) { contact.Email = "lovelace@portal.example" }); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(h.database + suffix)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"portal.example", "12345678"} {
			if bytes.Contains(content, []byte(text)) {
				t.Errorf("found %q in the database file with suffix %q", text, suffix)
			}
		}
	}
}

func TestOperationsAreAudited(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ctx := t.Context()
	user := h.createUser(ada)
	patient := h.createPatient(user.ID)
	self := identity.Principal{Actor: audit.Actor{UserID: user.ID}}
	for _, operation := range []func() error{
		func() error { _, err := h.GetUser(ctx, portal, user.ID); return err },
		func() error { _, _, err := h.ListUsers(ctx, portal, ada, firstPage); return err },
		func() error { _, err := h.UpdateUser(ctx, portal, user.ID, func(*record.Contact) {}); return err },
		func() error { _, err := h.ExportUser(ctx, portal, user.ID); return err },
		func() error { _, err := h.GetPatient(ctx, self, patient.ID); return err },
		func() error { _, _, err := h.ListPatients(ctx, self, "", firstPage); return err },
		func() error {
			_, err := h.UpdatePatient(ctx, portal, patient.ID, func(*record.Patient) error { return nil })
			return err
		},
		func() error { return h.DeletePatient(ctx, portal, patient.ID) },
		func() error { return h.DeleteUser(ctx, portal, user.ID) },
	} {
		if err := operation(); err != nil {
			t.Fatal(err)
		}
	}
	record := func(principal identity.Principal, action audit.Action, resource audit.Resource, id string) audit.Record {
		return audit.Record{At: now, Actor: principal.Actor, Action: action, Resource: resource, ResourceID: id}
	}
	want := []audit.Record{
		record(portal, audit.Delete, audit.User, user.ID),
		record(portal, audit.Delete, audit.Patient, patient.ID),
		record(portal, audit.Change, audit.Patient, patient.ID),
		record(self, audit.List, audit.Patient, ""),
		record(self, audit.Read, audit.Patient, patient.ID),
		record(portal, audit.Export, audit.User, user.ID),
		record(portal, audit.Change, audit.User, user.ID),
		record(portal, audit.List, audit.User, ""),
		record(portal, audit.Read, audit.User, user.ID),
		record(portal, audit.Create, audit.Patient, patient.ID),
		record(portal, audit.Create, audit.User, user.ID),
	}
	if diff := cmp.Diff(want, h.auditRecords()); diff != "" {
		t.Errorf("audit records (-want +got):\n%s", diff)
	}
}

// TestRejectedOperationsAreNotAudited checks that rejected operations leave no audit
// records.
func TestRejectedOperationsAreNotAudited(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ctx := t.Context()
	user := h.createUser(ada)
	patient := h.createPatient(user.ID)
	before, rejected := len(h.auditRecords()), errors.New("refused")
	for name, operation := range map[string]func() error{
		"taken":     func() error { _, err := h.CreateUser(ctx, portal, ada); return err },
		"unknown":   func() error { _, err := h.GetUser(ctx, portal, "x"); return err },
		"deletion":  func() error { return h.DeleteUser(ctx, portal, "x") },
		"no export": func() error { _, err := h.ExportUser(ctx, portal, "x"); return err },
		"dangling":  func() error { _, err := h.CreatePatient(ctx, portal, record.Patient{UserID: "x"}); return err },
		"change": func() error {
			_, err := h.UpdatePatient(ctx, portal, patient.ID, func(*record.Patient) error { return rejected })
			return err
		},
		"another's": func() error {
			_, err := h.GetPatient(ctx, identity.Principal{Actor: audit.Actor{UserID: "x"}}, patient.ID)
			return err
		},
	} {
		if err := operation(); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	if got := len(h.auditRecords()); got != before {
		t.Errorf("got %d audit records, want %d", got, before)
	}
}

// TestEndUserAccessesOnlyOwnPatients checks that end users cannot read or change other
// users' patients, and cannot distinguish them from nonexistent ones.
func TestEndUserAccessesOnlyOwnPatients(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ctx := t.Context()
	user, other := h.createUser(ada), h.createUser(record.Contact{})
	ownPatient, othersPatient := h.createPatient(user.ID), h.createPatient(other.ID)
	self := identity.Principal{Actor: audit.Actor{UserID: user.ID}}
	if got, err := h.GetPatient(ctx, self, ownPatient.ID); err != nil || got.ID != ownPatient.ID {
		t.Errorf("own patient: got %v, %v", got, err)
	}
	_, read := h.GetPatient(ctx, self, othersPatient.ID)
	_, none := h.GetPatient(ctx, self, "x")
	_, changed := h.UpdatePatient(ctx, self, othersPatient.ID, func(*record.Patient) error { t.Error("changed"); return nil })
	_, _, listed := h.ListPatients(ctx, self, other.ID, firstPage)
	for what, err := range map[string]error{"another's": read, "unknown": none, "change": changed, "list of another's": listed} {
		if !errors.Is(err, record.ErrNotFound) || err.Error() != none.Error() {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for _, filter := range []string{"", user.ID} {
		page, total, err := h.ListPatients(ctx, self, filter, firstPage)
		if diff := cmp.Diff([]record.Patient{ownPatient}, page); diff != "" || total != 1 || err != nil {
			t.Errorf("total %d, %v (-want +got):\n%s", total, err, diff)
		}
	}
}

func TestExportUser(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	user, other := h.createUser(ada), h.createUser(record.Contact{})
	ownPatient := h.createPatient(user.ID)
	h.createPatient(other.ID)
	export, err := h.ExportUser(t.Context(), portal, user.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(user, export.User) + cmp.Diff([]record.Patient{ownPatient}, export.Patients); diff != "" {
		t.Errorf("export (-want +got):\n%s", diff)
	}
	if len(export.AuditRecords) != 3 || export.AuditRecords[0].Action != audit.Export {
		t.Errorf("got audit records %v", export.AuditRecords)
	}
}

// updateKeysets adds a key to each keyset, or makes the newest key the primary one.
func (h *harness) updateKeysets(change func(*keyset.Manager, *tinkpb.KeyTemplate)) {
	h.t.Helper()
	for name, template := range map[string]*tinkpb.KeyTemplate{"encryption.json": aead.AES256GCMKeyTemplate(), "lookup.json": prf.HMACSHA256PRFKeyTemplate()} {
		path := filepath.Join(h.keysetsDir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			h.t.Fatal(err)
		}
		handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
		if err != nil {
			h.t.Fatal(err)
		}
		manager := keyset.NewManagerFromHandle(handle)
		change(manager, template)
		updatedHandle, err := manager.Handle()
		if err != nil {
			h.t.Fatal(err)
		}
		var written bytes.Buffer
		if err := insecurecleartextkeyset.Write(updatedHandle, keyset.NewJSONWriter(&written)); err != nil {
			h.t.Fatal(err)
		}
		if err := os.WriteFile(path, written.Bytes(), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *harness) addKeys(primary bool) {
	h.t.Helper()
	h.updateKeysets(func(manager *keyset.Manager, template *tinkpb.KeyTemplate) {
		id, err := manager.Add(template)
		if err == nil && primary {
			err = manager.SetPrimary(id)
		}
		if err != nil {
			h.t.Error(err)
		}
	})
}

// TestReplicasWithDifferentKeysFindSameUsers checks that, during keyset rotation,
// replicas with different keys find each other's users and keep addresses unique.
func TestReplicasWithDifferentKeysFindSameUsers(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	before := h.createUser(ada)
	h.addKeys(false)
	newReplica := *h
	newReplica.Service = &users.Service{Storage: h.Storage, Now: h.Now}
	newReplica.Keyring, _ = newReplica.loadKeyring()
	late := h.createUser(record.Contact{Email: "late@portal.example"})
	early := newReplica.createUser(record.Contact{Email: "early@portal.example"})
	for _, replica := range []*harness{h, &newReplica} {
		for _, user := range []record.User{before, late, early} {
			if diff := cmp.Diff([]record.User{user}, replica.findUsers(record.Contact{Email: user.Email})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := replica.CreateUser(t.Context(), portal, user.Contact); !errors.Is(err, record.ErrAlreadyExists) {
				t.Errorf("creating a second user with address %s: got %v", user.Email, err)
			}
		}
	}
}

// TestReencryptAfterKeyRotation checks that several replicas re-encrypt and rehash
// everything with the new keys concurrently, without losing users.
func TestReencryptAfterKeyRotation(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	users := []record.User{h.createUser(ada)}
	for range 250 {
		users = append(users, h.createUser(record.Contact{}))
	}
	if updated, err := h.Reencrypt(t.Context()); updated != 0 || err != nil {
		t.Errorf("updated %d users with unchanged keys, %v", updated, err)
	}
	h.addKeys(true)
	if err := h.source.Load(); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if _, err := h.Reencrypt(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if updated, err := h.Reencrypt(t.Context()); updated != 0 || err != nil {
		t.Errorf("second run updated %d users, %v", updated, err)
	}
	// Delete the old keys: no user depends on them anymore.
	h.updateKeysets(func(manager *keyset.Manager, _ *tinkpb.KeyTemplate) { h.deleteOldestKey(manager) })
	if err := h.source.Load(); err != nil {
		t.Fatal(err)
	}
	for _, user := range []record.User{users[0], users[100], users[250]} {
		if got, err := h.GetUser(t.Context(), portal, user.ID); err != nil || !cmp.Equal(got, user) {
			t.Errorf("got %v, %v, want %v", got, err, user)
		}
	}
	if diff := cmp.Diff(users[:1], h.findUsers(ada)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

func (h *harness) deleteOldestKey(manager *keyset.Manager) {
	h.t.Helper()
	handle, err := manager.Handle()
	if err != nil {
		h.t.Fatal(err)
	}
	info := handle.KeysetInfo()
	if err := manager.Delete(info.GetKeyInfo()[0].GetKeyId()); err != nil {
		h.t.Error(err)
	}
}

// TestReencryptReportsLostKeys checks that lost keys are reported and that data
// encrypted with them is kept until the keys return.
func TestReencryptReportsLostKeys(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	user := h.createUser(ada)
	stored := h.Keyring
	var err error
	if h.Keyring, err = encryption.GenerateKeyring(); err != nil {
		t.Fatal(err)
	}
	_, read := h.GetUser(t.Context(), portal, user.ID)
	_, changed := h.UpdateUser(t.Context(), portal, user.ID, func(*record.Contact) {})
	_, updated := h.Reencrypt(t.Context())
	for what, err := range map[string]error{"read": read, "change": changed, "renewal": updated} {
		if !errors.Is(err, encryption.ErrDecrypt) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	h.Keyring = stored
	if diff := cmp.Diff([]record.User{user}, h.findUsers(ada)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStorageErrorsAreReturned checks that storage failures return errors and do not
// panic.
func TestStorageErrorsAreReturned(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.CreateUser(ctx, portal, ada); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, _, err := h.ListUsers(ctx, portal, ada, firstPage); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
