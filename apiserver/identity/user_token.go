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
	// userTokenKind is the kind of end users' access tokens.
	userTokenKind = tokenKind{name: "access token", typ: "user+jwt", maxSize: 8 << 10}
	// sessionTokenKind is the kind of the survey page's tokens. Each grants access to one
	// survey or to all surveys of one user; no other endpoint accepts them.
	sessionTokenKind = tokenKind{name: "session token", typ: "session+jwt", maxSize: 2 << 10}
)

// IssueUserToken issues an access token to an end user, valid for TokenLifetime.
func (i *TokenIssuer) IssueUserToken(userID string) (token string, err error) {
	now := i.now()
	return i.SigningKeys.sign(userTokenKind, now, accessTokenClaims{
		RegisteredClaims: i.registeredClaims(userID, i.userAudience(), now, now.Add(TokenLifetime)),
		Scope:            FormatScopes(userScopes),
	})
}

// Session identifies a user of the survey page and the survey that the session may access, or
// all surveys of the user.
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

// IssueSession issues a session token that is valid for SessionLifetime, but expires no later
// than the survey.
func (i *TokenIssuer) IssueSession(session Session, surveyEnds time.Time) (token string, err error) {
	now := i.now()
	until := now.Add(SessionLifetime)
	if surveyEnds.Before(until) {
		until = surveyEnds
	}
	return i.SigningKeys.sign(sessionTokenKind, now, sessionClaims{
		RegisteredClaims: i.registeredClaims(session.UserID, i.sessionAudience(), now, until),
		SurveyID:         session.SurveyID, AllSurveys: session.AllSurveys,
	})
}

// IssueUserSession issues a session token for all surveys of a signed-in user. It is valid
// for SessionLifetime.
func (i *TokenIssuer) IssueUserSession(userID string) (token string, err error) {
	return i.IssueSession(Session{UserID: userID, AllSurveys: true}, i.now().Add(SessionLifetime))
}

// VerifySession verifies a session token. All errors are *InvalidTokenError.
func (i *TokenIssuer) VerifySession(token string) (Session, error) {
	var claims sessionClaims
	if err := i.SigningKeys.verify(sessionTokenKind, token, i.sessionAudience(), i.now(), &claims); err != nil {
		return Session{}, err
	}
	if claims.Subject == "" || claims.AllSurveys == (claims.SurveyID != "") {
		return Session{}, sessionTokenKind.invalidError("missing survey id")
	}
	return Session{UserID: claims.Subject, SurveyID: claims.SurveyID, AllSurveys: claims.AllSurveys}, nil
}

// verifyUserToken returns the end user of an access token.
func (i *TokenIssuer) verifyUserToken(token string) (Principal, error) {
	var claims accessTokenClaims
	if err := i.SigningKeys.verify(userTokenKind, token, i.userAudience(), i.now(), &claims); err != nil {
		return Principal{}, err
	}
	scopes, err := ParseScopes(claims.Scope)
	if err != nil || claims.Subject == "" {
		return Principal{}, userTokenKind.invalidError("not issued to an end user")
	}
	return Principal{Actor: audit.Actor{UserID: claims.Subject}, Scopes: intersectScopes(scopes, userScopes)}, nil
}

// registeredClaims returns the claims common to all tokens.
func (i *TokenIssuer) registeredClaims(subject, audience string, now, until time.Time) jwt.RegisteredClaims {
	return jwt.RegisteredClaims{
		Issuer:    i.issuer(),
		Subject:   subject,
		Audience:  jwt.ClaimStrings{audience},
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(until),
		ID:        rand.Text(),
	}
}

// userAudience returns the audience of end users' access tokens, and sessionAudience
// the audience of session tokens. Instance ids contain no slash.
func (i *TokenIssuer) userAudience() string    { return i.InstanceID + "/users" }
func (i *TokenIssuer) sessionAudience() string { return i.InstanceID + "/page" }
