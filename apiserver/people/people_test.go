// SPDX-License-Identifier: Apache-2.0

package people_test

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

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
	"github.com/anamnesis-dev/anamnesis/apiserver/reload"
	"github.com/anamnesis-dev/anamnesis/apiserver/sealing"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

var (
	now    = time.Date(2026, time.November, 21, 9, 30, 0, 0, time.UTC)
	portal = audit.Actor{Application: "portal"}
	ada    = guidance.Contact{Email: "Ada@portal.example", Phone: "+493012345678"}
	all    = people.Page{AtMost: 50}
)

// rig is a register on a database and keysets of its own.
type rig struct {
	*people.Register
	t        *testing.T
	database string
	keysets  string
	source   *reload.Source
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, database: filepath.Join(dir, "anamnesis.db"), keysets: filepath.Join(dir, "keysets")}
	if err := sealing.Make(r.keysets); err != nil {
		t.Fatal(err)
	}
	store, err := open.Open(t.Context(), "sqlite:"+r.database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	r.Register = &people.Register{Storage: store, Now: func() time.Time { return now }}
	r.Keys, r.source = r.openKeys()
	return r
}

func (r *rig) openKeys() (*sealing.Keys, *reload.Source) {
	r.t.Helper()
	keys, source, err := sealing.Open(r.keysets)
	if err != nil {
		r.t.Fatal(err)
	}
	return keys, source
}

func (r *rig) user(contact guidance.Contact) guidance.User {
	r.t.Helper()
	user, err := r.CreateUser(r.t.Context(), portal, contact)
	if err != nil {
		r.t.Fatal(err)
	}
	return user
}

func (r *rig) patient(userID string) guidance.Patient {
	r.t.Helper()
	patient, err := r.CreatePatient(r.t.Context(), portal, guidance.Patient{UserID: userID, Sex: "female", Age: guidance.Age{Value: 34, Unit: assessment.Year}})
	if err != nil {
		r.t.Fatal(err)
	}
	return patient
}

// found are the users whom contact data finds.
func (r *rig) found(find guidance.Contact) []guidance.User {
	r.t.Helper()
	users, total, err := r.Users(r.t.Context(), portal, find, all)
	if err != nil || total != int64(len(users)) {
		r.t.Fatalf("%d of %d users, %v", len(users), total, err)
	}
	return users
}

// acts is what is recorded, the latest first.
func (r *rig) acts() []audit.Record {
	r.t.Helper()
	records, _, err := r.Audit(r.t.Context(), audit.Filter{}, all)
	if err != nil {
		r.t.Fatal(err)
	}
	return records
}

func TestUsersAreFoundByContact(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	user := r.user(ada)
	r.user(guidance.Contact{})
	for name, test := range map[string]struct {
		find guidance.Contact
		want []guidance.User
	}{
		"by address":         {guidance.Contact{Email: "ADA@PORTAL.EXAMPLE"}, []guidance.User{user}},
		"by number":          {guidance.Contact{Phone: ada.Phone}, []guidance.User{user}},
		"by another address": {guidance.Contact{Email: "eve@portal.example"}, []guidance.User{}},
		"a number as one":    {guidance.Contact{Email: ada.Phone}, []guidance.User{}},
	} {
		if diff := cmp.Diff(test.want, r.found(test.find)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := len(r.found(guidance.Contact{})); got != 2 {
		t.Errorf("%d users in all", got)
	}
}

func TestContactBelongsToOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user(ada)
	eve := r.user(guidance.Contact{Email: "eve@portal.example"})
	var taken *storage.TakenError
	if _, err := r.CreateUser(t.Context(), portal, guidance.Contact{Email: "ada@PORTAL.example"}); !errors.As(err, &taken) || taken.Kind != "email" {
		t.Errorf("got %v", err)
	}
	_, err := r.ChangeUser(t.Context(), portal, eve.ID, func(contact *guidance.Contact) { contact.Phone = ada.Phone })
	if !errors.As(err, &taken) || taken.Kind != "phone" {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]guidance.User{eve}, r.found(eve.Contact)); diff != "" {
		t.Errorf("a change that was refused (-want +got):\n%s", diff)
	}
	if _, err := r.ChangeUser(t.Context(), portal, eve.ID, func(contact *guidance.Contact) { contact.Email = "Eve@portal.example" }); err != nil {
		t.Errorf("her own address in other letters: %v", err)
	}
}

// Nobody can read from the database who the users are.
func TestContactIsSealed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	user := r.user(ada)
	if _, err := r.ChangeUser(t.Context(), portal, user.ID, func(contact *guidance.Contact) { contact.Email = "lovelace@portal.example" }); err != nil {
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

func TestActsAreRecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	user := r.user(ada)
	patient := r.patient(user.ID)
	self := audit.Actor{UserID: user.ID}
	for _, act := range []func() error{
		func() error { _, err := r.User(ctx, portal, user.ID); return err },
		func() error { _, _, err := r.Users(ctx, portal, ada, all); return err },
		func() error { _, err := r.ChangeUser(ctx, portal, user.ID, func(*guidance.Contact) {}); return err },
		func() error { _, err := r.Export(ctx, portal, user.ID); return err },
		func() error { _, err := r.Patient(ctx, self, patient.ID); return err },
		func() error { _, _, err := r.Patients(ctx, self, "", all); return err },
		func() error {
			_, err := r.ChangePatient(ctx, portal, patient.ID, func(*guidance.Patient) error { return nil })
			return err
		},
		func() error { return r.DeletePatient(ctx, portal, patient.ID) },
		func() error { return r.DeleteUser(ctx, portal, user.ID) },
	} {
		if err := act(); err != nil {
			t.Fatal(err)
		}
	}
	record := func(by audit.Actor, action audit.Action, resource audit.Resource, id string) audit.Record {
		return audit.Record{At: now, Actor: by, Action: action, Resource: resource, ResourceID: id}
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
	if diff := cmp.Diff(want, r.acts()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// What was refused is not recorded as done.
func TestRefusedIsNotRecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	user := r.user(ada)
	patient := r.patient(user.ID)
	before, refused := len(r.acts()), errors.New("refused")
	for name, act := range map[string]func() error{
		"taken":     func() error { _, err := r.CreateUser(ctx, portal, ada); return err },
		"nobody":    func() error { _, err := r.User(ctx, portal, "x"); return err },
		"deletion":  func() error { return r.DeleteUser(ctx, portal, "x") },
		"no export": func() error { _, err := r.Export(ctx, portal, "x"); return err },
		"dangling":  func() error { _, err := r.CreatePatient(ctx, portal, guidance.Patient{UserID: "x"}); return err },
		"change": func() error {
			_, err := r.ChangePatient(ctx, portal, patient.ID, func(*guidance.Patient) error { return refused })
			return err
		},
		"another's": func() error { _, err := r.Patient(ctx, audit.Actor{UserID: "x"}, patient.ID); return err },
	} {
		if err := act(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := len(r.acts()); got != before {
		t.Errorf("%d acts are recorded, want %d", got, before)
	}
}

// An end user sees and changes nobody else's patients, and cannot tell them from
// those that do not exist.
func TestEndUserReachesOwnPatients(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	user, other := r.user(ada), r.user(guidance.Contact{})
	own, foreign := r.patient(user.ID), r.patient(other.ID)
	self := audit.Actor{UserID: user.ID}
	if got, err := r.Patient(ctx, self, own.ID); err != nil || got.ID != own.ID {
		t.Errorf("own: %v, %v", got, err)
	}
	_, read := r.Patient(ctx, self, foreign.ID)
	_, none := r.Patient(ctx, self, "x")
	_, changed := r.ChangePatient(ctx, self, foreign.ID, func(*guidance.Patient) error { t.Error("changed"); return nil })
	_, _, listed := r.Patients(ctx, self, other.ID, all)
	for what, err := range map[string]error{"another's": read, "nobody's": none, "change": changed, "list of another's": listed} {
		if !errors.Is(err, storage.ErrNotFound) || err.Error() != none.Error() {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for _, filter := range []string{"", user.ID} {
		page, total, err := r.Patients(ctx, self, filter, all)
		if diff := cmp.Diff([]guidance.Patient{own}, page); diff != "" || total != 1 || err != nil {
			t.Errorf("%d, %v (-want +got):\n%s", total, err, diff)
		}
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	user, other := r.user(ada), r.user(guidance.Contact{})
	own := r.patient(user.ID)
	r.patient(other.ID)
	export, err := r.Export(t.Context(), portal, user.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(user, export.User) + cmp.Diff([]guidance.Patient{own}, export.Patients); diff != "" {
		t.Errorf("export (-want +got):\n%s", diff)
	}
	if len(export.Audit) != 3 || export.Audit[0].Action != audit.Export {
		t.Errorf("recorded %v", export.Audit)
	}
}

// turn adds a key to each keyset, or makes the newest the primary one.
func (r *rig) turn(change func(*keyset.Manager, *tinkpb.KeyTemplate)) {
	r.t.Helper()
	for name, template := range map[string]*tinkpb.KeyTemplate{"encryption.json": aead.AES256GCMKeyTemplate(), "lookup.json": prf.HMACSHA256PRFKeyTemplate()} {
		path := filepath.Join(r.keysets, name)
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

func (r *rig) addKeys(primary bool) {
	r.t.Helper()
	r.turn(func(manager *keyset.Manager, template *tinkpb.KeyTemplate) {
		id, err := manager.Add(template)
		if err == nil && primary {
			err = manager.SetPrimary(id)
		}
		if err != nil {
			r.t.Error(err)
		}
	})
}

// While the keysets turn, replicas that know different keys find each other's users
// and keep each address for one.
func TestReplicasWithDifferentKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := r.user(ada)
	r.addKeys(false)
	ahead := *r
	ahead.Register = &people.Register{Storage: r.Storage, Now: r.Now}
	ahead.Keys, _ = ahead.openKeys()
	late := r.user(guidance.Contact{Email: "late@portal.example"})
	early := ahead.user(guidance.Contact{Email: "early@portal.example"})
	for _, replica := range []*rig{r, &ahead} {
		for _, user := range []guidance.User{before, late, early} {
			if diff := cmp.Diff([]guidance.User{user}, replica.found(guidance.Contact{Email: user.Email})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if _, err := replica.CreateUser(t.Context(), portal, user.Contact); !errors.Is(err, storage.ErrTaken) {
				t.Errorf("%s was given away twice: %v", user.Email, err)
			}
		}
	}
}

// Once the keys have turned, everything is sealed and hashed with the new ones, by
// several replicas at once, and nobody is lost.
func TestRenew(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	users := []guidance.User{r.user(ada)}
	for range 250 {
		users = append(users, r.user(guidance.Contact{}))
	}
	if renewed, err := r.Renew(t.Context()); renewed != 0 || err != nil {
		t.Errorf("renewed %d with the same keys, %v", renewed, err)
	}
	r.addKeys(true)
	if err := r.source.Load(); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if _, err := r.Renew(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if renewed, err := r.Renew(t.Context()); renewed != 0 || err != nil {
		t.Errorf("renewed %d again, %v", renewed, err)
	}
	// The former keys are gone, and nothing hangs on them.
	r.turn(func(manager *keyset.Manager, _ *tinkpb.KeyTemplate) { r.deleteOldest(manager) })
	if err := r.source.Load(); err != nil {
		t.Fatal(err)
	}
	for _, user := range []guidance.User{users[0], users[100], users[250]} {
		if got, err := r.User(t.Context(), portal, user.ID); err != nil || !cmp.Equal(got, user) {
			t.Errorf("got %v, %v, want %v", got, err, user)
		}
	}
	if diff := cmp.Diff(users[:1], r.found(ada)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

func (r *rig) deleteOldest(manager *keyset.Manager) {
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

// Keys that were lost are told, and what they sealed stays for when they are back.
func TestLostKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	user := r.user(ada)
	kept := r.Keys
	var err error
	if r.Keys, err = sealing.Generate(); err != nil {
		t.Fatal(err)
	}
	_, read := r.User(t.Context(), portal, user.ID)
	_, changed := r.ChangeUser(t.Context(), portal, user.ID, func(*guidance.Contact) {})
	_, renewed := r.Renew(t.Context())
	for what, err := range map[string]error{"read": read, "change": changed, "renewal": renewed} {
		if !errors.Is(err, sealing.ErrSealed) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	r.Keys = kept
	if diff := cmp.Diff([]guidance.User{user}, r.found(ada)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A storage that is down is an error, and no panic.
func TestStorageDown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.CreateUser(ctx, portal, ada); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, _, err := r.Users(ctx, portal, ada, all); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
