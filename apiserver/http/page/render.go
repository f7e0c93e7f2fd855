// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates contains the templates of all pages by name. Each page is rendered inside the
// frame.
var templates = parseTemplates("alarm", "answers", "article", "demo", "index", "link", "list", "note", "question", "result", "sign-in", "start", "why")

// script is the script of all pages, and scriptURL its path.
var (
	script    = []byte(mustReadAsset("assets/page.js"))
	scriptURL = scriptPath + contentHash(script)
)

func parseTemplates(names ...string) map[string]*template.Template {
	parsed := map[string]*template.Template{}
	shared := template.Must(template.New("").Funcs(template.FuncMap{"first": first, "rest": rest}).ParseFS(templateFiles, "templates/frame.html", "templates/parts.html"))
	for _, name := range names {
		parsed[name] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, "templates/"+name+".html"))
	}
	return parsed
}

// maxReasons is the number of reasons for and against a condition that are shown initially,
// strongest first. Most patients do not read longer lists.
const maxReasons = 5

func first(names []record.Concept) []record.Concept { return names[:min(len(names), maxReasons)] }
func rest(names []record.Concept) []record.Concept  { return names[min(len(names), maxReasons):] }

// A frame is the common template data of all pages, with the data of one page.
type frame struct {
	Look   *theme
	Words  *i18n.Texts
	Name   string // template name
	Who    string // the audience of a survey page; empty on other pages
	Survey string // path of the survey; empty outside surveys
	ID     string // survey ID
	// Emergency is the triage level of a known emergency.
	Emergency string
	Crisis    bool // whether to show the crisis line
	Script    string
	Data      any
}

// T returns a message with the placeholders replaced. It prefers the variant for the
// audience, if available.
func (f frame) T(id string, namesAndValues ...any) string {
	values := make([]string, len(namesAndValues))
	for i, value := range namesAndValues {
		values[i] = fmt.Sprint(value)
	}
	if variant := id + "." + f.Who; f.Who != "" && f.Words.Has(variant) {
		id = variant
	}
	return f.Words.Text(id, values...)
}

// With returns a copy of the frame with other data, for shared partials.
func (f frame) With(data any) frame {
	f.Data = data
	return f
}

// Problem returns the message of a form error.
func (f frame) Problem(p *formError) string {
	values := make([]any, len(p.Values))
	for i, value := range p.Values {
		values[i] = value
	}
	return f.T(p.MessageID, values...)
}

// Either returns the message id if the value is set, and the message fallback otherwise.
func (f frame) Either(value, id, fallback string) string {
	if value == "" {
		return f.T(fallback)
	}
	return f.T(id, "number", value)
}

// Dial returns a tel URL for a telephone number.
func (f frame) Dial(number string) template.URL {
	digits := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c == '+' {
			return c
		}
		return -1
	}, number)
	return template.URL("tel:" + digits) //nolint:gosec // digits
}

// Date formats a date in the language of the page.
func (f frame) Date(date time.Time) string { return formatDate(f.Words, date) }

// renderSurvey writes a page of a survey, in the survey's language.
func (h *handlers) renderSurvey(w http.ResponseWriter, r *http.Request, status int, name string, view *flow.View, data any) {
	h.writePage(w, r, status, frame{
		Name: name, Words: h.messages.Match(view.Survey.Language), Who: audienceFor(&view.Survey, view.Age),
		Survey: pathForSurvey(view.Survey.ID), ID: view.Survey.ID, Emergency: view.Emergency, Crisis: view.Crisis, Data: data,
	})
}

// render writes a page outside surveys.
func (h *handlers) render(w http.ResponseWriter, r *http.Request, status int, name string, words *i18n.Texts, data any) {
	h.writePage(w, r, status, frame{Name: name, Words: words, Data: data})
}

// writePage writes a page, or an error page if rendering fails.
func (h *handlers) writePage(w http.ResponseWriter, r *http.Request, status int, f frame) {
	f.Look, f.Script = h.themes.current(), scriptURL
	var text bytes.Buffer
	if err := templates[f.Name].ExecuteTemplate(&text, "frame", f); err != nil {
		h.Log.LogAttrs(r.Context(), slog.LevelError, "failed to render page",
			slog.String("requestId", middleware.RequestInfoFrom(r.Context()).RequestID), slog.String("page", f.Name), slog.String("error", err.Error()))
		http.Error(w, f.Words.Text("broken.title"), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Language", f.Words.Tag.String())
	header.Set("Content-Security-Policy", f.Look.policy)
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "strict-origin") // page URLs contain the survey ID
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
}

type noticeView struct{ Note, Request, Date string }

// renderNotice writes a page with a single message.
func (h *handlers) renderNotice(w http.ResponseWriter, r *http.Request, status int, renderNotice string) {
	h.renderNoticeView(w, r, status, noticeView{Note: renderNotice})
}

func (h *handlers) renderNoticeView(w http.ResponseWriter, r *http.Request, status int, view noticeView) {
	view.Request = middleware.RequestInfoFrom(r.Context()).RequestID
	h.render(w, r, status, "note", h.messages.Match(r.Header.Get("Accept-Language")), view)
}

func (h *handlers) notFound(w http.ResponseWriter, r *http.Request) {
	h.renderNotice(w, r, http.StatusNotFound, "missing")
}

func (h *handlers) renderBusy(w http.ResponseWriter, r *http.Request) {
	h.renderNotice(w, r, http.StatusServiceUnavailable, "busy")
}

// handleError renders a page that explains an error to the patient, or redirects to the
// current page of the survey. It logs server faults once.
func (h *handlers) handleError(w http.ResponseWriter, r *http.Request, err error) {
	path := pathForSurvey(surveyID(r))
	if expired, ok := errors.AsType[*flow.ExpiredError](err); ok {
		words := h.messages.Match(r.Header.Get("Accept-Language"))
		h.renderNoticeView(w, r, http.StatusConflict, noticeView{Note: "expired", Date: formatDate(words, expired.Since)})
		return
	}
	if moved, ok := errors.AsType[*flow.NotCurrentError](err); ok {
		seeOther(w, r, questionPath(path, moved.Current))
		return
	}
	if _, ok := errors.AsType[*flow.ClosedError](err); ok {
		seeOther(w, r, path+"/result")
		return
	}
	switch {
	case errors.Is(err, record.ErrNotFound):
		h.renderNotice(w, r, http.StatusNotFound, "missing")
	case errors.Is(err, service.ErrNotCompleted):
		seeOther(w, r, path)
	case errors.Is(err, limiter.ErrBusy), errors.Is(err, record.ErrConflict), errors.Is(err, record.ErrNotOpen),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		middleware.SetBusyRetryAfter(w)
		h.renderBusy(w, r)
	default:
		h.Log.LogAttrs(r.Context(), slog.LevelError, "failed to handle page request",
			slog.String("requestId", middleware.RequestInfoFrom(r.Context()).RequestID), slog.String("error", err.Error()))
		h.renderNotice(w, r, http.StatusInternalServerError, "broken")
	}
}
