// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
)

// authorization returns the middleware that authorizes calls. It reads headers only, so that
// the bodies of unauthenticated requests are never read.
func (h handlers) authorization() middleware.Authorization {
	return middleware.Authorization{
		Operations: h.Operations,
		Authenticators: map[access.Scheme]middleware.Authenticator{
			access.SchemeClientCredentials: h.authenticateClient,
			access.SchemeAccessToken:       h.authenticateToken,
		},
		Deny: deny,
	}
}

// deny responds to a call that the principal is not allowed to make.
func deny(w http.ResponseWriter, _ *http.Request, err error) {
	detail := "this operation is not allowed with this access token"
	if denied, ok := errors.AsType[*access.DeniedError](err); ok {
		switch {
		case denied.MissingScope != "":
			detail = fmt.Sprintf("the access token lacks the scope %s", denied.MissingScope)
		case denied.OperationID == "getMagicLink":
			detail = "end users cannot create magic links"
		}
	}
	writeError(w, http.StatusForbidden, detail)
}

// authenticateClient authenticates a token request by the application's ID and key. The
// context carries the token request with the fields that the headers contain.
func (h handlers) authenticateClient(w http.ResponseWriter, r *http.Request) (ctx context.Context, principal identity.Principal, ok bool) {
	id, key, present := r.BasicAuth()
	if !present {
		writeTokenError(w, &identity.OAuthError{
			Code: identity.InvalidClient, Description: "the header Authorization: Basic <base64 of id:key> is missing",
		})
		return nil, principal, false
	}
	attempt := throttle.Attempt{Client: middleware.RequestInfoFrom(r.Context()).ClientAddr, Name: unescapeID(id), Secret: key}
	if wait := h.Throttle.Wait(attempt); wait > 0 {
		tooManyAttempts(w, r, wait)
		return nil, principal, false
	}
	request := identity.TokenRequest{InstanceID: r.Header.Get("Instance-Id"), ClientID: id, ClientSecret: key}
	application, err := h.TokenIssuer.AuthenticateClient(request)
	var oauthErr *identity.OAuthError
	if errors.As(err, &oauthErr) {
		h.Throttle.RecordFailure(attempt)
		writeTokenError(w, oauthErr)
		return nil, principal, false
	}
	h.Throttle.RecordSuccess(attempt)
	return context.WithValue(r.Context(), tokenRequestKey{}, request), application.Principal(), true
}

// unescapeID decodes a percent-encoded application ID, so that each ID has only one spelling.
func unescapeID(id string) string {
	if plain, err := url.QueryUnescape(id); err == nil {
		return plain
	}
	return id
}

// authenticateToken authenticates a call by its access token.
func (h handlers) authenticateToken(w http.ResponseWriter, r *http.Request) (ctx context.Context, principal identity.Principal, ok bool) {
	token, ok := bearerToken(r)
	if !ok {
		unauthorized(w, "missing Authorization header: expected Bearer <access token>; request a token from POST /api/auth/token")
		return nil, principal, false
	}
	principal, err := h.TokenIssuer.VerifyAccessToken(token)
	if err != nil {
		unauthorized(w, err.Error())
		return nil, principal, false
	}
	return r.Context(), principal, true
}

// bearerToken returns the access token of a request (RFC 6750, section 2.1).
func bearerToken(r *http.Request) (token string, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// tokenRequestKey is the context key of an authenticated token request.
type tokenRequestKey struct{}
