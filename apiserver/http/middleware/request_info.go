// SPDX-License-Identifier: Apache-2.0

// Package middleware contains the HTTP middleware shared by all APIs: request IDs, access
// log, panic recovery, CORS, application credentials, client addresses, usage metering,
// bodies, methods and connection draining. Each API defines its own error format. Domain
// rules do not belong here.
package middleware

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
)

// RequestInfo contains information about a request that is being served. The outermost
// middleware creates it, inner middleware fills it in, and the access log reads it.
type RequestInfo struct {
	// RequestID is the caller's X-Request-Id, or a new UUID.
	RequestID string
	// ClientAddr is the resolved address of the client; invalid if the request did not
	// arrive over a connection.
	ClientAddr netip.Addr
	// Endpoint is the method and route, such as "GET /v3/conditions/{id}";
	// empty if no route matched.
	Endpoint string
	// Application is the ID of the authenticated application; empty before
	// authentication.
	Application string
	// EndUser reports whether an end user authenticated, with or without an application.
	EndUser bool
	// DevMode reports whether the request is marked as development or test traffic by an
	// application that may use Dev-Mode. Such traffic is neither stored nor counted.
	DevMode bool
}

// isAuthenticated reports whether the caller authenticated.
func (i *RequestInfo) isAuthenticated() bool { return i.Application != "" || i.EndUser }

// usageSubject returns the name for counting the usage of an authenticated call.
func (i *RequestInfo) usageSubject() string {
	if i.Application == "" {
		return EndUsersApplication
	}
	return i.Application
}

type requestInfoKey struct{}

// RequestInfoFrom returns the RequestInfo of a request context. Outside a request it
// returns an empty one, never nil.
func RequestInfoFrom(ctx context.Context) *RequestInfo {
	if info, ok := ctx.Value(requestInfoKey{}).(*RequestInfo); ok {
		return info
	}
	return &RequestInfo{}
}

// WithRequestInfo adds a RequestInfo to every request and X-Request-Id to every response.
func WithRequestInfo(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := &RequestInfo{RequestID: r.Header.Get("X-Request-Id")}
		if info.RequestID == "" || !identifier.IsVisibleASCII(info.RequestID, identifier.MaxLength) {
			info.RequestID = uuid.NewString()
		}
		w.Header().Set("X-Request-Id", info.RequestID)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestInfoKey{}, info)))
	})
}
