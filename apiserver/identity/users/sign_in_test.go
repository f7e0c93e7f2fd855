// SPDX-License-Identifier: Apache-2.0

package users_test

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

// sentPasswords collects the passwords that were sent.
type sentPasswords struct {
	sync.Mutex
	passwords []users.OneTimePassword
}

func (p *sentPasswords) add(password users.OneTimePassword) {
	p.Lock()
	defer p.Unlock()
	p.passwords = append(p.passwords, password)
}

// last returns the most recently sent password.
func (p *sentPasswords) last(t *testing.T) users.OneTimePassword {
	t.Helper()
	p.Lock()
	defer p.Unlock()
	if len(p.passwords) == 0 {
		t.Fatal("no password was sent")
	}
	return p.passwords[len(p.passwords)-1]
}

// signInHarness is a harness that collects sent passwords and has a settable clock.
type signInHarness struct {
	*harness
	sent  *sentPasswords
	clock *atomic.Pointer[time.Time]
}

func newSignInHarness(t *testing.T) signInHarness {
	t.Helper()
	s := signInHarness{newHarness(t), &sentPasswords{}, &atomic.Pointer[time.Time]{}}
	s.clock.Store(&now)
	s.Now = func() time.Time { return *s.clock.Load() }
	s.Deliver = s.sent.add
	return s
}

func (s signInHarness) advance(duration time.Duration) {
	later := s.Now().Add(duration)
	s.clock.Store(&later)
}

func (s signInHarness) requestPassword(to record.Contact) {
	s.t.Helper()
	if err := s.SendOneTimePassword(s.t.Context(), to, "de"); err != nil {
		s.t.Fatal(err)
	}
}

// newReplica returns another server of the same instance.
func (s signInHarness) newReplica() signInHarness {
	s.t.Helper()
	store, err := open.Open(s.t.Context(), "sqlite:"+s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = store.Close() })
	replica := *s.harness
	replica.Service = &users.Service{Storage: storage.Scope[users.Reader, users.Tx]{Store: store}, Now: s.Now, Deliver: s.Deliver}
	replica.Keyring, _ = s.loadKeyring()
	return signInHarness{&replica, s.sent, s.clock}
}

func TestSignInWithPassword(t *testing.T) {
	t.Parallel()
	s := newSignInHarness(t)
	user := s.createUser(ada)
	email, phone := record.Contact{Email: "ADA@portal.example"}, record.Contact{Phone: ada.Phone}
	for name, test := range map[string]struct {
		by   record.Contact
		sent record.Contact
	}{
		"by e-mail, to the address that is kept": {email, record.Contact{Email: ada.Email}},
		"by text message":                        {phone, phone},
	} {
		s.requestPassword(test.by)
		password := s.sent.last(t)
		if password.To != test.sent || password.Language != "de" || len(password.Code) != 6 {
			t.Errorf("%s: sent password %+v", name, password)
		}
		if got, err := s.newReplica().SignInWithPassword(t.Context(), test.by, password.Code); got != user.ID || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if _, err := s.SignInWithPassword(t.Context(), test.by, password.Code); !errors.Is(err, users.ErrInvalidCode) {
			t.Errorf("%s: second use of a code: got %v", name, err)
		}
	}
	s.requestPassword(email)
	code := s.sent.last(t).Code
	if _, err := s.SignInWithPassword(t.Context(), phone, code); !errors.Is(err, users.ErrInvalidCode) {
		t.Errorf("code sent by email used with the phone number: got %v", err)
	}
	s.advance(identity.OneTimePasswordLifetime)
	if _, err := s.SignInWithPassword(t.Context(), email, code); !errors.Is(err, users.ErrInvalidCode) {
		t.Errorf("expired code: got %v", err)
	}
}

func TestSignInsAreAudited(t *testing.T) {
	t.Parallel()
	s := newSignInHarness(t)
	user := s.createUser(ada)
	s.requestPassword(ada)
	for _, code := range []string{"x", s.sent.last(t).Code} {
		_, _ = s.SignInWithPassword(t.Context(), record.Contact{Email: ada.Email}, code)
	}
	_, _ = s.SignInWithPassword(t.Context(), record.Contact{Email: "eve@portal.example"}, "x")
	want := []audit.Record{
		{At: now, Action: audit.SignInFailed, Resource: audit.User},
		{At: now, Actor: audit.Actor{UserID: user.ID}, Action: audit.SignIn, Resource: audit.User, ResourceID: user.ID},
		{At: now, Action: audit.SignInFailed, Resource: audit.User, ResourceID: user.ID},
	}
	if diff := cmp.Diff(want, s.auditRecords()[:3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReplicasShareRateLimits checks that concurrent replicas share the limits on
// requests and attempts.
func TestReplicasShareRateLimits(t *testing.T) {
	t.Parallel()
	s := newSignInHarness(t)
	s.createUser(ada)
	email := record.Contact{Email: ada.Email}
	replicas := []signInHarness{s, s.newReplica(), s.newReplica()}
	var group sync.WaitGroup
	for _, replica := range replicas {
		for range 5 {
			group.Go(func() { replica.requestPassword(email) })
		}
	}
	group.Wait()
	if got := len(s.sent.passwords); got != 5 {
		t.Errorf("sent %d passwords, want 5 per hour", got)
	}
	s.advance(time.Hour)
	s.requestPassword(email)
	code := s.sent.last(t).Code
	wrong := "000000"
	if code == wrong {
		wrong = "111111"
	}
	for _, replica := range replicas {
		for range 2 {
			group.Go(func() { _, _ = replica.SignInWithPassword(t.Context(), email, wrong) })
		}
	}
	group.Wait()
	if _, err := s.SignInWithPassword(t.Context(), email, code); !errors.Is(err, users.ErrInvalidCode) {
		t.Errorf("valid code after six wrong ones: got %v", err)
	}
}

// TestUnknownContactIsIndistinguishable checks that requests for unknown contacts get the
// same response, send no message, and leave no trace.
func TestUnknownContactIsIndistinguishable(t *testing.T) {
	t.Parallel()
	s := newSignInHarness(t)
	eve := record.Contact{Email: "eve@portal.example"}
	for range 7 {
		s.requestPassword(eve)
	}
	if len(s.sent.passwords) != 0 {
		t.Errorf("sent passwords %v", s.sent.passwords)
	}
	if _, err := s.SignInWithPassword(t.Context(), eve, "000000"); !errors.Is(err, users.ErrInvalidCode) {
		t.Errorf("got %v", err)
	}
	content, err := os.ReadFile(s.database + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(content, []byte("eve@")) || !bytes.Contains(content, []byte("unknown/")) {
		t.Error("storage contains the unknown address")
	}
}

// TestHourlyMessageLimit checks that an instance never exceeds its hourly message limit
// across all recipients.
func TestHourlyMessageLimit(t *testing.T) {
	t.Parallel()
	s := newSignInHarness(t)
	for i := range 210 {
		contact := record.Contact{Phone: "+4930123" + string([]byte{'1' + byte(i/100), '0' + byte(i/10%10), '0' + byte(i%10)}) + "45"}
		s.createUser(contact)
		for range 5 {
			s.requestPassword(contact)
		}
	}
	if got := len(s.sent.passwords); got != 1000 {
		t.Errorf("sent %d passwords, want 1000", got)
	}
}

// TestCodesAreNotStored checks that stored data does not reveal codes.
func TestCodesAreNotStored(t *testing.T) {
	t.Parallel()
	s := newSignInHarness(t)
	user := s.createUser(ada)
	s.requestPassword(ada)
	magic, err := s.CreateMagicCode(t.Context(), identity.Session{UserID: user.ID, SurveyID: "s1"}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(s.database + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{s.sent.last(t).Code + `"`, magic} {
		if bytes.Contains(content, []byte(code)) {
			t.Errorf("found %q in the database", code)
		}
	}
}

func TestSignInWithMagicCode(t *testing.T) {
	t.Parallel()
	s := newSignInHarness(t)
	user := s.createUser(ada)
	session := identity.Session{UserID: user.ID, SurveyID: "s1"}
	create := func(ends time.Time) string {
		code, err := s.CreateMagicCode(t.Context(), session, ends)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	duration, short := create(now.Add(1000*time.Hour)), create(now.Add(time.Hour))
	for range 2 { // codes are reusable
		if got, until, err := s.SignInWithMagicCode(t.Context(), short, "s1"); got != session || !until.Equal(now.Add(time.Hour)) || err != nil {
			t.Errorf("got %v until %v, %v", got, until, err)
		}
	}
	for name, attempt := range map[string][2]string{"another survey": {duration, "s2"}, "another code": {duration + "x", "s1"}, "none": {"", ""}} {
		if got, _, err := s.SignInWithMagicCode(t.Context(), attempt[0], attempt[1]); !errors.Is(err, users.ErrInvalidCode) || got != (identity.Session{}) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	s.advance(time.Hour)
	if _, _, err := s.SignInWithMagicCode(t.Context(), short, "s1"); !errors.Is(err, users.ErrInvalidCode) {
		t.Errorf("code after the end of the survey: got %v", err)
	}
	s.advance(14*24*time.Hour - time.Hour - 1)
	if _, _, err := s.SignInWithMagicCode(t.Context(), duration, "s1"); err != nil {
		t.Errorf("code just before two weeks: got %v", err)
	}
	s.advance(1)
	if _, _, err := s.SignInWithMagicCode(t.Context(), duration, "s1"); !errors.Is(err, users.ErrInvalidCode) {
		t.Errorf("code after two weeks: got %v", err)
	}
	if err := s.DeleteUser(t.Context(), portal, user.ID); err != nil {
		t.Fatal(err)
	}
}
