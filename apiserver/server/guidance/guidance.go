// SPDX-License-Identifier: Apache-2.0

// Package guidance is the guidance platform's HTTP: it translates between the
// contract openapi/guidance.yaml and the packages that decide, which are
// identity, people and storage. Request ids, the access log, recovery and cross-origin
// answers are put around it by the server. No rule of the domain lives here.
package guidance

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

// Usage reads usage counts; every storage.Store does.
type Usage interface {
	Usage(ctx context.Context, from, to civil.Date) ([]storage.UsageCount, error)
}

// Options are what the handlers call. All but Throttle are required.
type Options struct {
	Authority *identity.Authority // gives tokens and knows who calls with one
	Usage     Usage
	Meter     middleware.Meter // counts calls
	Feedback  Feedback
	People    *people.Register
	Surveys   *surveys.Register
	Webhooks  *webhooks.Register
	// PlainReceivers lets receivers of events be called by plain HTTP, in development.
	PlainReceivers bool
	// PublicURL is the address of the instance as its users have it; empty where only
	// those who call know it.
	PublicURL func() string
	Scheme    string // of the address that clients call: http or https
	Now       func() time.Time
	Guard     *guard.Guard
	Throttle  *throttle.Throttle // slows down those who guess; nil: nobody
	Log       *slog.Logger       // of faults, each once
}

// New serves the contract on its full paths, wherever it is mounted, and
// answers every other path with 404.
func New(options Options) Handler {
	h := handlers{options}
	router := chi.NewRouter()
	router.NotFound(notFound)
	router.MethodNotAllowed(middleware.MethodNotAllowed(router, methodNotAllowed, notFound))
	strict := contract.NewStrictHandlerWithOptions(h, nil, contract.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  badBody,
		ResponseErrorHandlerFunc: h.fail,
	})
	contract.HandlerWithOptions(strict, contract.ChiServerOptions{
		BaseRouter:       router,
		ErrorHandlerFunc: badParameter,
		// The last is the outermost.
		Middlewares: []contract.MiddlewareFunc{h.noteAddress, h.admit, h.bodies().Read, middleware.Metered(h.Meter, limitReached), h.authorize, middleware.Endpoint},
	})
	return Handler{router}
}

// mostToSignIn is the most that a request for a token may hold, in bytes. It has a
// few short fields.
const mostToSignIn = 8 << 10

// pathsWithoutBody are where a POST says all by its address.
var pathsWithoutBody = []string{
	"/api/mgp/v1/config/webhook/{webhook_id}/rotate_secret",
	"/api/mgp/v1/config/webhook/{webhook_id}/test",
	"/api/mgp/v1/config/webhook/{webhook_id}/deliveries/{delivery_id}/replay",
}

func (h handlers) bodies() middleware.Bodies {
	rules := map[string]middleware.BodyRule{oauthPath: {Most: mostToSignIn, Form: true}}
	for _, path := range signInPaths {
		rules[path] = middleware.BodyRule{Most: mostToSignIn}
	}
	for _, path := range pathsWithoutBody {
		rules[path] = middleware.BodyRule{None: true}
	}
	return middleware.Bodies{Held: h.Guard.Bodies, Rules: rules, Refuse: refuse}
}

// admit lets calls in while the server has room for them. The public keys are
// for everybody: what is needed for them is in memory, and has no body.
func (h handlers) admit(next http.Handler) http.Handler {
	admitted := middleware.Admit(h.Guard.Calls, busy)(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == jwksPath {
			next.ServeHTTP(w, r)
			return
		}
		admitted.ServeHTTP(w, r)
	})
}

// A Handler serves the contract, and knows which routes it has.
type Handler struct{ router chi.Router }

// ServeHTTP hides from the router that it is part of another, which may have cut
// off the beginning of the path.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = asContract(r)
	h.router.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, (*chi.Context)(nil))))
}

// Match says whether the contract has a method at a path.
func (h Handler) Match(context *chi.Context, method, path string) bool {
	return h.router.Match(context, method, canonical(path))
}

// handlers implements the generated server.
type handlers struct{ Options }

var _ contract.StrictServerInterface = handlers{}
