// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"cmp"
	"fmt"
	"net/url"
	"time"
)

// TokenIssuer issues and verifies the tokens of an instance. All fields except Issuer and Now
// are required. Fields must not be modified after first use.
type TokenIssuer struct {
	InstanceID   string           // audience of access tokens
	Issuer       func() string    // iss claim, such as the instance's address; defaults to InstanceID
	Applications *Applications    // applications that may request tokens
	SigningKeys  *SigningKeys     // keys that sign the tokens
	Now          func() time.Time // defaults to time.Now
}

// TokenRequest is an OAuth 2.0 access token request.
type TokenRequest struct {
	InstanceID             string // Instance-Id header
	ClientID, ClientSecret string // application credentials from the Authorization header
	GrantType              string // "client_credentials"
	Scope                  string // requested scopes; defaults to all scopes of the application
}

// OAuthError is an error response of RFC 6749, section 5.2.
type OAuthError struct {
	Code        string // one of the codes below
	Description string // for developers; contains no secrets
}

// Codes of an OAuthError.
const (
	InvalidClient        = "invalid_client"
	InvalidRequest       = "invalid_request"
	InvalidScope         = "invalid_scope"
	UnsupportedGrantType = "unsupported_grant_type"
)

// Error returns the code and the description.
func (e *OAuthError) Error() string { return e.Code + ": " + e.Description }

// IssueToken issues an access token to an application, valid for TokenLifetime. Errors
// in the request are *OAuthError.
func (i *TokenIssuer) IssueToken(request TokenRequest) (token string, err error) {
	application, err := i.AuthenticateClient(request)
	switch {
	case err != nil:
		return "", err
	case request.GrantType == "":
		return "", &OAuthError{InvalidRequest, "grant_type is missing; use client_credentials"}
	case request.GrantType != "client_credentials":
		return "", &OAuthError{UnsupportedGrantType, "unsupported grant_type; use client_credentials"}
	}
	scopes, err := grantedScopes(application, request.Scope)
	if err != nil {
		return "", err
	}
	now := i.now()
	return i.SigningKeys.sign(accessTokenKind, now, accessTokenClaims{
		RegisteredClaims: i.registeredClaims(application.ID, i.InstanceID, now, now.Add(TokenLifetime)),
		Scope:            FormatScopes(scopes),
	})
}

// AuthenticateClient authenticates the application that requests a token. It needs only
// the request headers, so the body of an unauthenticated request is never read. All
// errors are *OAuthError.
func (i *TokenIssuer) AuthenticateClient(request TokenRequest) (Application, error) {
	application, ok := i.authenticate(request.ClientID, request.ClientSecret)
	switch {
	case !ok:
		return Application{}, &OAuthError{InvalidClient, "the application's id or key is wrong"}
	case request.InstanceID != i.InstanceID+"-mgp":
		return Application{}, &OAuthError{InvalidClient, "the Instance-Id header must be this instance's id followed by -mgp"}
	}
	return application, nil
}

// MatchesInstance reports whether the Instance-Id header of an end user's request identifies
// this instance, with or without the -mgp suffix.
func (i *TokenIssuer) MatchesInstance(instance string) bool {
	return instance == i.InstanceID || instance == i.InstanceID+"-mgp"
}

// authenticate accepts the id and key verbatim, as in RFC 7617, or percent-encoded, as
// in RFC 6749 and most OAuth libraries.
func (i *TokenIssuer) authenticate(id, key string) (Application, bool) {
	if application, ok := i.Applications.Authenticate(id, key); ok {
		return application, true
	}
	plainID, idErr := url.QueryUnescape(id)
	plainKey, keyErr := url.QueryUnescape(key)
	if idErr != nil || keyErr != nil {
		return Application{}, false
	}
	return i.Applications.Authenticate(plainID, plainKey)
}

// grantedScopes returns the requested scopes, or all scopes of the application if none
// are requested.
func grantedScopes(application Application, requested string) ([]Scope, error) {
	scopes, err := ParseScopes(requested)
	if err != nil {
		return nil, &OAuthError{InvalidScope, err.Error()}
	}
	if len(scopes) == 0 {
		return application.Scopes, nil
	}
	for _, scope := range scopes {
		if !application.HasScope(scope) {
			return nil, &OAuthError{InvalidScope, fmt.Sprintf("the application does not have the scope %s", scope)}
		}
	}
	return scopes, nil
}

// VerifyAccessToken returns the principal of an access token: an end user or an existing
// application, with those scopes of the token that the application still has. All errors are
// *InvalidTokenError.
func (i *TokenIssuer) VerifyAccessToken(token string) (Principal, error) {
	if userTokenKind.matchesUnverified(token) {
		return i.verifyUserToken(token)
	}
	var claims accessTokenClaims
	if err := i.SigningKeys.verify(accessTokenKind, token, i.InstanceID, i.now(), &claims); err != nil {
		return Principal{}, err
	}
	application, exists := i.Applications.Lookup(claims.Subject)
	if !exists {
		return Principal{}, accessTokenKind.invalidError("the application no longer exists")
	}
	scopes, err := ParseScopes(claims.Scope)
	if err != nil {
		return Principal{}, accessTokenKind.invalidError("unknown scope")
	}
	application.Scopes = intersectScopes(scopes, application.Scopes)
	return application.Principal(), nil
}

// issuer returns the iss claim of tokens.
func (i *TokenIssuer) issuer() string {
	if i.Issuer == nil {
		return i.InstanceID
	}
	return cmp.Or(i.Issuer(), i.InstanceID)
}

func (i *TokenIssuer) now() time.Time {
	if i.Now == nil {
		return time.Now()
	}
	return i.Now()
}
