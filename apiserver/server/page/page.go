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

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/config"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/body"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// Surveys are what the pages show and change. *surveys.Register is them.
type Surveys interface {
	See(ctx context.Context, by audit.Actor, id string) (survey.Sight, error)
	Why(ctx context.Context, by audit.Actor, id string) (survey.Explained, error)
	Answer(ctx context.Context, by audit.Actor, id string, given survey.Given) (*guidance.Question, error)
	AnswerAgain(ctx context.Context, by audit.Actor, id string, index int, answer json.RawMessage) (*guidance.Question, error)
	Advice(ctx context.Context, by audit.Actor, id string) (surveys.Advice, error)
	Article(ctx context.Context, by audit.Actor, id, conditionID string) (guidance.Article, surveys.Advice, error)
	Surveys(ctx context.Context, by audit.Actor, patientID string, status guidance.Status, page surveys.Page) ([]guidance.Survey, int64, error)
	Items(q surveys.ListQuery, page surveys.Page) ([]guidance.Item, int64, error)
	Named(list guidance.SourceList, ids []string) ([]guidance.Item, error)
	Understand(list guidance.SourceList, words string) ([]guidance.Item, error)
}

// People sign in. *people.Register signs them in.
type People interface {
	SendPassword(ctx context.Context, to guidance.Contact, language string) error
	SignInByPassword(ctx context.Context, who guidance.Contact, code string) (userID string, err error)
	SignInByMagicCode(ctx context.Context, code, surveyID string) (session identity.Session, until time.Time, err error)
}

// Sessions are given to browsers and taken back. *identity.Authority does both.
type Sessions interface {
	IssueSession(session identity.Session, ends time.Time) (token string, err error)
	IssueOwnSession(userID string) (token string, err error)
	VerifySession(token string) (identity.Session, error)
}

// Content is what the pages say and show, whoever's they are.
type Content struct {
	words *vocabulary
	body  *body.Map
}

// ReadContent reads what the program was built with. The error names what does not fit
// together. It is meant for the start of a program, which keeps what it gives.
func ReadContent() (*Content, error) {
	words, err := readVocabulary(wordFiles)
	if err != nil {
		return nil, err
	}
	bodies, err := body.Read()
	return &Content{words, bodies}, err
}

// Options are what the pages stand on. All but the last two are required.
type Options struct {
	Surveys  Surveys
	People   People
	Sessions Sessions
	Content  *Content
	// Look is the tenant's, the same pointer for as long as it is the same look.
	Look  func() *config.Page
	Now   func() time.Time
	Guard *guard.Guard
	Log   *slog.Logger // of faults, each once
	// Throttle slows down those who guess; nil nobody.
	Throttle *throttle.Throttle
	// Demonstrate makes a survey for somebody to try, and is who answers it; nil but in
	// development.
	Demonstrate func(ctx context.Context, wanted Demonstration) (identity.Session, error)
}

type handlers struct {
	Options
	words *vocabulary
	body  *body.Map
	looks looks
}

// Paths that are no survey's.
const (
	root       = "/survey"
	logoPath   = root + "/assets/logo/"
	scriptPath = root + "/assets/script/"
)

const (
	// mostPosted is the most that a form may hold, in bytes: some thousand characters of
	// text, and the ids of what is chosen.
	mostPosted = 64 << 10
	// storagePatience is how long storage may take for a page.
	storagePatience = 10 * time.Second
	// compression is quick, and as good as the others for texts as short as these.
	compression = 5
)

// New serves the pages, and what says what is where.
func New(options Options) http.Handler {
	h := &handlers{Options: options, words: options.Content.words, body: options.Content.body, looks: looks{wanted: options.Look}}
	return h.router()
}

func (h *handlers) router() http.Handler {
	router := chi.NewRouter()
	router.NotFound(h.missing)
	router.MethodNotAllowed(middleware.MethodNotAllowed(router, func(w http.ResponseWriter, _ string) {
		w.WriteHeader(http.StatusMethodNotAllowed)
	}, h.missing))
	router.Use(h.sameOrigin, chimiddleware.Compress(compression, "text/html", "text/javascript", "image/svg+xml"), limited)
	router.Group(func(r chi.Router) {
		r.Use(middleware.Endpoint)
		r.Get("/", h.index)
		r.Get(scriptPath+"{version}", h.serveScript)
		r.Get(logoPath+"{version}", h.serveLogo)
	})
	router.Group(func(r chi.Router) {
		r.Use(middleware.Endpoint, middleware.Admit(h.Guard.Calls, h.busy))
		h.mount(r)
	})
	return router
}

// mount adds the pages of people and of surveys.
func (h *handlers) mount(r chi.Router) {
	const survey = root + "/{survey}"
	r.Get(root, h.showSurveys)
	r.Get(root+"/", func(w http.ResponseWriter, r *http.Request) { seeOther(w, r, root) })
	r.Post(root, h.signIn)
	r.Post(root+"/sign-out", h.signOut)
	if h.Demonstrate != nil {
		r.Get(root+"/demo", h.offerDemonstration)
		r.Post(root+"/demo", h.demonstrate)
	}
	r.Get(survey, h.enter)
	r.Post(survey, h.exchange)
	r.Group(func(r chi.Router) {
		r.Use(h.authorize)
		r.Get(survey+"/questions/{index}", h.showQuestion)
		r.Post(survey+"/questions/{index}", h.takeAnswer)
		r.Get(survey+"/why", h.showReason)
		r.Get(survey+"/emergency", h.showEmergency)
		r.Get(survey+"/answers", h.showAnswers)
		r.Get(survey+"/result", h.showResult)
		r.Get(survey+"/articles/{condition}", h.showArticle)
	})
}

// limited bounds what is read of a form.
func limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, mostPosted)
		next.ServeHTTP(w, r)
	})
}

// sameOrigin turns away what another web page has a browser send.
func (h *handlers) sameOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.note(w, r, http.StatusForbidden, "crossed")
	}))
	return protection.Handler(next)
}
