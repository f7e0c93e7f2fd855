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
)

// Applications knows who may call. It compares keys in constant time.
type Applications interface {
	Authenticate(id, key string) (identity.Application, bool)
}

// Authenticate lets calls through that carry the App-Id and App-Key of an
// application that has a scope, and answers the others with refuse, or with lacks
// where only the scope is missing.
func Authenticate(applications Applications, needed identity.Scope, refuse, lacks http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			application, ok := applications.Authenticate(r.Header.Get("App-Id"), r.Header.Get("App-Key"))
			if !ok {
				refuse(w, r)
				return
			}
			call := CallOf(r.Context())
			call.Application = application.ID
			call.DevMode = application.DevMode && r.Header.Get("Dev-Mode") == "true"
			if !application.May(needed) {
				lacks(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Introduce tells of a call, once it is answered, whose caller proved to be an
// application.
func Introduce(known func(ctx context.Context)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if CallOf(r.Context()).Application != "" {
				known(r.Context())
			}
		})
	}
}

// A Meter admits calls by the limits of their applications, and counts them.
// *quota.Ledger is one.
type Meter interface {
	// Begin admits a call, or says how long the limit stays reached. The end of
	// an admitted call must be told whether the call counts as usage; one that
	// begins as not counting is admitted by the same limits.
	Begin(application, endpoint string, counts bool) (end func(counted bool), wait time.Duration)
}

// Metered lets calls through that the meter admits, and answers the others with
// refuse and when to come back. It counts each call that was answered, whatever
// the answer said; not those that failed by a fault of the server, nor those in
// development.
func Metered(meter Meter, refuse http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			call := CallOf(r.Context())
			counts := !call.DevMode
			end, wait := meter.Begin(call.Application, call.Endpoint, counts)
			if end == nil {
				seconds := int64(math.Ceil(wait.Seconds()))
				w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
				refuse(w, r)
				return
			}
			counted := false // as it stays when the handler panics
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

// Leave asks clients to open another connection, once the server is about to
// stop. Over HTTP/2 that is the connection's business, not the answer's: there
// this header would cut off requests that are on their way.
func Leave(leaving func() bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor == 1 && leaving() {
				w.Header().Set("Connection", "close")
			}
			next.ServeHTTP(w, r)
		})
	}
}
