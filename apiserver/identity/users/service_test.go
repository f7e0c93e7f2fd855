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
	r := &harness{t: t, database: filepath.Join(dir, "anamnesis.db"), keysetsDir: filepath.Join(dir, "keysets")}
	if err := encryption.GenerateKeysetFiles(r.keysetsDir); err != nil {
		t.Fatal(err)
	}
	store, err := open.Open(t.Context(), "sqlite:"+r.database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	r.Service = &users.Service{Storage: storage.Scope[users.Reader, users.Tx]{Store: store}, Now: func() time.Time { return now }}
	r.Keyring, r.source = r.loadKeyring()
	return r
}

func (r *harness) loadKeyring() (*encryption.Keyring, *reload.Source) {
	r.t.Helper()
	keys, source, err := encryption.LoadKeyring(r.keysetsDir)
	if err != nil {
		r.t.Fatal(err)
	}
	return keys, source
}

func (r *harness) createUser(contact record.Contact) record.User {
	r.t.Helper()
	user, err := r.CreateUser(r.t.Context(), portal, contact)
	if err != nil {
		r.t.Fatal(err)
	}
	return user
}

func (r *harness) createPatient(userID string) record.Patient {
	r.t.Helper()
	patient, err := r.CreatePatient(r.t.Context(), portal, record.Patient{UserID: userID, Sex: "female", Age: record.Age{Value: 34, Unit: assessment.Year}})
	if err != nil {
		r.t.Fatal(err)
	}
	return patient
}

// findUsers returns the users with the given contact data.
func (r *harness) findUsers(find record.Contact) []record.User {
	r.t.Helper()
	users, total, err := r.ListUsers(r.t.Context(), portal, find, firstPage)
	if err != nil || total != int64(len(users)) {
		r.t.Fatalf("%d of %d users, %v", len(users), total, err)
	}
	return users
}

// auditRecords returns the audit records, newest first.
func (r *harness) auditRecords() []audit.Record {
	r.t.Helper()
	records, _, err := r.ListAuditRecords(r.t.Context(), audit.Filter{}, firstPage)
	if err != nil {
		r.t.Fatal(err)
	}
	return records
}

func TestListUsersByContact(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	user := r.createUser(ada)
	r.createUser(record.Contact{})
	for name, test := range map[string]struct {
		find record.Contact
		want []record.User
	}{
		"by address":         {record.Contact{Email: "ADA@PORTAL.EXAMPLE"}, []record.User{user}},
		"by number":          {record.Contact{Phone: ada.Phone}, []record.User{user}},
		"by another address": {record.Contact{Email: "eve@portal.example"}, []record.User{}},
		"a number as one":    {record.Contact{Email: ada.Phone}, []record.User{}},
	} {
		if diff := cmp.Diff(test.want, r.findUsers(test.find)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := len(r.findUsers(record.Contact{})); got != 2 {
		t.Errorf("%d users in all", got)
	}
}

func TestContactIsUnique(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	r.createUser(ada)
	eve := r.createUser(record.Contact{Email: "eve@portal.example"})
	var taken *record.AlreadyExistsError
	if _, err := r.CreateUser(t.Context(), portal, record.Contact{Email: "ada@PORTAL.example"}); !errors.As(err, &taken) || taken.Kind != "email" {
		t.Errorf("got %v", err)
	}
	_, err := r.UpdateUser(t.Context(), portal, eve.ID, func(contact *record.Contact) { contact.Phone = ada.Phone })
	if !errors.As(err, &taken) || taken.Kind != "phone" {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]record.User{eve}, r.findUsers(eve.Contact)); diff != "" {
		t.Errorf("a change that was refused (-want +got):\n%s", diff)
	}
	if _, err := r.UpdateUser(t.Context(), portal, eve.ID, func(contact *record.Contact) { contact.Email = "Eve@portal.example" }); err != nil {
		t.Errorf("her own address in other letters: %v", err)
	}
}

// TestContactIsEncrypted checks that the database does not reveal contact data.
func TestContactIsEncrypted(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	user := r.createUser(ada)
	if _, err := r.UpdateUser(t.Context(), portal, user.ID, func(contact *record.Contact) { contact.Email = "lovelace@portal.example" }); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(r.database + suffix)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"portal.example", "12345678"} {
			if bytes.Contains(content, []byte(text)) {
				t.Errorf("%q can be read in the database%s", text, suffix)
			}
		}
	}
}

func TestOperationsAreAudited(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	ctx := t.Context()
	user := r.createUser(ada)
	patient := r.createPatient(user.ID)
	self := identity.Principal{Actor: audit.Actor{UserID: user.ID}}
	for _, act := range []func() error{
		func() error { _, err := r.GetUser(ctx, portal, user.ID); return err },
		func() error { _, _, err := r.ListUsers(ctx, portal, ada, firstPage); return err },
		func() error { _, err := r.UpdateUser(ctx, portal, user.ID, func(*record.Contact) {}); return err },
		func() error { _, err := r.ExportUser(ctx, portal, user.ID); return err },
		func() error { _, err := r.GetPatient(ctx, self, patient.ID); return err },
		func() error { _, _, err := r.ListPatients(ctx, self, "", firstPage); return err },
		func() error {
			_, err := r.UpdatePatient(ctx, portal, patient.ID, func(*record.Patient) error { return nil })
			return err
		},
		func() error { return r.DeletePatient(ctx, portal, patient.ID) },
		func() error { return r.DeleteUser(ctx, portal, user.ID) },
	} {
		if err := act(); err != nil {
			t.Fatal(err)
		}
	}
	record := func(by identity.Principal, action audit.Action, resource audit.Resource, id string) audit.Record {
		return audit.Record{At: now, Actor: by.Actor, Action: action, Resource: resource, ResourceID: id}
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
	if diff := cmp.Diff(want, r.auditRecords()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// TestRejectedOperationsAreNotAudited checks that rejected operations leave no audit
// records.
func TestRejectedOperationsAreNotAudited(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	ctx := t.Context()
	user := r.createUser(ada)
	patient := r.createPatient(user.ID)
	before, refused := len(r.auditRecords()), errors.New("refused")
	for name, act := range map[string]func() error{
		"taken":     func() error { _, err := r.CreateUser(ctx, portal, ada); return err },
		"unknown":   func() error { _, err := r.GetUser(ctx, portal, "x"); return err },
		"deletion":  func() error { return r.DeleteUser(ctx, portal, "x") },
		"no export": func() error { _, err := r.ExportUser(ctx, portal, "x"); return err },
		"dangling":  func() error { _, err := r.CreatePatient(ctx, portal, record.Patient{UserID: "x"}); return err },
		"change": func() error {
			_, err := r.UpdatePatient(ctx, portal, patient.ID, func(*record.Patient) error { return refused })
			return err
		},
		"another's": func() error {
			_, err := r.GetPatient(ctx, identity.Principal{Actor: audit.Actor{UserID: "x"}}, patient.ID)
			return err
		},
	} {
		if err := act(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := len(r.auditRecords()); got != before {
		t.Errorf("%d acts are recorded, want %d", got, before)
	}
}

// TestEndUserAccessesOnlyOwnPatients checks that end users cannot read or change other
// users' patients, and cannot distinguish them from nonexistent ones.
func TestEndUserAccessesOnlyOwnPatients(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	ctx := t.Context()
	user, other := r.createUser(ada), r.createUser(record.Contact{})
	own, foreign := r.createPatient(user.ID), r.createPatient(other.ID)
	self := identity.Principal{Actor: audit.Actor{UserID: user.ID}}
	if got, err := r.GetPatient(ctx, self, own.ID); err != nil || got.ID != own.ID {
		t.Errorf("own: %v, %v", got, err)
	}
	_, read := r.GetPatient(ctx, self, foreign.ID)
	_, none := r.GetPatient(ctx, self, "x")
	_, changed := r.UpdatePatient(ctx, self, foreign.ID, func(*record.Patient) error { t.Error("changed"); return nil })
	_, _, listed := r.ListPatients(ctx, self, other.ID, firstPage)
	for what, err := range map[string]error{"another's": read, "unknown": none, "change": changed, "list of another's": listed} {
		if !errors.Is(err, record.ErrNotFound) || err.Error() != none.Error() {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for _, filter := range []string{"", user.ID} {
		page, total, err := r.ListPatients(ctx, self, filter, firstPage)
		if diff := cmp.Diff([]record.Patient{own}, page); diff != "" || total != 1 || err != nil {
			t.Errorf("%d, %v (-want +got):\n%s", total, err, diff)
		}
	}
}

func TestExportUser(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	user, other := r.createUser(ada), r.createUser(record.Contact{})
	own := r.createPatient(user.ID)
	r.createPatient(other.ID)
	export, err := r.ExportUser(t.Context(), portal, user.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(user, export.User) + cmp.Diff([]record.Patient{own}, export.Patients); diff != "" {
		t.Errorf("export (-want +got):\n%s", diff)
	}
	if len(export.AuditRecords) != 3 || export.AuditRecords[0].Action != audit.Export {
		t.Errorf("recorded %v", export.AuditRecords)
	}
}

// updateKeysets adds a key to each keyset, or makes the newest key the primary one.
func (r *harness) updateKeysets(change func(*keyset.Manager, *tinkpb.KeyTemplate)) {
	r.t.Helper()
	for name, template := range map[string]*tinkpb.KeyTemplate{"encryption.json": aead.AES256GCMKeyTemplate(), "lookup.json": prf.HMACSHA256PRFKeyTemplate()} {
		path := filepath.Join(r.keysetsDir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			r.t.Fatal(err)
		}
		handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(text)))
		if err != nil {
			r.t.Fatal(err)
		}
		manager := keyset.NewManagerFromHandle(handle)
		change(manager, template)
		turned, err := manager.Handle()
		if err != nil {
			r.t.Fatal(err)
		}
		var written bytes.Buffer
		if err := insecurecleartextkeyset.Write(turned, keyset.NewJSONWriter(&written)); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, written.Bytes(), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *harness) addKeys(primary bool) {
	r.t.Helper()
	r.updateKeysets(func(manager *keyset.Manager, template *tinkpb.KeyTemplate) {
		id, err := manager.Add(template)
		if err == nil && primary {
			err = manager.SetPrimary(id)
		}
		if err != nil {
			r.t.Error(err)
		}
	})
}

// TestReplicasWithDifferentKeysFindSameUsers checks that, during keyset rotation,
// replicas with different keys find each other's users and keep addresses unique.
func TestReplicasWithDifferentKeysFindSameUsers(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	before := r.createUser(ada)
	r.addKeys(false)
	ahead := *r
	ahead.Service = &users.Service{Storage: r.Storage, Now: r.Now}
	ahead.Keyring, _ = ahead.loadKeyring()
	late := r.createUser(record.Contact{Email: "late@portal.example"})
	early := ahead.createUser(record.Contact{Email: "early@portal.example"})
	for _, replica := range []*harness{r, &ahead} {
		for _, user := range []record.User{before, late, early} {
			if diff := cmp.Diff([]record.User{user}, replica.findUsers(record.Contact{Email: user.Email})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := replica.CreateUser(t.Context(), portal, user.Contact); !errors.Is(err, record.ErrAlreadyExists) {
				t.Errorf("%s was given away twice: %v", user.Email, err)
			}
		}
	}
}

// TestReencryptAfterKeyRotation checks that several replicas re-encrypt and rehash
// everything with the new keys concurrently, without losing users.
func TestReencryptAfterKeyRotation(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	users := []record.User{r.createUser(ada)}
	for range 250 {
		users = append(users, r.createUser(record.Contact{}))
	}
	if renewed, err := r.Reencrypt(t.Context()); renewed != 0 || err != nil {
		t.Errorf("renewed %d with the same keys, %v", renewed, err)
	}
	r.addKeys(true)
	if err := r.source.Load(); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if _, err := r.Reencrypt(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if renewed, err := r.Reencrypt(t.Context()); renewed != 0 || err != nil {
		t.Errorf("renewed %d again, %v", renewed, err)
	}
	// Delete the old keys: nothing depends on them anymore.
	r.updateKeysets(func(manager *keyset.Manager, _ *tinkpb.KeyTemplate) { r.deleteOldestKey(manager) })
	if err := r.source.Load(); err != nil {
		t.Fatal(err)
	}
	for _, user := range []record.User{users[0], users[100], users[250]} {
		if got, err := r.GetUser(t.Context(), portal, user.ID); err != nil || !cmp.Equal(got, user) {
			t.Errorf("got %v, %v, want %v", got, err, user)
		}
	}
	if diff := cmp.Diff(users[:1], r.findUsers(ada)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

func (r *harness) deleteOldestKey(manager *keyset.Manager) {
	r.t.Helper()
	handle, err := manager.Handle()
	if err != nil {
		r.t.Fatal(err)
	}
	info := handle.KeysetInfo()
	if err := manager.Delete(info.GetKeyInfo()[0].GetKeyId()); err != nil {
		r.t.Error(err)
	}
}

// TestReencryptReportsLostKeys checks that lost keys are reported and that data
// encrypted with them is kept until the keys return.
func TestReencryptReportsLostKeys(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	user := r.createUser(ada)
	kept := r.Keyring
	var err error
	if r.Keyring, err = encryption.GenerateKeyring(); err != nil {
		t.Fatal(err)
	}
	_, read := r.GetUser(t.Context(), portal, user.ID)
	_, changed := r.UpdateUser(t.Context(), portal, user.ID, func(*record.Contact) {})
	_, renewed := r.Reencrypt(t.Context())
	for what, err := range map[string]error{"read": read, "change": changed, "renewal": renewed} {
		if !errors.Is(err, encryption.ErrDecrypt) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	r.Keyring = kept
	if diff := cmp.Diff([]record.User{user}, r.findUsers(ada)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStorageErrorsAreReturned checks that storage failures return errors and do not
// panic.
func TestStorageErrorsAreReturned(t *testing.T) {
	t.Parallel()
	r := newHarness(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.CreateUser(ctx, portal, ada); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, _, err := r.ListUsers(ctx, portal, ada, firstPage); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
