// SPDX-License-Identifier: Apache-2.0

// Package server puts the HTTP handlers of a server together: those of the
// tenant and those of the administrator, each on an address of its own. The
// APIs are in folders beside it, what happens around their handlers in
// middleware. Sockets, files and processes are the business of package serve.
package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/docs"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
	v3 "github.com/anamnesis-dev/anamnesis/apiserver/server/v3"
)

// Options are what the tenant's handler stands on. All but the last four are
// required.
type Options struct {
	// Guidance answers under /api and /.well-known.
	Guidance API
	// Page is what people see: it answers under /survey and at /.
	Page         http.Handler
	Models       v3.Models
	Engine       *engine.Engine
	Tokens       v3.InterviewTokens
	Feedback     v3.FeedbackStore
	Applications middleware.Applications
	Usage        middleware.Meter
	Now          func() time.Time
	// AllowsOrigin says whether pages of a web origin may call.
	AllowsOrigin func(origin string) bool
	// Leaving says that the server is about to stop.
	Leaving func() bool
	// Known is told of a call whose caller proved to be an application, with the
	// context of its connection.
	Known    func(ctx context.Context)
	Guard    *guard.Guard
	Observer middleware.Observer
	Log      *slog.Logger
	// TrustsProxy says whether the word of an address is taken for who calls; nil
	// says of none.
	TrustsProxy func(address netip.Addr) bool
	// Throttle slows down those who guess keys; nil nobody.
	Throttle *throttle.Throttle
	// LoopbackOnly says that the server is for programs on this machine alone.
	LoopbackOnly bool
	// Shown is the application that the reference page calls as and shows to
	// everybody; empty but in development.
	Shown docs.Application
}

// An API is a handler that knows its routes.
type API interface {
	http.Handler
	middleware.Routes
}

// New makes the handler of the tenant's address.
func New(o Options) http.Handler {
	engine := assessment(o)
	shared := func(api API) http.Handler { return middleware.AllowOrigins(o.AllowsOrigin, api)(api) }
	return chi.Chain(
		middleware.Identify,
		middleware.Locate(o.TrustsProxy),
		middleware.Observe(o.Log, o.Observer),
		middleware.Introduce(o.Known),
		middleware.Leave(o.Leaving),
		middleware.Recover(o.Log, internalError),
		local(o.LoopbackOnly),
	).Handler(byPath(unstored(shared(o.Guidance)), unstored(shared(engine)), reference(o.Shown), o.Page))
}

// local keeps calls to other names than this machine's out, where only programs
// on it are to be served.
func local(only bool) func(http.Handler) http.Handler {
	if !only {
		return func(next http.Handler) http.Handler { return next }
	}
	return middleware.LoopbackNamesOnly(func(w http.ResponseWriter, _ *http.Request) {
		v3.Fail(w, http.StatusMisdirectedRequest, "with --dev the server answers calls to localhost, 127.0.0.1 and [::1] only")
	})
}

// unstored keeps what is about patients out of every store of answers on the way.
func unstored(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// byPath tells the interfaces apart, and the pages, which are for no other origin. Each
// has a router of its own, since their errors differ.
func byPath(guidance, assessment, reference, page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		under := func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) }
		switch {
		case under("/api/"), under("/.well-known/"):
			guidance.ServeHTTP(w, r)
		case r.URL.Path == "/docs", under("/docs/"), under("/openapi/"):
			reference.ServeHTTP(w, r)
		case r.URL.Path == "/", r.URL.Path == "/survey", under("/survey/"):
			page.ServeHTTP(w, r)
		default:
			assessment.ServeHTTP(w, r)
		}
	})
}

// reference is the contracts and the page to read them.
func reference(shown docs.Application) http.Handler {
	router := chi.NewRouter()
	router.NotFound(notFound)
	router.MethodNotAllowed(middleware.MethodNotAllowed(router, methodNotAllowed, notFound))
	router.Group(func(r chi.Router) {
		r.Use(middleware.Endpoint)
		docs.Mount(r, shown)
	})
	return router
}

// assessment is the symptom assessment, and the answer to what is nowhere.
func assessment(o Options) chi.Router {
	router := chi.NewRouter()
	router.NotFound(notFound)
	router.MethodNotAllowed(middleware.MethodNotAllowed(router, methodNotAllowed, notFound))
	router.Group(func(r chi.Router) {
		r.Use(
			middleware.Endpoint,
			middleware.Credentials{
				Applications: o.Applications, Throttle: o.Throttle, Needed: identity.KnowledgeRead,
				Refuse: forbidden, Lacks: lacksScope, SlowDown: slowDown,
			}.Check,
			middleware.Metered(o.Usage, limitReached),
		)
		v3.New(v3.Options{
			Models: o.Models, Engine: o.Engine, Tokens: o.Tokens, Feedback: o.Feedback, Now: o.Now, Guard: o.Guard, Log: o.Log,
		}).Mount(r)
	})
	return router
}

func internalError(w http.ResponseWriter, r *http.Request) {
	v3.Fail(w, http.StatusInternalServerError,
		"the service failed to answer; its log has more under request id "+middleware.CallOf(r.Context()).RequestID)
}

func forbidden(w http.ResponseWriter, _ *http.Request) {
	v3.Fail(w, http.StatusForbidden, "App-Id or App-Key is missing or wrong")
}

func lacksScope(w http.ResponseWriter, _ *http.Request) {
	v3.Fail(w, http.StatusForbidden, fmt.Sprintf("the application lacks the scope %s", identity.KnowledgeRead))
}

func slowDown(w http.ResponseWriter, _ *http.Request) {
	v3.Fail(w, http.StatusTooManyRequests, "App-Id or App-Key was wrong too often from this address; nobody looks at them before Retry-After")
}

func limitReached(w http.ResponseWriter, _ *http.Request) {
	v3.Fail(w, http.StatusTooManyRequests, "the calls that the application's plan allows in a month are used up")
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	v3.Fail(w, http.StatusNotFound, "there is nothing at this address; /docs describes what there is")
}

func methodNotAllowed(w http.ResponseWriter, allowed string) {
	v3.Fail(w, http.StatusMethodNotAllowed, "this address takes "+allowed+" only")
}
