// SPDX-License-Identifier: Apache-2.0

// Package v3 serves the symptom assessment under /v3. Its handlers translate
// between the types generated from the contract and those of the packages
// assessment, catalogue, engine, search, language and feedback, and decide nothing:
// what a request must look like is here, what the answer is, is there.
package v3

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
)

// Models lends releases. *model.Library is one.
type Models interface {
	// Acquire leases the release of a model, of the default one when the id is
	// empty. Its error for a model that is not served is a
	// *model.UnknownModelError.
	Acquire(modelID string) (*model.Lease, error)
}

// Options are what the API stands on. All are required.
type Options struct {
	Models   Models
	Engine   *engine.Engine
	Tokens   InterviewTokens
	Feedback FeedbackStore
	Now      func() time.Time
	Guard    *guard.Guard
	Log      *slog.Logger
}

// API serves /v3.
type API struct {
	models   Models
	engine   *engine.Engine
	tokens   InterviewTokens
	feedback FeedbackStore
	now      func() time.Time
	guard    *guard.Guard
	log      *slog.Logger
}

// New makes the API.
func New(o Options) *API {
	return &API{models: o.Models, engine: o.Engine, tokens: o.Tokens, feedback: o.Feedback, now: o.Now, guard: o.Guard, log: o.Log}
}

// Mount adds the routes of /v3 to a router, whose middleware has
// authenticated the caller.
func (a *API) Mount(r chi.Router) {
	strict := enginev3.NewStrictHandlerWithOptions(a, nil, enginev3.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  a.fail,
		ResponseErrorHandlerFunc: a.fail,
	})
	r.Group(func(r chi.Router) {
		r.Use(
			a.checkInterviewID, a.lease, middleware.Bodies{Held: a.guard.Bodies, Refuse: refuse}.Read,
			middleware.Admit(a.guard.Calls, busy))
		enginev3.HandlerWithOptions(strict, enginev3.ChiServerOptions{
			BaseURL: "/v3", BaseRouter: r, ErrorHandlerFunc: a.fail,
		})
	})
}

// checkInterviewID refuses an Interview-Id that no log or table could hold.
func (a *API) checkInterviewID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !middleware.Visible(r.Header.Get("Interview-Id")) {
			a.fail(w, r, badRequest("Interview-Id: expected at most 128 visible ASCII characters, best a UUID"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

type releaseKey struct{}

// lease holds the release of the chosen model until the answer is written,
// because the answer is made of its texts.
func (a *API) lease(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lease, err := a.models.Acquire(r.Header.Get("Model"))
		var unknown *model.UnknownModelError
		switch {
		case errors.As(err, &unknown):
			a.fail(w, r, badRequest("Model: this instance serves %s, got %s", strings.Join(unknown.Served, ", "), assessment.Quote(unknown.ID)))
			return
		case err != nil:
			a.fail(w, r, err)
			return
		}
		defer lease.Done()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), releaseKey{}, lease.Release())))
	})
}

// releaseOf is the release that lease put into the context.
func releaseOf(ctx context.Context) *model.Release {
	return ctx.Value(releaseKey{}).(*model.Release)
}
