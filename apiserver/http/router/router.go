// SPDX-License-Identifier: Apache-2.0

// Package router assembles the HTTP handlers of a server: the tenant handler and the admin
// handler, which are served on separate addresses. The APIs are in sibling packages, shared
// middleware is in package middleware, and listeners, files and the process belong to package
// server.
package router

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/docs"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	v3 "github.com/anamnesis-dev/anamnesis/apiserver/http/v3"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
)

// Options configure the tenant handler. All but the last four are required.
type Options struct {
	// Guidance serves /api and /.well-known.
	Guidance API
	// Page serves the patients' pages under /survey and at /.
	Page         http.Handler
	Models       v3.Models
	Engine       *inference.Engine
	Tokens       v3.InterviewTokens
	Feedback     v3.FeedbackStore
	Applications middleware.ApplicationAuthenticator
	// Operations are the operations of the contracts; others are denied.
	Operations access.Operations
	Meter      middleware.Meter
	Now        func() time.Time
	// AllowsOrigin reports whether pages from a web origin may call the APIs.
	AllowsOrigin func(origin string) bool
	// Draining reports whether the server is about to stop.
	Draining func() bool
	// OnAuthenticated is called with the connection's context for each call that was
	// authenticated as an application.
	OnAuthenticated func(ctx context.Context)
	Limiter         *limiter.Limiter
	Observer        middleware.Observer
	Log             *slog.Logger
	// TrustsProxy reports whether forwarding headers from an address are trusted; nil
	// trusts none.
	TrustsProxy func(address netip.Addr) bool
	// Throttle throttles key guessing; nil disables it.
	Throttle *throttle.Throttle
	// LoopbackOnly restricts the server to programs on the same machine.
	LoopbackOnly bool
	// DocsApplication holds the credentials that the API reference uses and shows to
	// everyone; empty except in development.
	DocsApplication docs.Application
}

// An API is a handler that can report its routes.
type API interface {
	http.Handler
	middleware.Routes
}

// New returns the handler of the tenant address.
func New(o Options) http.Handler {
	engine := newAssessmentRouter(o)
	shared := func(api API) http.Handler { return middleware.AllowCORS(o.AllowsOrigin, api)(api) }
	return chi.Chain(
		middleware.WithRequestInfo,
		middleware.ResolveClientAddr(o.TrustsProxy),
		middleware.LogRequests(o.Log, o.Observer),
		middleware.OnAuthenticated(o.OnAuthenticated),
		middleware.CloseWhenDraining(o.Draining),
		middleware.RecoverPanics(o.Log, internalError),
		allowLoopbackOnly(o.LoopbackOnly),
	).Handler(routeByPath(noStore(shared(o.Guidance)), noStore(shared(engine)), newDocsRouter(o.DocsApplication), o.Page))
}

// allowLoopbackOnly rejects requests to non-loopback hosts if only is set.
func allowLoopbackOnly(enabled bool) func(http.Handler) http.Handler {
	if !enabled {
		return func(next http.Handler) http.Handler { return next }
	}
	return middleware.AllowLoopbackHosts(func(w http.ResponseWriter, _ *http.Request) {
		v3.WriteError(w, http.StatusMisdirectedRequest, "with --dev the server only accepts requests to localhost, 127.0.0.1 and [::1]")
	})
}

// noStore forbids caching, because responses contain patient data.
func noStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// routeByPath dispatches requests to the APIs, the reference and the pages. Each has its own
// router because the error formats differ. Pages are not available to other origins.
func routeByPath(guidance, assessment, reference, page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hasPrefix := func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) }
		switch {
		case hasPrefix("/api/"), hasPrefix("/.well-known/"):
			guidance.ServeHTTP(w, r)
		case r.URL.Path == "/docs", hasPrefix("/docs/"), hasPrefix("/openapi/"):
			reference.ServeHTTP(w, r)
		case r.URL.Path == "/", r.URL.Path == "/survey", hasPrefix("/survey/"):
			page.ServeHTTP(w, r)
		default:
			assessment.ServeHTTP(w, r)
		}
	})
}

// newDocsRouter returns the router of the contracts and the reference page.
func newDocsRouter(application docs.Application) http.Handler {
	router := chi.NewRouter()
	router.NotFound(notFound)
	router.MethodNotAllowed(middleware.MethodNotAllowed(router, methodNotAllowed, notFound))
	router.Group(func(r chi.Router) {
		r.Use(middleware.RecordEndpoint)
		docs.Mount(r, application)
	})
	return router
}

// newAssessmentRouter returns the router of the symptom assessment API, which also responds
// to unknown paths.
func newAssessmentRouter(o Options) chi.Router {
	router := chi.NewRouter()
	router.NotFound(notFound)
	router.MethodNotAllowed(middleware.MethodNotAllowed(router, methodNotAllowed, notFound))
	router.Group(func(r chi.Router) {
		r.Use(middleware.RecordEndpoint)
		v3.New(v3.Options{
			Models: o.Models, Engine: o.Engine, Tokens: o.Tokens, Feedback: o.Feedback, Now: o.Now, Limiter: o.Limiter, Log: o.Log,
			Applications: o.Applications, Throttle: o.Throttle, Operations: o.Operations, Meter: o.Meter,
		}).Mount(r)
	})
	return router
}

func internalError(w http.ResponseWriter, r *http.Request) {
	v3.WriteError(w, http.StatusInternalServerError,
		"internal error; the server log has details under request id "+middleware.RequestInfoFrom(r.Context()).RequestID)
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	v3.WriteError(w, http.StatusNotFound, "no endpoint at this path; see /docs")
}

func methodNotAllowed(w http.ResponseWriter, allowed string) {
	v3.WriteError(w, http.StatusMethodNotAllowed, "method not allowed; use "+allowed)
}
