// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

func TestUserToken(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	token, err := authority.IssueUserToken("ada")
	if err != nil {
		t.Fatal(err)
	}
	got, err := authority.VerifyAccessToken(token)
	want := Principal{Actor: audit.Actor{UserID: "ada"}, Scopes: []Scope{KnowledgeRead, QuestionRead, QuestionWrite, SurveyRead, PatientRead}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	authority.Now = func() time.Time { return now.Add(TokenLifetime) }
	if _, err := authority.VerifyAccessToken(token); err == nil {
		t.Error("a token is good after its time")
	}
}

// TestSessionExpiresWithSurvey checks that a session lasts 12 hours, but not longer than
// its survey.
func TestSessionExpiresWithSurvey(t *testing.T) {
	t.Parallel()
	session := Session{UserID: "ada", SurveyID: "s1"}
	for name, test := range map[string]struct {
		ends, good time.Duration
	}{"of a long survey": {time.Hour * 1000, SessionLifetime}, "of a short one": {time.Hour, time.Hour}} {
		authority := newTokenIssuer(t)
		token, err := authority.IssueSession(session, now.Add(test.ends))
		if err != nil {
			t.Fatal(err)
		}
		for after, want := range map[time.Duration]bool{0: true, test.good - 2*time.Second: true, test.good + time.Second: false} {
			authority.Now = func() time.Time { return now.Add(after) }
			got, err := authority.VerifySession(token)
			if (err == nil) != want || want && got != session {
				t.Errorf("%s, after %v: got %v, %v", name, after, got, err)
			}
		}
	}
}

// TestSessionPrincipal checks that a session is for one survey or for all surveys of a user.
func TestSessionPrincipal(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	own, err := authority.IssueUserSession("ada")
	if err != nil {
		t.Fatal(err)
	}
	at, err := authority.VerifySession(own)
	if p := at.Principal(); err != nil || p.UserID != "ada" || p.Kind() != KindEndUser {
		t.Errorf("a session of a user is %+v, %v", p, err)
	}
	if p := (Session{UserID: "ada", SurveyID: "s1"}).Principal(); p.UserID != "ada" || p.SurveyID != "s1" || p.Kind() != KindSurveySession {
		t.Errorf("a session for one survey is %+v", p)
	}
	for _, odd := range []Session{{UserID: "ada"}, {UserID: "ada", SurveyID: "s1", AllSurveys: true}, {AllSurveys: true}} {
		token, err := authority.IssueSession(odd, now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := authority.VerifySession(token); err == nil {
			t.Errorf("%+v is a session", odd)
		}
	}
}

// TestTokenKindsAreNotInterchangeable checks that every verifier rejects tokens of other
// kinds.
func TestTokenKindsAreNotInterchangeable(t *testing.T) {
	t.Parallel()
	authority := newTokenIssuer(t)
	application, err1 := authority.IssueToken(portalRequest())
	user, err2 := authority.IssueUserToken("portal")
	session, err3 := authority.IssueSession(Session{UserID: "portal", SurveyID: "s1"}, now.Add(time.Hour))
	interview, err4 := authority.IssueInterviewToken("service-en", "1")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	takers := map[string]func(string) error{
		"application": func(token string) error {
			caller, err := authority.VerifyAccessToken(token)
			if err == nil && caller.UserID != "" {
				err = errors.New("it is a user's")
			}
			return err
		},
		"user": func(token string) error {
			caller, err := authority.VerifyAccessToken(token)
			if err == nil && caller.Application != "" {
				err = errors.New("it is an application's")
			}
			return err
		},
		"session":   func(token string) error { _, err := authority.VerifySession(token); return err },
		"interview": func(token string) error { _, _, err := authority.VerifyInterviewToken(token); return err },
	}
	for kind, token := range map[string]string{"application": application, "user": user, "session": session, "interview": interview} {
		for taker, take := range takers {
			if err := take(token); (err == nil) != (kind == taker) {
				t.Errorf("the token of a kind %s shown as %s: %v", kind, taker, err)
			}
		}
	}
}

// FuzzUserToken checks that unissued tokens yield no caller and no panic.
func FuzzUserToken(f *testing.F) {
	authority := newTokenIssuer(f)
	good, err := authority.IssueUserToken("ada")
	if err != nil {
		f.Fatal(err)
	}
	session, err := authority.IssueSession(Session{UserID: "ada", SurveyID: "s1"}, now.Add(time.Hour))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{good, session, "eyJ0eXAiOiJ1c2VyK2p3dCJ9..", "", "..", "eyJ0eXAiOjd9.e30."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if caller, err := authority.VerifyAccessToken(token); err == nil && token != good {
			t.Errorf("%q is taken for %v", token, caller)
		}
		if got, err := authority.VerifySession(token); err == nil && token != session {
			t.Errorf("%q is taken for %v", token, got)
		}
	})
}
