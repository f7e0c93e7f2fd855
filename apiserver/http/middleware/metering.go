// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"time"

	chimiddleware "github.com/go-chi/chi/v5/middleware"
)

// A Meter enforces the rate limits of applications and counts their calls.
// *quota.Ledger implements it.
type Meter interface {
	// Begin admits a call, or returns how long the limit remains exhausted. The caller
	// must call end for an admitted call and report whether it counts as usage. Calls
	// that do not count are subject to the same limits.
	Begin(application, endpoint string, countable bool) (end func(counted bool), wait time.Duration)
}

// EndUsersApplication is the application name that counts calls of end users without an
// application. No application may have this name.
const EndUsersApplication = "(end users)"

// MeterUsage admits calls within the limits of the meter and rejects the others with
// Retry-After. It counts every call with a response, regardless of the status, except server
// faults, development calls and unauthenticated calls.
func MeterUsage(meter Meter, reject http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info := RequestInfoFrom(r.Context())
			if !info.isAuthenticated() {
				next.ServeHTTP(w, r)
				return
			}
			countable := !info.DevMode
			end, wait := meter.Begin(info.usageSubject(), info.Endpoint, countable)
			if end == nil {
				SetRetryAfter(w, wait)
				reject(w, r)
				return
			}
			counted := false // remains false if the handler panics
			defer func() { end(counted) }()
			wrapped, ok := w.(chimiddleware.WrapResponseWriter)
			if !ok {
				wrapped = chimiddleware.NewWrapResponseWriter(w, r.ProtoMajor)
			}
			next.ServeHTTP(wrapped, r)
			counted = countable && wrapped.Status() < http.StatusInternalServerError
		})
	}
}
