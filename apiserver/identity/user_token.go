// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/rand"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

// SessionLifetime is the maximum lifetime of a survey page session.
const SessionLifetime = 12 * time.Hour

// userScopes are the scopes of end users, limited to their own resources.
var userScopes = []Scope{KnowledgeRead, QuestionRead, QuestionWrite, SurveyRead, PatientRead}

var (
	// userTokenKind describes the access tokens of end users.
	userTokenKind = tokenKind{name: "the access token", typ: "user+jwt", maxSize: 8 << 10}
	// sessionTokenKind describes the tokens of the survey page. Each gives access to one
	// survey or to all surveys of one user; no other endpoint accepts them.
	sessionTokenKind = tokenKind{name: "the session", typ: "session+jwt", maxSize: 2 << 10}
)

// IssueUserToken issues an access token to an end user, valid for TokenLifetime.
func (a *TokenIssuer) IssueUserToken(userID string) (token string, err error) {
	now := a.now()
	return a.SigningKeys.sign(userTokenKind, now, accessTokenClaims{
		RegisteredClaims: a.registeredClaims(userID, a.userAudience(), now, now.Add(TokenLifetime)),
		Scope:            FormatScopes(userScopes),
	})
}

// Session identifies the user of the survey page and the accessible survey, or all
// surveys of the user.
type Session struct {
	UserID, SurveyID string
	AllSurveys       bool
}

// sessionClaims are the claims of a session token.
type sessionClaims struct {
	jwt.RegisteredClaims
	SurveyID   string `json:"survey,omitempty"`
	AllSurveys bool   `json:"own,omitempty"`
}

// IssueSession issues a session that is valid for SessionLifetime, but not past the end
// of the survey.
func (a *TokenIssuer) IssueSession(session Session, surveyEnds time.Time) (token string, err error) {
	now := a.now()
	until := now.Add(SessionLifetime)
	if surveyEnds.Before(until) {
		until = surveyEnds
	}
	return a.SigningKeys.sign(sessionTokenKind, now, sessionClaims{
		RegisteredClaims: a.registeredClaims(session.UserID, a.sessionAudience(), now, until),
		SurveyID:         session.SurveyID, AllSurveys: session.AllSurveys,
	})
}

// IssueUserSession issues a session for all surveys of a signed-in user, valid for
// SessionLifetime.
func (a *TokenIssuer) IssueUserSession(userID string) (token string, err error) {
	return a.IssueSession(Session{UserID: userID, AllSurveys: true}, a.now().Add(SessionLifetime))
}

// VerifySession verifies a session token. All errors are *InvalidTokenError.
func (a *TokenIssuer) VerifySession(token string) (Session, error) {
	var said sessionClaims
	if err := a.SigningKeys.verify(sessionTokenKind, token, a.sessionAudience(), a.now(), &said); err != nil {
		return Session{}, err
	}
	if said.Subject == "" || said.AllSurveys == (said.SurveyID != "") {
		return Session{}, sessionTokenKind.invalidError("does not name a survey")
	}
	return Session{UserID: said.Subject, SurveyID: said.SurveyID, AllSurveys: said.AllSurveys}, nil
}

// verifyUserToken returns the end user of an access token.
func (a *TokenIssuer) verifyUserToken(token string) (Principal, error) {
	var said accessTokenClaims
	if err := a.SigningKeys.verify(userTokenKind, token, a.userAudience(), a.now(), &said); err != nil {
		return Principal{}, err
	}
	scopes, err := ParseScopes(said.Scope)
	if err != nil || said.Subject == "" {
		return Principal{}, userTokenKind.invalidError("does not belong to an end user")
	}
	return Principal{Actor: audit.Actor{UserID: said.Subject}, Scopes: intersectScopes(scopes, userScopes)}, nil
}

// registeredClaims returns the claims common to all tokens.
func (a *TokenIssuer) registeredClaims(subject, audience string, now, until time.Time) jwt.RegisteredClaims {
	return jwt.RegisteredClaims{
		Issuer:    a.issuer(),
		Subject:   subject,
		Audience:  jwt.ClaimStrings{audience},
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(until),
		ID:        rand.Text(),
	}
}

// userAudience and sessionAudience return the audiences of end users' access tokens and
// of sessions. Instance ids contain no slash.
func (a *TokenIssuer) userAudience() string    { return a.InstanceID + "/users" }
func (a *TokenIssuer) sessionAudience() string { return a.InstanceID + "/page" }
