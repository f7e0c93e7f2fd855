// SPDX-License-Identifier: Apache-2.0

package people_test

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

// post keeps the passwords that were sent.
type post struct {
	sync.Mutex
	sent []people.Password
}

func (p *post) send(password people.Password) {
	p.Lock()
	defer p.Unlock()
	p.sent = append(p.sent, password)
}

// last is the code that was sent last.
func (p *post) last(t *testing.T) people.Password {
	t.Helper()
	p.Lock()
	defer p.Unlock()
	if len(p.sent) == 0 {
		t.Fatal("nothing was sent")
	}
	return p.sent[len(p.sent)-1]
}

// signing is a rig with a post and a clock.
type signing struct {
	*rig
	post  *post
	clock *atomic.Pointer[time.Time]
}

func newSigning(t *testing.T) signing {
	t.Helper()
	s := signing{newRig(t), &post{}, &atomic.Pointer[time.Time]{}}
	s.clock.Store(&now)
	s.Now = func() time.Time { return *s.clock.Load() }
	s.Send = s.post.send
	return s
}

func (s signing) wait(long time.Duration) {
	later := s.Now().Add(long)
	s.clock.Store(&later)
}

func (s signing) ask(to guidance.Contact) {
	s.t.Helper()
	if err := s.SendPassword(s.t.Context(), to, "de"); err != nil {
		s.t.Fatal(err)
	}
}

// replica is another server of the same instance.
func (s signing) replica() signing {
	s.t.Helper()
	store, err := open.Open(s.t.Context(), "sqlite:"+s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = store.Close() })
	other := *s.rig
	other.Register = &people.Register{Storage: store, Now: s.Now, Send: s.Send}
	other.Keys, _ = s.openKeys()
	return signing{&other, s.post, s.clock}
}

func TestSignInByPassword(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	user := s.user(ada)
	email, phone := guidance.Contact{Email: "ADA@portal.example"}, guidance.Contact{Phone: ada.Phone}
	for name, test := range map[string]struct {
		by   guidance.Contact
		sent guidance.Contact
	}{
		"by e-mail, to the address that is kept": {email, guidance.Contact{Email: ada.Email}},
		"by text message":                        {phone, phone},
	} {
		s.ask(test.by)
		password := s.post.last(t)
		if password.To != test.sent || password.Language != "de" || len(password.Code) != 6 {
			t.Errorf("%s: sent %+v", name, password)
		}
		if got, err := s.replica().SignInByPassword(t.Context(), test.by, password.Code); got != user.ID || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if _, err := s.SignInByPassword(t.Context(), test.by, password.Code); !errors.Is(err, people.ErrWrongCode) {
			t.Errorf("%s: a code was good twice: %v", name, err)
		}
	}
	s.ask(email)
	code := s.post.last(t).Code
	if _, err := s.SignInByPassword(t.Context(), phone, code); !errors.Is(err, people.ErrWrongCode) {
		t.Errorf("the code of an e-mail signs in by text message: %v", err)
	}
	s.wait(identity.PasswordLifetime)
	if _, err := s.SignInByPassword(t.Context(), email, code); !errors.Is(err, people.ErrWrongCode) {
		t.Errorf("an old code is good: %v", err)
	}
}

func TestSignInsAreRecorded(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	user := s.user(ada)
	s.ask(ada)
	for _, code := range []string{"x", s.post.last(t).Code} {
		_, _ = s.SignInByPassword(t.Context(), guidance.Contact{Email: ada.Email}, code)
	}
	_, _ = s.SignInByPassword(t.Context(), guidance.Contact{Email: "eve@portal.example"}, "x")
	want := []audit.Record{
		{At: now, Action: audit.SignInFailed, Resource: audit.User},
		{At: now, Actor: audit.Actor{UserID: user.ID}, Action: audit.SignIn, Resource: audit.User, ResourceID: user.ID},
		{At: now, Action: audit.SignInFailed, Resource: audit.User, ResourceID: user.ID},
	}
	if diff := cmp.Diff(want, s.acts()[:3]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Replicas share how often one may ask and try, however many do at once.
func TestReplicasShareLimits(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	s.user(ada)
	email := guidance.Contact{Email: ada.Email}
	replicas := []signing{s, s.replica(), s.replica()}
	var group sync.WaitGroup
	for _, replica := range replicas {
		for range 5 {
			group.Go(func() { replica.ask(email) })
		}
	}
	group.Wait()
	if got := len(s.post.sent); got != 5 {
		t.Errorf("sent %d, want 5 in an hour", got)
	}
	s.wait(time.Hour)
	s.ask(email)
	code := s.post.last(t).Code
	wrong := "000000"
	if code == wrong {
		wrong = "111111"
	}
	for _, replica := range replicas {
		for range 2 {
			group.Go(func() { _, _ = replica.SignInByPassword(t.Context(), email, wrong) })
		}
	}
	group.Wait()
	if _, err := s.SignInByPassword(t.Context(), email, code); !errors.Is(err, people.ErrWrongCode) {
		t.Errorf("a code is good after six wrong ones: %v", err)
	}
}

// Whoever is not there is answered alike, gets nothing, and leaves nothing of what
// was asked for.
func TestNobodyIsTold(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	eve := guidance.Contact{Email: "eve@portal.example"}
	for range 7 {
		s.ask(eve)
	}
	if len(s.post.sent) != 0 {
		t.Errorf("sent %v", s.post.sent)
	}
	if _, err := s.SignInByPassword(t.Context(), eve, "000000"); !errors.Is(err, people.ErrWrongCode) {
		t.Errorf("got %v", err)
	}
	content, err := os.ReadFile(s.database + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(content, []byte("eve@")) || !bytes.Contains(content, []byte("nobody/")) {
		t.Error("who asked is kept")
	}
}

// An instance sends so many messages in an hour and no more, to whomever.
func TestNobodyPumpsMessages(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	for i := range 210 {
		contact := guidance.Contact{Phone: "+4930123" + string([]byte{'1' + byte(i/100), '0' + byte(i/10%10), '0' + byte(i%10)}) + "45"}
		s.user(contact)
		for range 5 {
			s.ask(contact)
		}
	}
	if got := len(s.post.sent); got != 1000 {
		t.Errorf("sent %d, want 1000", got)
	}
}

// Nothing that is kept leads to a code.
func TestCodesAreNotKept(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	user := s.user(ada)
	s.ask(ada)
	magic, err := s.CreateMagicCode(t.Context(), identity.Session{UserID: user.ID, SurveyID: "s1"}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(s.database + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{s.post.last(t).Code + `"`, magic} {
		if bytes.Contains(content, []byte(code)) {
			t.Errorf("%q can be read in the database", code)
		}
	}
}

func TestSignInByMagicCode(t *testing.T) {
	t.Parallel()
	s := newSigning(t)
	user := s.user(ada)
	session := identity.Session{UserID: user.ID, SurveyID: "s1"}
	create := func(ends time.Time) string {
		code, err := s.CreateMagicCode(t.Context(), session, ends)
		if err != nil {
			t.Fatal(err)
		}
		return code
	}
	long, short := create(now.Add(1000*time.Hour)), create(now.Add(time.Hour))
	for range 2 { // it may be used again
		if got, until, err := s.SignInByMagicCode(t.Context(), short, "s1"); got != session || !until.Equal(now.Add(time.Hour)) || err != nil {
			t.Errorf("got %v until %v, %v", got, until, err)
		}
	}
	for name, try := range map[string][2]string{"another survey": {long, "s2"}, "another code": {long + "x", "s1"}, "none": {"", ""}} {
		if got, _, err := s.SignInByMagicCode(t.Context(), try[0], try[1]); !errors.Is(err, people.ErrWrongCode) || got != (identity.Session{}) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	s.wait(time.Hour)
	if _, _, err := s.SignInByMagicCode(t.Context(), short, "s1"); !errors.Is(err, people.ErrWrongCode) {
		t.Errorf("a code is good after its survey ended: %v", err)
	}
	s.wait(14*24*time.Hour - time.Hour - 1)
	if _, _, err := s.SignInByMagicCode(t.Context(), long, "s1"); err != nil {
		t.Errorf("a code is not good for two weeks: %v", err)
	}
	s.wait(1)
	if _, _, err := s.SignInByMagicCode(t.Context(), long, "s1"); !errors.Is(err, people.ErrWrongCode) {
		t.Errorf("a code is good after two weeks: %v", err)
	}
	if err := s.DeleteUser(t.Context(), portal, user.ID); err != nil {
		t.Fatal(err)
	}
}
