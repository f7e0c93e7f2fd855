// SPDX-License-Identifier: Apache-2.0

// Package guidance serves the HTTP API of the guidance platform. It translates between the
// contract openapi/guidance.yaml and the packages with the implementation, such as identity,
// users and storage. Package router adds request IDs, the access log, panic recovery and
// CORS. Domain rules do not belong here.
package guidance

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
)

// A UsageStore reads usage counts. Every storage.Store implements it.
type UsageStore interface {
	ListUsage(ctx context.Context, from, to civil.Date) ([]usage.Count, error)
}

// Options are the dependencies of the handlers. All but Throttle are required.
type Options struct {
	TokenIssuer *identity.TokenIssuer // issues and verifies access tokens
	Operations  access.Operations     // the operations of the contract; others are denied
	Usage       UsageStore
	Meter       middleware.Meter // meters calls
	Feedback    FeedbackStore
	Users       *users.Service
	Surveys     *service.Service
	Webhooks    *webhook.Service
	// AllowHTTPReceivers allows webhook receivers over plain HTTP, for development.
	AllowHTTPReceivers bool
	// PublicURL returns the public URL of the instance, or an empty string if it is unknown.
	// Links then use the host of the request.
	PublicURL func() string
	Scheme    string // scheme of the URL that clients use: http or https
	Now       func() time.Time
	Limiter   *limiter.Limiter
	Throttle  *throttle.Throttle // throttles guessing; nil disables it
	Log       *slog.Logger       // logs each server fault once
}

// New returns a handler that serves the contract on its full paths, regardless of where it is
// mounted, and responds to all other paths with 404.
func New(options Options) Handler {
	h := handlers{options}
	router := chi.NewRouter()
	router.NotFound(notFound)
	router.MethodNotAllowed(middleware.MethodNotAllowed(router, methodNotAllowed, notFound))
	strict := contract.NewStrictHandlerWithOptions(h, []contract.StrictMiddlewareFunc{limitTime}, contract.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  rejectBody,
		ResponseErrorHandlerFunc: h.handleError,
	})
	contract.HandlerWithOptions(strict, contract.ChiServerOptions{
		BaseRouter:       router,
		ErrorHandlerFunc: rejectParameter,
		// The last one is the outermost.
		Middlewares: []contract.MiddlewareFunc{h.recordRequestURL, h.limitConcurrency, h.bodyReader().Middleware, middleware.MeterUsage(h.Meter, planLimitExceeded), h.authorization().Middleware, middleware.RecordEndpoint},
	})
	return Handler{router}
}

// maxSignInBodyBytes limits the body of a token or sign-in request, which contains only a few
// short fields.
const maxSignInBodyBytes = 8 << 10

// pathsWithoutBody are the routes of POST operations without a request body.
var pathsWithoutBody = []string{
	"/api/mgp/v1/config/webhook/{webhook_id}/rotate_secret",
	"/api/mgp/v1/config/webhook/{webhook_id}/test",
	"/api/mgp/v1/config/webhook/{webhook_id}/deliveries/{delivery_id}/replay",
}

func (h handlers) bodyReader() middleware.BodyReader {
	rules := map[string]middleware.BodyRule{tokenPath: {MaxBytes: maxSignInBodyBytes, AllowForm: true}}
	for _, path := range signInPaths {
		rules[path] = middleware.BodyRule{MaxBytes: maxSignInBodyBytes}
	}
	for _, path := range pathsWithoutBody {
		rules[path] = middleware.BodyRule{Discard: true}
	}
	return middleware.BodyReader{Budget: h.Limiter.BodyBytes, Rules: rules, Reject: reject}
}

// limitConcurrency admits calls while the server has capacity. Requests for the public keys
// are exempt: they have no body, and the keys are in memory.
func (h handlers) limitConcurrency(next http.Handler) http.Handler {
	admitted := middleware.LimitConcurrency(h.Limiter.Calls, writeBusy)(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == jwksPath {
			next.ServeHTTP(w, r)
			return
		}
		admitted.ServeHTTP(w, r)
	})
}

// limitTime sets a timeout for an operation, starting after its request has been read.
func limitTime(next contract.StrictHandlerFunc, _ string) contract.StrictHandlerFunc {
	return func(ctx context.Context, w http.ResponseWriter, r *http.Request, request any) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, storageTimeout)
		defer cancel()
		return next(ctx, w, r, request)
	}
}

// A Handler serves the contract and can report its routes.
type Handler struct{ router chi.Router }

// ServeHTTP removes the chi context of the outer router, which may have stripped the
// beginning of the path.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = resolveAlias(r)
	h.router.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, (*chi.Context)(nil))))
}

// Match reports whether the contract defines a method at a path.
func (h Handler) Match(context *chi.Context, method, path string) bool {
	return h.router.Match(context, method, canonicalPath(path))
}

// handlers implements contract.StrictServerInterface.
type handlers struct{ Options }

var _ contract.StrictServerInterface = handlers{}
