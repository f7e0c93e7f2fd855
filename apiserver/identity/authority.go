// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"time"
)

// Authority makes the tokens of one instance and says what one is good for. All
// its fields but Issuer and Now are required, and none may change.
type Authority struct {
	Instance     string           // the id of the instance, the audience of its access tokens
	Issuer       func() string    // who tokens say made them, such as the instance's address; empty: Instance
	Applications *Applications    // who may have a token
	Keys         *SigningKeys     // what signs tokens
	Now          func() time.Time // empty: time.Now
}

// TokenRequest is a request for an access token as OAuth 2.0 has it.
type TokenRequest struct {
	Instance  string // the Instance-Id header
	ID, Key   string // the application's, from the Authorization header
	GrantType string // "client_credentials"
	Scope     string // the scopes asked for; empty: all that the application has
}

// OAuthError is an error of RFC 6749, section 5.2.
type OAuthError struct {
	Code        string // one of the codes below
	Description string // for a developer, without secrets
}

// The codes of an OAuthError.
const (
	InvalidClient        = "invalid_client"
	InvalidRequest       = "invalid_request"
	InvalidScope         = "invalid_scope"
	UnsupportedGrantType = "unsupported_grant_type"
)

// Error returns the code and the description.
func (e *OAuthError) Error() string { return e.Code + ": " + e.Description }

// Token gives an application an access token that is good for TokenLifetime.
// What is wrong with the request is an *OAuthError.
func (a *Authority) Token(request TokenRequest) (token string, err error) {
	application, err := a.Client(request)
	switch {
	case err != nil:
		return "", err
	case request.GrantType == "":
		return "", &OAuthError{InvalidRequest, "grant_type is missing; it has to be client_credentials"}
	case request.GrantType != "client_credentials":
		return "", &OAuthError{UnsupportedGrantType, "grant_type has to be client_credentials"}
	}
	scopes, err := granted(application, request.Scope)
	if err != nil {
		return "", err
	}
	now := a.now()
	return a.Keys.sign(accessTokens, now, claims{
		RegisteredClaims: a.registered(application.ID, a.Instance, now, now.Add(TokenLifetime)),
		Scope:            FormatScopes(scopes),
	})
}

// Client returns the application that asks for a token. It judges what the
// headers of a request say, so that nobody has to read the body of a stranger.
// Any error is an *OAuthError.
func (a *Authority) Client(request TokenRequest) (Application, error) {
	application, ok := a.authenticate(request.ID, request.Key)
	switch {
	case !ok:
		return Application{}, &OAuthError{InvalidClient, "the application's id or key is wrong"}
	case request.Instance != a.Instance+"-mgp":
		return Application{}, &OAuthError{InvalidClient, "the Instance-Id header has to be this instance's id followed by -mgp"}
	}
	return application, nil
}

// Addressed says whether the Instance-Id header of an end user's call names this
// instance, with -mgp or without.
func (a *Authority) Addressed(instance string) bool {
	return instance == a.Instance || instance == a.Instance+"-mgp"
}

// authenticate takes the id and the key as they are, as RFC 7617 has clients
// send them, or percent-encoded, as RFC 6749 and so most OAuth libraries do.
func (a *Authority) authenticate(id, key string) (Application, bool) {
	if application, ok := a.Applications.Authenticate(id, key); ok {
		return application, true
	}
	plainID, idErr := url.QueryUnescape(id)
	plainKey, keyErr := url.QueryUnescape(key)
	if idErr != nil || keyErr != nil {
		return Application{}, false
	}
	return a.Applications.Authenticate(plainID, plainKey)
}

// granted returns the scopes asked for, or all when none is.
func granted(application Application, asked string) ([]Scope, error) {
	scopes, err := ParseScopes(asked)
	if err != nil {
		return nil, &OAuthError{InvalidScope, err.Error()}
	}
	if len(scopes) == 0 {
		return application.Scopes, nil
	}
	for _, scope := range scopes {
		if !application.May(scope) {
			return nil, &OAuthError{InvalidScope, fmt.Sprintf("the application does not have the scope %s", scope)}
		}
	}
	return scopes, nil
}

// Caller is who calls with an access token, and what the token lets it do.
type Caller struct {
	Application string // its id; empty of an end user
	UserID      string // of the end user who calls; empty of an application
	Scopes      []Scope
}

// May reports whether the caller has the scope.
func (c Caller) May(scope Scope) bool { return slices.Contains(c.Scopes, scope) }

// Caller returns who calls with this access token: an end user, or an application
// that still exists, with those scopes of the token that it still has. Any error is
// an *InvalidTokenError.
func (a *Authority) Caller(token string) (Caller, error) {
	if userTokens.claimed(token) {
		return a.userCaller(token)
	}
	var said claims
	if err := a.Keys.verify(accessTokens, token, a.Instance, a.now(), &said); err != nil {
		return Caller{}, err
	}
	application, exists := a.Applications.Lookup(said.Subject)
	if !exists {
		return Caller{}, accessTokens.invalid("is that of an application that does not exist any more")
	}
	scopes, err := ParseScopes(said.Scope)
	if err != nil {
		return Caller{}, accessTokens.invalid("has a scope that does not exist")
	}
	return Caller{Application: application.ID, Scopes: intersect(scopes, application.Scopes)}, nil
}

// issuer is who tokens say made them.
func (a *Authority) issuer() string {
	if a.Issuer == nil {
		return a.Instance
	}
	return cmp.Or(a.Issuer(), a.Instance)
}

func (a *Authority) now() time.Time {
	if a.Now == nil {
		return time.Now()
	}
	return a.Now()
}
