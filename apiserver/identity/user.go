// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/rand"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// SessionLifetime is how long a session of the survey page is good, at most.
const SessionLifetime = 12 * time.Hour

// userScopes are what end users may do, with what is theirs.
var userScopes = []Scope{KnowledgeRead, QuestionRead, QuestionWrite, SurveyRead, PatientRead}

var (
	// userTokens are the access tokens of end users.
	userTokens = tokenKind{name: "the access token", typ: "user+jwt", maxSize: 8 << 10}
	// sessions are those of the survey page: each reaches one survey, or all of one
	// user, and no other endpoint takes it.
	sessions = tokenKind{name: "the session", typ: "session+jwt", maxSize: 2 << 10}
)

// IssueUserToken makes an access token for an end user, good for TokenLifetime.
func (a *Authority) IssueUserToken(userID string) (token string, err error) {
	now := a.now()
	return a.Keys.sign(userTokens, now, claims{
		RegisteredClaims: a.registered(userID, a.users(), now, now.Add(TokenLifetime)),
		Scope:            FormatScopes(userScopes),
	})
}

// Session says who is at the survey page, and at which survey, or that it is at all
// that are the user's own.
type Session struct {
	UserID, SurveyID string
	Own              bool
}

// Reaches says whether a session is one at a survey, which has to be the user's.
func (s Session) Reaches(surveyID string) bool { return s.Own || s.SurveyID == surveyID }

// sessionClaims are what a session says.
type sessionClaims struct {
	jwt.RegisteredClaims
	Survey string `json:"survey,omitempty"`
	Own    bool   `json:"own,omitempty"`
}

// IssueSession makes a session, good for SessionLifetime and not longer than until
// the survey ends.
func (a *Authority) IssueSession(session Session, surveyEnds time.Time) (token string, err error) {
	now := a.now()
	until := now.Add(SessionLifetime)
	if surveyEnds.Before(until) {
		until = surveyEnds
	}
	return a.Keys.sign(sessions, now, sessionClaims{
		RegisteredClaims: a.registered(session.UserID, a.page(), now, until),
		Survey:           session.SurveyID, Own: session.Own,
	})
}

// IssueOwnSession makes a session at all surveys of a user who signed in, good for
// SessionLifetime.
func (a *Authority) IssueOwnSession(userID string) (token string, err error) {
	return a.IssueSession(Session{UserID: userID, Own: true}, a.now().Add(SessionLifetime))
}

// VerifySession returns what a session is good for. Any error is an
// *InvalidTokenError.
func (a *Authority) VerifySession(token string) (Session, error) {
	var said sessionClaims
	if err := a.Keys.verify(sessions, token, a.page(), a.now(), &said); err != nil {
		return Session{}, err
	}
	if said.Subject == "" || said.Own == (said.Survey != "") {
		return Session{}, sessions.invalid("names no survey")
	}
	return Session{UserID: said.Subject, SurveyID: said.Survey, Own: said.Own}, nil
}

// userCaller returns the end user who calls with an access token.
func (a *Authority) userCaller(token string) (Caller, error) {
	var said claims
	if err := a.Keys.verify(userTokens, token, a.users(), a.now(), &said); err != nil {
		return Caller{}, err
	}
	scopes, err := ParseScopes(said.Scope)
	if err != nil || said.Subject == "" {
		return Caller{}, userTokens.invalid("is not one of an end user")
	}
	return Caller{UserID: said.Subject, Scopes: intersect(scopes, userScopes)}, nil
}

// registered are the claims that all tokens have.
func (a *Authority) registered(subject, audience string, now, until time.Time) jwt.RegisteredClaims {
	return jwt.RegisteredClaims{
		Issuer:    a.issuer(),
		Subject:   subject,
		Audience:  jwt.ClaimStrings{audience},
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(until),
		ID:        rand.Text(),
	}
}

// users is the audience of the tokens of end users, page that of sessions. No id of
// an instance has a slash.
func (a *Authority) users() string { return a.Instance + "/users" }
func (a *Authority) page() string  { return a.Instance + "/page" }
