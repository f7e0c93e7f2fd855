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
	issuer := newTokenIssuer(t)
	token, err := issuer.IssueUserToken("ada")
	if err != nil {
		t.Fatal(err)
	}
	got, err := issuer.VerifyAccessToken(token)
	want := Principal{Actor: audit.Actor{UserID: "ada"}, Scopes: []Scope{KnowledgeRead, QuestionRead, QuestionWrite, SurveyRead, PatientRead}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	issuer.Now = func() time.Time { return now.Add(TokenLifetime) }
	if _, err := issuer.VerifyAccessToken(token); err == nil {
		t.Error("expired token was accepted")
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
		issuer := newTokenIssuer(t)
		token, err := issuer.IssueSession(session, now.Add(test.ends))
		if err != nil {
			t.Fatal(err)
		}
		for after, want := range map[time.Duration]bool{0: true, test.good - 2*time.Second: true, test.good + time.Second: false} {
			issuer.Now = func() time.Time { return now.Add(after) }
			got, err := issuer.VerifySession(token)
			if (err == nil) != want || want && got != session {
				t.Errorf("%s, after %v: got %v, %v", name, after, got, err)
			}
		}
	}
}

// TestSessionPrincipal checks that a session is for one survey or for all surveys of a user.
func TestSessionPrincipal(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
	token, err := issuer.IssueUserSession("ada")
	if err != nil {
		t.Fatal(err)
	}
	session, err := issuer.VerifySession(token)
	if p := session.Principal(); err != nil || p.UserID != "ada" || p.Kind() != KindEndUser {
		t.Errorf("got principal %+v, %v for a user session", p, err)
	}
	if p := (Session{UserID: "ada", SurveyID: "s1"}).Principal(); p.UserID != "ada" || p.SurveyID != "s1" || p.Kind() != KindSurveySession {
		t.Errorf("got principal %+v for a survey session", p)
	}
	for _, invalid := range []Session{{UserID: "ada"}, {UserID: "ada", SurveyID: "s1", AllSurveys: true}, {AllSurveys: true}} {
		token, err := issuer.IssueSession(invalid, now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := issuer.VerifySession(token); err == nil {
			t.Errorf("invalid session %+v was accepted", invalid)
		}
	}
}

// TestTokenKindsAreNotInterchangeable checks that every verifier rejects tokens of other
// kinds.
func TestTokenKindsAreNotInterchangeable(t *testing.T) {
	t.Parallel()
	issuer := newTokenIssuer(t)
	application, err1 := issuer.IssueToken(portalRequest())
	user, err2 := issuer.IssueUserToken("portal")
	session, err3 := issuer.IssueSession(Session{UserID: "portal", SurveyID: "s1"}, now.Add(time.Hour))
	interview, err4 := issuer.IssueInterviewToken("service-en", "1")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	verifiers := map[string]func(string) error{
		"application": func(token string) error {
			caller, err := issuer.VerifyAccessToken(token)
			if err == nil && caller.UserID != "" {
				err = errors.New("issued to an end user")
			}
			return err
		},
		"user": func(token string) error {
			caller, err := issuer.VerifyAccessToken(token)
			if err == nil && caller.Application != "" {
				err = errors.New("issued to an application")
			}
			return err
		},
		"session":   func(token string) error { _, err := issuer.VerifySession(token); return err },
		"interview": func(token string) error { _, _, err := issuer.VerifyInterviewToken(token); return err },
	}
	for kind, token := range map[string]string{"application": application, "user": user, "session": session, "interview": interview} {
		for verifier, verify := range verifiers {
			if err := verify(token); (err == nil) != (kind == verifier) {
				t.Errorf("verifying %s token as %s token: %v", kind, verifier, err)
			}
		}
	}
}

// FuzzUserToken checks that tokens that were not issued are rejected without a panic.
func FuzzUserToken(f *testing.F) {
	issuer := newTokenIssuer(f)
	validToken, err := issuer.IssueUserToken("ada")
	if err != nil {
		f.Fatal(err)
	}
	session, err := issuer.IssueSession(Session{UserID: "ada", SurveyID: "s1"}, now.Add(time.Hour))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{validToken, session, "eyJ0eXAiOiJ1c2VyK2p3dCJ9..", "", "..", "eyJ0eXAiOjd9.e30."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if caller, err := issuer.VerifyAccessToken(token); err == nil && token != validToken {
			t.Errorf("%q was accepted as a token of %v", token, caller)
		}
		if got, err := issuer.VerifySession(token); err == nil && token != session {
			t.Errorf("%q was accepted as a token of %v", token, got)
		}
	})
}
