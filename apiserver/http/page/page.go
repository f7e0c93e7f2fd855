// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/body"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// Surveys is the survey service used by the pages. *service.Service implements it.
type Surveys interface {
	View(ctx context.Context, principal identity.Principal, id string) (flow.View, error)
	Explain(ctx context.Context, principal identity.Principal, id string) (flow.ExplainedView, error)
	AnswerViewed(ctx context.Context, principal identity.Principal, view *flow.View, index int, answer json.RawMessage) (*record.Question, error)
	PatientReport(ctx context.Context, principal identity.Principal, id string) (service.PatientReport, error)
	Article(ctx context.Context, principal identity.Principal, id, conditionID string) (record.Article, service.PatientReport, error)
	List(ctx context.Context, principal identity.Principal, patientID string, status record.Status, page record.Page) ([]record.Survey, int64, error)
	SearchItems(q service.ListQuery, page record.Page) ([]record.Item, int64, error)
	ItemsByID(list record.SourceList, ids []string) ([]record.Item, error)
	ParseText(list record.SourceList, text string) ([]record.Item, error)
}

// Users signs users in. *users.Service implements it.
type Users interface {
	SendOneTimePassword(ctx context.Context, to record.Contact, language string) error
	SignInWithPassword(ctx context.Context, contact record.Contact, code string) (userID string, err error)
	SignInWithMagicCode(ctx context.Context, code, surveyID string) (session identity.Session, until time.Time, err error)
}

// Sessions issues and verifies browser sessions. *identity.TokenIssuer implements it.
type Sessions interface {
	IssueSession(session identity.Session, ends time.Time) (token string, err error)
	IssueUserSession(userID string) (token string, err error)
	VerifySession(token string) (identity.Session, error)
}

// Content is the page content shared by all tenants.
type Content struct {
	messages *i18n.Catalog
	body     *body.Map
}

// ReadContent reads the embedded content. It returns an error if the content is
// inconsistent. Call it once at startup and keep the result.
func ReadContent() (*Content, error) {
	text, err := i18n.Load(content.Texts, "page")
	if err != nil {
		return nil, err
	}
	bodies, err := body.Read()
	return &Content{text, bodies}, err
}

// Options are the dependencies of the pages. All but the last two are required.
type Options struct {
	Surveys  Surveys
	Users    Users
	Sessions Sessions
	Content  *Content
	// Theme returns the tenant's branding. The pointer changes only if the configuration
	// does.
	Theme   func() *Branding
	Now     func() time.Time
	Limiter *limiter.Limiter
	Log     *slog.Logger // server faults, each once
	// Throttle throttles guessing; nil disables it.
	Throttle *throttle.Throttle
	// CreateDemoSurvey creates a demo survey and returns a session for it; nil except in
	// development.
	CreateDemoSurvey func(ctx context.Context, wanted DemoSurvey) (identity.Session, error)
}

type handlers struct {
	Options
	messages *i18n.Catalog
	body     *body.Map
	themes   themeCache
}

// Paths outside surveys.
const (
	rootPath   = "/survey"
	logoPath   = rootPath + "/assets/logo/"
	scriptPath = rootPath + "/assets/script/"
)

const (
	// maxFormBytes limits the size of a form, in bytes: a few thousand characters of text and
	// the IDs of the chosen items.
	maxFormBytes = 64 << 10
	// storageTimeout is the timeout of a request, which mostly waits for storage.
	storageTimeout = 10 * time.Second
	// compressionLevel is fast, and compresses such short texts as well as higher levels.
	compressionLevel = 5
)

// New returns the handler of the pages and of the index.
func New(options Options) http.Handler {
	h := &handlers{Options: options, messages: options.Content.messages, body: options.Content.body, themes: themeCache{config: options.Theme}}
	return h.router()
}

func (h *handlers) router() http.Handler {
	router := chi.NewRouter()
	router.NotFound(h.notFound)
	router.MethodNotAllowed(middleware.MethodNotAllowed(router, func(w http.ResponseWriter, _ string) {
		w.WriteHeader(http.StatusMethodNotAllowed)
	}, h.notFound))
	router.Use(h.rejectCrossOrigin, chimiddleware.Compress(compressionLevel, "text/html", "text/javascript", "image/svg+xml"), limitBody)
	router.Group(func(r chi.Router) {
		r.Use(middleware.RecordEndpoint)
		r.Get("/", h.showIndex)
		r.Get(scriptPath+"{version}", h.serveScript)
		r.Get(logoPath+"{version}", h.serveLogo)
	})
	router.Group(func(r chi.Router) {
		r.Use(middleware.RecordEndpoint, middleware.LimitConcurrency(h.Limiter.Calls, h.renderBusy), limitTime)
		h.mount(r)
	})
	return router
}

// limitTime sets a timeout for requests.
func limitTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), storageTimeout)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// mount adds the routes of users and surveys.
func (h *handlers) mount(r chi.Router) {
	const survey = rootPath + "/{survey}"
	r.Get(rootPath, h.showSurveys)
	r.Get(rootPath+"/", func(w http.ResponseWriter, r *http.Request) { seeOther(w, r, rootPath) })
	r.Post(rootPath, h.signIn)
	r.Post(rootPath+"/sign-out", h.signOut)
	if h.CreateDemoSurvey != nil {
		r.Get(rootPath+"/demo", h.showDemo)
		r.Post(rootPath+"/demo", h.startDemo)
	}
	r.Get(survey, h.openSurvey)
	r.Post(survey, h.exchangeMagicCode)
	r.Group(func(r chi.Router) {
		r.Use(h.authorize)
		r.Get(survey+"/questions/{index}", h.showQuestion)
		r.Post(survey+"/questions/{index}", h.handleAnswer)
		r.Get(survey+"/why", h.showReason)
		r.Get(survey+"/emergency", h.showEmergency)
		r.Get(survey+"/answers", h.showAnswers)
		r.Get(survey+"/result", h.showResult)
		r.Get(survey+"/articles/{condition}", h.showArticle)
	})
}

// limitBody limits the size of forms.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
		next.ServeHTTP(w, r)
	})
}

// rejectCrossOrigin rejects requests that other sites make the browser send.
func (h *handlers) rejectCrossOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.renderNotice(w, r, http.StatusForbidden, "crossed")
	}))
	return protection.Handler(next)
}
