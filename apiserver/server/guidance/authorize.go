// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
)

// authorize lets a call through that the contract's security of its operation
// allows. The generated code puts that in the request's context: the scopes
// that an access token needs, or that the application's own key is needed,
// which is for createToken to judge.
func (h handlers) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, key, ok := r.BasicAuth(); ok && r.Context().Value(contract.ApplicationScopes) != nil {
			r = r.WithContext(context.WithValue(r.Context(), credentialsKey{}, credentials{id, key}))
		}
		if scopes, needed := r.Context().Value(contract.AccessTokenScopes).([]string); needed && !h.allowed(w, r, scopes) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// allowed answers a call without a valid token, or whose token lacks a scope.
func (h handlers) allowed(w http.ResponseWriter, r *http.Request, scopes []string) bool {
	token, ok := bearer(r)
	if !ok {
		unauthorized(w, "the header Authorization: Bearer <access token> is missing; POST /api/auth/token gives one")
		return false
	}
	caller, err := h.Authority.Caller(token)
	if err != nil {
		unauthorized(w, err.Error())
		return false
	}
	middleware.CallOf(r.Context()).Application = caller.Application
	for _, scope := range scopes {
		if !caller.May(identity.Scope(scope)) {
			writeError(w, http.StatusForbidden, fmt.Sprintf("the access token lacks the scope %s", scope))
			return false
		}
	}
	return true
}

// bearer returns the access token of a request (RFC 6750, section 2.1).
func bearer(r *http.Request) (token string, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// credentials are an application's id and key as a request carries them.
type credentials struct{ id, key string }

type credentialsKey struct{}
