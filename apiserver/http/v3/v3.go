// SPDX-License-Identifier: Apache-2.0

// Package v3 serves the symptom assessment API under /v3. Its handlers validate requests and
// translate between the types generated from the contract and the types of the packages
// assessment, catalog, inference, search, nlp and feedback, which compute the results.
package v3

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
)

// Models leases releases. *model.Library implements it.
type Models interface {
	// Acquire leases the release of a model, or of the default model if the ID is empty.
	// It returns a *model.UnknownModelError for a model that is not served.
	Acquire(modelID string) (*model.Lease, error)
}

// Options are the dependencies of the API. All but Throttle are required.
type Options struct {
	Models   Models
	Engine   *inference.Engine
	Tokens   InterviewTokens
	Feedback FeedbackStore
	Now      func() time.Time
	Limiter  *limiter.Limiter
	Log      *slog.Logger

	Applications middleware.ApplicationAuthenticator
	Throttle     *throttle.Throttle // throttles key guessing; nil disables it
	Operations   access.Operations  // operations of the contract; others are denied
	Meter        middleware.Meter
}

// API serves /v3.
type API struct {
	models        Models
	engine        *inference.Engine
	tokens        InterviewTokens
	feedback      FeedbackStore
	now           func() time.Time
	limiter       *limiter.Limiter
	log           *slog.Logger
	authorization middleware.Authorization
	meter         middleware.Meter
}

// New returns the API.
func New(o Options) *API {
	return &API{
		models: o.Models, engine: o.Engine, tokens: o.Tokens, feedback: o.Feedback, now: o.Now, limiter: o.Limiter, log: o.Log,
		authorization: authorization(o), meter: o.Meter,
	}
}

// authorization returns the middleware that authenticates applications and authorizes
// their calls.
func authorization(o Options) middleware.Authorization {
	keys := middleware.ApplicationAuth{
		Applications: o.Applications, Throttle: o.Throttle, OnUnauthenticated: unauthenticated, OnThrottled: tooManyAttempts,
	}
	return middleware.Authorization{
		Operations:     o.Operations,
		Authenticators: map[access.Scheme]middleware.Authenticator{access.SchemeApplicationKey: keys.Authenticate},
		Deny:           deny,
	}
}

// Mount adds the routes of /v3 to a router.
func (a *API) Mount(r chi.Router) {
	strict := enginev3.NewStrictHandlerWithOptions(a, nil, enginev3.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  a.handleError,
		ResponseErrorHandlerFunc: a.handleError,
	})
	r.Group(func(r chi.Router) {
		r.Use(
			a.authorization.Middleware, middleware.MeterUsage(a.meter, planLimitExceeded),
			a.validateInterviewID, a.withRelease, middleware.BodyReader{Budget: a.limiter.BodyBytes, Reject: rejectBody}.Middleware,
			middleware.LimitConcurrency(a.limiter.Calls, writeBusy))
		enginev3.HandlerWithOptions(strict, enginev3.ChiServerOptions{
			BaseURL: "/v3", BaseRouter: r, ErrorHandlerFunc: a.handleError,
		})
	})
}

// validateInterviewID rejects an Interview-Id that is unsuitable for logs or storage.
func (a *API) validateInterviewID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !identifier.IsVisibleASCII(r.Header.Get("Interview-Id"), identifier.MaxLength) {
			a.handleError(w, r, badRequest("Interview-Id: expected at most 128 visible ASCII characters, preferably a UUID"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

type releaseKey struct{}

// withRelease leases the release of the requested model until the response is written,
// because the response refers to texts of the release.
func (a *API) withRelease(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lease, err := a.models.Acquire(r.Header.Get("Model"))
		var unknown *model.UnknownModelError
		switch {
		case errors.As(err, &unknown):
			a.handleError(w, r, badRequest("Model: this instance serves %s, got %s", strings.Join(unknown.Served, ", "), assessment.Quote(unknown.ID)))
			return
		case err != nil:
			a.handleError(w, r, err)
			return
		}
		defer lease.Done()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), releaseKey{}, lease.Release())))
	})
}

// releaseFrom returns the release that withRelease put into the context.
func releaseFrom(ctx context.Context) *model.Release {
	return ctx.Value(releaseKey{}).(*model.Release)
}
