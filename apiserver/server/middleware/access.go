// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"time"

	chimiddleware "github.com/go-chi/chi/v5/middleware"
	"github.com/go-chi/cors"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
)

// Applications knows who may call. It compares keys in constant time.
type Applications interface {
	Authenticate(id, key string) (identity.Application, bool)
}

// Authenticate lets calls through that carry the App-Id and App-Key of an
// application, and answers the others with refuse.
func Authenticate(applications Applications, refuse http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			application, ok := applications.Authenticate(r.Header.Get("App-Id"), r.Header.Get("App-Key"))
			if !ok {
				refuse(w, r)
				return
			}
			CallOf(r.Context()).Application = application.ID
			next.ServeHTTP(w, r)
		})
	}
}

// A Counter counts the calls of applications.
type Counter interface {
	Count(application, endpoint string)
}

// CountUsage counts each call that was answered, whatever the answer said; not
// those that failed by a fault of the server, nor those with Dev-Mode: true.
func CountUsage(counter Counter) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			wrapped, ok := w.(chimiddleware.WrapResponseWriter)
			if !ok {
				wrapped = chimiddleware.NewWrapResponseWriter(w, r.ProtoMajor)
			}
			next.ServeHTTP(wrapped, r)
			if wrapped.Status() < http.StatusInternalServerError && r.Header.Get("Dev-Mode") != "true" {
				call := CallOf(r.Context())
				counter.Count(call.Application, call.Endpoint)
			}
		})
	}
}

// AllowOrigins answers browsers that ask whether a page of an origin may call,
// and lets the pages of allowed origins read the answers.
func AllowOrigins(allowed func(origin string) bool) func(http.Handler) http.Handler {
	return cors.Handler(cors.Options{
		AllowOriginFunc: func(_ *http.Request, origin string) bool { return allowed(origin) },
		AllowedMethods:  []string{http.MethodGet, http.MethodPost},
		AllowedHeaders: []string{
			"App-Id", "App-Key", "Authorization", "Content-Type", "Dev-Mode",
			"Instance-Id", "Interview-Id", "Interview-Token", "Model", "X-Request-Id",
		},
		ExposedHeaders: []string{"X-Request-Id", "Retry-After"},
		MaxAge:         int((10 * time.Minute).Seconds()),
	})
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
