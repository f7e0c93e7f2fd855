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

// An Observer is notified of every response. The endpoint is empty if no route matched.
type Observer interface {
	Observe(endpoint string, status int, duration time.Duration)
}

// LogRequests logs one line per request and notifies the observer. Apart from the
// request ID and the application ID, the line contains nothing that a client sent.
func LogRequests(log *slog.Logger, observer Observer) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			wrapped := chimiddleware.NewWrapResponseWriter(w, r.ProtoMajor)
			defer func() {
				duration := time.Since(start)
				info, status := RequestInfoFrom(r.Context()), wrapped.Status()
				if status == 0 {
					status = http.StatusOK
				}
				observer.Observe(info.Endpoint, status, duration)
				log.LogAttrs(r.Context(), slog.LevelInfo, "handled request",
					slog.String("requestId", info.RequestID),
					slog.String("endpoint", info.Endpoint),
					slog.Int("status", status),
					slog.Float64("durationSeconds", duration.Seconds()),
					slog.String("application", info.Application),
					slog.String("protocol", r.Proto))
			}()
			next.ServeHTTP(wrapped, r)
		})
	}
}

// RecordEndpoint records the method and the matched route in the RequestInfo. It must be
// mounted inside the router.
func RecordEndpoint(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		RequestInfoFrom(r.Context()).Endpoint = r.Method + " " + chi.RouteContext(r.Context()).RoutePattern()
		next.ServeHTTP(w, r)
	})
}

// RecoverPanics responds using respond when a handler panics, and logs the location. It logs
// the panic value only if it is a runtime error, because other values may contain client
// data.
func RecoverPanics(log *slog.Logger, respond http.HandlerFunc) func(http.Handler) http.Handler {
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
				log.LogAttrs(r.Context(), slog.LevelError, "handler panicked",
					slog.String("requestId", RequestInfoFrom(r.Context()).RequestID),
					slog.String("panic", describePanic(value)),
					slog.String("stack", string(debug.Stack())))
				respond(w, r)
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
	return fmt.Sprintf("value of type %T", value)
}
