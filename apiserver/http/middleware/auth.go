// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	chimiddleware "github.com/go-chi/chi/v5/middleware"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
)

// An ApplicationAuthenticator authenticates applications. It compares keys in constant
// time.
type ApplicationAuthenticator interface {
	Authenticate(id, key string) (identity.Application, bool)
}

// ApplicationAuth authenticates applications by App-Id and App-Key.
type ApplicationAuth struct {
	Applications      ApplicationAuthenticator
	Throttle          *throttle.Throttle // throttles key guessing; nil disables it
	OnUnauthenticated http.HandlerFunc   // responds to requests without a valid application ID and key
	OnThrottled       http.HandlerFunc   // responds to clients throttled after failed attempts
}

// Authenticate implements Authenticator. It also records whether the request is in
// development mode.
func (c ApplicationAuth) Authenticate(w http.ResponseWriter, r *http.Request) (ctx context.Context, principal identity.Principal, ok bool) {
	application, refuse := c.authenticate(w, r)
	if refuse != nil {
		refuse(w, r)
		return nil, identity.Principal{}, false
	}
	RequestInfoFrom(r.Context()).DevMode = application.DevMode && r.Header.Get("Dev-Mode") == "true"
	return r.Context(), application.Principal(), true
}

// authenticate returns the application of a request, or the handler that rejects it. A
// request without credentials does not count as a failed attempt.
func (c ApplicationAuth) authenticate(w http.ResponseWriter, r *http.Request) (identity.Application, http.HandlerFunc) {
	try := throttle.Attempt{
		Client: RequestInfoFrom(r.Context()).ClientAddr, Name: r.Header.Get("App-Id"), Secret: r.Header.Get("App-Key"),
	}
	if try.Name == "" || try.Secret == "" {
		return identity.Application{}, c.OnUnauthenticated
	}
	if wait := c.Throttle.Wait(try); wait > 0 {
		SetRetryAfter(w, wait)
		return identity.Application{}, c.OnThrottled
	}
	application, ok := c.Applications.Authenticate(try.Name, try.Secret)
	if !ok {
		c.Throttle.RecordFailure(try)
		return identity.Application{}, c.OnUnauthenticated
	}
	c.Throttle.RecordSuccess(try)
	return application, nil
}

// SetRetryAfter sets Retry-After on the response to a throttled call.
func SetRetryAfter(w http.ResponseWriter, wait time.Duration) {
	seconds := int64(math.Ceil(wait.Seconds()))
	w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
}

// OnAuthenticated calls known, after the response, for each request whose caller
// authenticated as an application or an end user.
func OnAuthenticated(known func(ctx context.Context)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if RequestInfoFrom(r.Context()).isAuthenticated() {
				known(r.Context())
			}
		})
	}
}

// A Meter enforces the rate limits of applications and counts their calls.
// *quota.Ledger implements it.
type Meter interface {
	// Begin admits a call, or returns how long the limit remains exhausted. The caller
	// must call end for an admitted call and report whether it counts as usage. Calls
	// that do not count are subject to the same limits.
	Begin(application, endpoint string, counts bool) (end func(counted bool), wait time.Duration)
}

// EndUsersApplication is the name under which calls of end users without an application
// are counted. No application may have this name.
const EndUsersApplication = "(end users)"

// MeterUsage admits calls within the limits of the meter and rejects the others using
// refuse, with Retry-After. It counts every call that got a response, whatever its
// status, except server faults, development calls and unauthenticated calls.
func MeterUsage(meter Meter, refuse http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			call := RequestInfoFrom(r.Context())
			if !call.isAuthenticated() {
				next.ServeHTTP(w, r)
				return
			}
			counts := !call.DevMode
			end, wait := meter.Begin(call.usageSubject(), call.Endpoint, counts)
			if end == nil {
				SetRetryAfter(w, wait)
				refuse(w, r)
				return
			}
			counted := false // remains false if the handler panics
			defer func() { end(counted) }()
			wrapped, ok := w.(chimiddleware.WrapResponseWriter)
			if !ok {
				wrapped = chimiddleware.NewWrapResponseWriter(w, r.ProtoMajor)
			}
			next.ServeHTTP(wrapped, r)
			counted = counts && wrapped.Status() < http.StatusInternalServerError
		})
	}
}

// CloseWhenDraining asks HTTP/1.1 clients to reconnect once the server is draining.
// HTTP/2 signals this on the connection; there, the header would cut off requests in
// flight.
func CloseWhenDraining(leaving func() bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor == 1 && leaving() {
				w.Header().Set("Connection", "close")
			}
			next.ServeHTTP(w, r)
		})
	}
}
