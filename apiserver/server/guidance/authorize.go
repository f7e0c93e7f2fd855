// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
)

// authorize lets a call through that the contract's security of its operation
// allows, by its headers alone: nothing of a body is read for a stranger. The
// generated code puts into the request's context what is needed: the scopes of
// an access token, or the application's own key.
func (h handlers) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(contract.ApplicationScopes) != nil {
			client, ok := h.client(w, r)
			if !ok {
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), clientKey{}, client))
		}
		if scopes, needed := r.Context().Value(contract.AccessTokenScopes).([]string); needed {
			caller, ok := h.allowed(w, r, scopes)
			if !ok {
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), callerKey{}, caller))
		}
		next.ServeHTTP(w, r)
	})
}

// client is the request for a token as far as the headers say it. It answers
// one that carries no application's own id and key.
func (h handlers) client(w http.ResponseWriter, r *http.Request) (client identity.TokenRequest, ok bool) {
	id, key, given := r.BasicAuth()
	if !given {
		writeTokenError(w, &identity.OAuthError{
			Code: identity.InvalidClient, Description: "the header Authorization: Basic <base64 of id:key> is missing",
		})
		return client, false
	}
	try := throttle.Try{Client: middleware.CallOf(r.Context()).Client, Name: plainID(id), Secret: key}
	if wait := h.Throttle.Wait(try); wait > 0 {
		slowDown(w, r, wait)
		return client, false
	}
	client = identity.TokenRequest{Instance: r.Header.Get("Instance-Id"), ID: id, Key: key}
	application, err := h.Authority.Client(client)
	var refused *identity.OAuthError
	if errors.As(err, &refused) {
		h.Throttle.Failed(try)
		writeTokenError(w, refused)
		return client, false
	}
	h.Throttle.Succeeded(try)
	middleware.CallOf(r.Context()).Application = application.ID
	return client, true
}

// plainID is an application's id without the percent-encoding that it may have
// here, so that it is one name however it is written.
func plainID(id string) string {
	if plain, err := url.QueryUnescape(id); err == nil {
		return plain
	}
	return id
}

// allowed says who calls. It answers a call without a valid token, or whose token
// lacks a scope.
func (h handlers) allowed(w http.ResponseWriter, r *http.Request, scopes []string) (caller identity.Caller, ok bool) {
	token, ok := bearer(r)
	if !ok {
		unauthorized(w, "the header Authorization: Bearer <access token> is missing; POST /api/auth/token gives one")
		return caller, false
	}
	caller, err := h.Authority.Caller(token)
	if err != nil {
		unauthorized(w, err.Error())
		return caller, false
	}
	call := middleware.CallOf(r.Context())
	call.Application, call.EndUser = caller.Application, caller.UserID != ""
	for _, scope := range scopes {
		if !caller.May(identity.Scope(scope)) {
			writeError(w, http.StatusForbidden, fmt.Sprintf("the access token lacks the scope %s", scope))
			return caller, false
		}
	}
	return caller, true
}

// callerKey is that of who calls with an access token.
type callerKey struct{}

// actor is who acts in a call that authorize let through.
func actor(ctx context.Context) audit.Actor {
	caller, _ := ctx.Value(callerKey{}).(identity.Caller)
	return audit.Actor{Application: caller.Application, UserID: caller.UserID}
}

// bearer returns the access token of a request (RFC 6750, section 2.1).
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// clientKey is that of a request for a token whose headers are good.
type clientKey struct{}
