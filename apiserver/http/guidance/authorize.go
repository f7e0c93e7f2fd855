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
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

// authorize admits a call if it satisfies the security requirements of its operation. It
// looks at headers only, so that no body is read for unauthenticated callers. The
// generated code puts the requirements into the request context: the scopes of an access
// token, or the application's own key.
func (h handlers) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(contract.ApplicationScopes) != nil {
			client, ok := h.authenticateClient(w, r)
			if !ok {
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), tokenRequestKey{}, client))
		}
		if scopes, needed := r.Context().Value(contract.AccessTokenScopes).([]string); needed {
			caller, ok := h.authorizeToken(w, r, scopes)
			if !ok {
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), callerKey{}, caller))
		}
		next.ServeHTTP(w, r)
	})
}

// authenticateClient returns the token request as far as the headers define it. It rejects
// a request without a valid application ID and key.
func (h handlers) authenticateClient(w http.ResponseWriter, r *http.Request) (authenticateClient identity.TokenRequest, ok bool) {
	id, key, given := r.BasicAuth()
	if !given {
		writeTokenError(w, &identity.OAuthError{
			Code: identity.InvalidClient, Description: "the header Authorization: Basic <base64 of id:key> is missing",
		})
		return authenticateClient, false
	}
	try := throttle.Attempt{Client: middleware.RequestInfoFrom(r.Context()).ClientAddr, Name: unescapeID(id), Secret: key}
	if wait := h.Throttle.Wait(try); wait > 0 {
		tooManyAttempts(w, r, wait)
		return authenticateClient, false
	}
	authenticateClient = identity.TokenRequest{InstanceID: r.Header.Get("Instance-Id"), ClientID: id, ClientSecret: key}
	application, err := h.TokenIssuer.AuthenticateClient(authenticateClient)
	var refused *identity.OAuthError
	if errors.As(err, &refused) {
		h.Throttle.RecordFailure(try)
		writeTokenError(w, refused)
		return authenticateClient, false
	}
	h.Throttle.RecordSuccess(try)
	middleware.RequestInfoFrom(r.Context()).Application = application.ID
	return authenticateClient, true
}

// unescapeID removes the percent-encoding that an application ID may have here, so that
// the ID has one spelling.
func unescapeID(id string) string {
	if plain, err := url.QueryUnescape(id); err == nil {
		return plain
	}
	return id
}

// authorizeToken returns the caller. It rejects a call without a valid token, or whose
// token lacks a scope.
func (h handlers) authorizeToken(w http.ResponseWriter, r *http.Request, scopes []string) (caller identity.Caller, ok bool) {
	token, ok := bearerToken(r)
	if !ok {
		unauthorized(w, "the header Authorization: Bearer <access token> is missing; get one from POST /api/auth/token")
		return caller, false
	}
	caller, err := h.TokenIssuer.VerifyAccessToken(token)
	if err != nil {
		unauthorized(w, err.Error())
		return caller, false
	}
	call := middleware.RequestInfoFrom(r.Context())
	call.Application, call.EndUser = caller.ApplicationID, caller.UserID != ""
	for _, scope := range scopes {
		if !caller.HasScope(identity.Scope(scope)) {
			writeError(w, http.StatusForbidden, fmt.Sprintf("the access token lacks the scope %s", scope))
			return caller, false
		}
	}
	return caller, true
}

// callerKey is the context key of the caller with an access token.
type callerKey struct{}

// actorFrom returns the actor of a call that authorize admitted.
func actorFrom(ctx context.Context) audit.Actor {
	caller, _ := ctx.Value(callerKey{}).(identity.Caller)
	return audit.Actor{Application: caller.ApplicationID, UserID: caller.UserID}
}

// bearerToken returns the access token of a request (RFC 6750, section 2.1).
func bearerToken(r *http.Request) (token string, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// tokenRequestKey is the context key of an authenticated token request.
type tokenRequestKey struct{}
