// SPDX-License-Identifier: Apache-2.0

// Package middleware holds what happens around every handler, whichever API it
// belongs to: request ids, the access log, recovery, cross-origin answers,
// application credentials, client addresses, usage counts, bodies, methods, leaving connections.
// What an error looks like is said by the API that uses it; no rule of the
// domain lives here.
package middleware

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/google/uuid"
)

// Call is what is known about a request while it is served. The outermost
// middleware makes it, inner ones fill it in, the access log reads it.
type Call struct {
	// RequestID is the caller's X-Request-Id, or a new UUID.
	RequestID string
	// Client is the address of who calls, as far as it is known; not valid where
	// no connection is behind the call.
	Client netip.Addr
	// Endpoint is the method and route, such as "GET /v3/conditions/{id}";
	// empty where no route matched.
	Endpoint string
	// Application is the id of the application that proved who it is; empty
	// before that.
	Application string
	// EndUser says that an end user proved to be one, with or without an application.
	EndUser bool
	// DevMode says that an application that may do so declared the call to be for
	// development or tests: nothing of it is kept or counted.
	DevMode bool
}

// proven says that the caller proved who it is.
func (c *Call) proven() bool { return c.Application != "" || c.EndUser }

// countedFor is whom a call of somebody who proved who they are counts for.
func (c *Call) countedFor() string {
	if c.Application == "" {
		return EndUsers
	}
	return c.Application
}

type callKey struct{}

// CallOf is the call that a request context belongs to. Outside of one it is
// empty, never nil.
func CallOf(ctx context.Context) *Call {
	if call, ok := ctx.Value(callKey{}).(*Call); ok {
		return call
	}
	return &Call{}
}

// Identify gives every request a Call and every response its X-Request-Id.
func Identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := &Call{RequestID: r.Header.Get("X-Request-Id")}
		if call.RequestID == "" || !Visible(call.RequestID) {
			call.RequestID = uuid.NewString()
		}
		w.Header().Set("X-Request-Id", call.RequestID)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callKey{}, call)))
	})
}

// Visible reports whether an identifier that a client made up is at most 128
// visible ASCII characters.
func Visible(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return len(id) <= 128
}
