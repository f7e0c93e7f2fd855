// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"
)

// An Observer is told of every answer. The endpoint is empty where no route
// matched.
type Observer interface {
	Observe(endpoint string, status int, duration time.Duration)
}

// Observe writes one line to the log for every request, and tells the
// observer. The line holds nothing that a client wrote, but for the ids of the
// request and of the application.
func Observe(log *slog.Logger, observer Observer) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			wrapped := chimiddleware.NewWrapResponseWriter(w, r.ProtoMajor)
			defer func() {
				duration := time.Since(start)
				call, status := CallOf(r.Context()), wrapped.Status()
				if status == 0 {
					status = http.StatusOK
				}
				observer.Observe(call.Endpoint, status, duration)
				log.LogAttrs(r.Context(), slog.LevelInfo, "request",
					slog.String("requestId", call.RequestID),
					slog.String("endpoint", call.Endpoint),
					slog.Int("status", status),
					slog.Float64("durationSeconds", duration.Seconds()),
					slog.String("application", call.Application),
					slog.String("protocol", r.Proto))
			}()
			next.ServeHTTP(wrapped, r)
		})
	}
}

// Endpoint notes the method and the route that matched. It stands inside of
// the router.
func Endpoint(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		CallOf(r.Context()).Endpoint = r.Method + " " + chi.RouteContext(r.Context()).RoutePattern()
		next.ServeHTTP(w, r)
	})
}

// Recover answers with fail when a handler panics, and logs where. It does not
// log the value of a panic unless the runtime made it, for it could repeat what
// a client sent.
func Recover(log *slog.Logger, fail http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				value := recover()
				if value == nil {
					return
				}
				if value == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so as well
					panic(value)
				}
				log.LogAttrs(r.Context(), slog.LevelError, "a handler panicked",
					slog.String("requestId", CallOf(r.Context()).RequestID),
					slog.String("panic", describePanic(value)),
					slog.String("stack", string(debug.Stack())))
				fail(w, r)
			}()
			next.ServeHTTP(w, r)
		})
	}
}

func describePanic(value any) string {
	var failure runtime.Error
	if err, ok := value.(error); ok && errors.As(err, &failure) {
		return failure.Error()
	}
	return fmt.Sprintf("a value of type %T", value)
}
