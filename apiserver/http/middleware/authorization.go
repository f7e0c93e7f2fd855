// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
)

// An Authenticator returns the principal of a request, and the context for its handler. If
// the request has no valid credentials, it responds and returns false. It must not read the
// body.
type Authenticator func(w http.ResponseWriter, r *http.Request) (ctx context.Context, principal identity.Principal, ok bool)

// Authorization admits requests whose principal may perform the requested operation. It is
// the only place that checks permissions for operations with package access. It must be
// mounted inside the router, before the handlers.
type Authorization struct {
	Operations access.Operations
	// Authenticators authenticate requests by the scheme of the operation. Operations with
	// other schemes are denied.
	Authenticators map[access.Scheme]Authenticator
	// Deny responds to a denied request; the error is an *access.DeniedError.
	Deny func(w http.ResponseWriter, r *http.Request, err error)
}

// Middleware authenticates each request and passes it to the next handler if it is
// authorized.
func (a Authorization) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := a.Operations.Lookup(r.Method, chi.RouteContext(r.Context()).RoutePattern())
		ctx, principal, ok := a.authenticate(w, r, operation)
		if !ok {
			return
		}
		if err := access.Authorize(principal, operation); err != nil {
			a.Deny(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, principalKey{}, principal)))
	})
}

// authenticate returns the principal of a request and records it in the RequestInfo. If ok is
// false, the response has already been written.
func (a Authorization) authenticate(w http.ResponseWriter, r *http.Request, operation access.Operation) (ctx context.Context, principal identity.Principal, ok bool) {
	if operation.Public {
		return r.Context(), identity.Principal{}, true
	}
	authenticate, ok := a.Authenticators[operation.Scheme]
	if !ok {
		a.Deny(w, r, &access.DeniedError{OperationID: operation.ID})
		return nil, identity.Principal{}, false
	}
	if ctx, principal, ok = authenticate(w, r); ok {
		info := RequestInfoFrom(ctx)
		info.Application, info.EndUser = principal.Application, principal.UserID != ""
	}
	return ctx, principal, ok
}

type principalKey struct{}

// PrincipalFrom returns the principal of a request that Authorization admitted. For a public
// operation it returns the zero Principal.
func PrincipalFrom(ctx context.Context) identity.Principal {
	principal, _ := ctx.Value(principalKey{}).(identity.Principal)
	return principal
}
