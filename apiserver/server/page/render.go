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

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates are those of all pages, by name. Each fills in the frame.
var templates = parseTemplates("alarm", "answers", "article", "demo", "index", "link", "list", "note", "question", "result", "sign-in", "start", "why")

// script is that of all pages, and scriptAddress where they find it.
var (
	script        = []byte(fileOf("assets/page.js"))
	scriptAddress = scriptPath + versionOf(script)
)

func parseTemplates(names ...string) map[string]*template.Template {
	parsed := map[string]*template.Template{}
	shared := template.Must(template.New("").Funcs(template.FuncMap{"first": first, "rest": rest}).ParseFS(templateFiles, "templates/frame.html", "templates/parts.html"))
	for _, name := range names {
		parsed[name] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, "templates/"+name+".html"))
	}
	return parsed
}

// mostReasons is how many reasons for and against a condition stand at first: the
// strongest come first, and more are a list that nobody reads.
const mostReasons = 5

func first(names []guidance.Naming) []guidance.Naming { return names[:min(len(names), mostReasons)] }
func rest(names []guidance.Naming) []guidance.Naming  { return names[min(len(names), mostReasons):] }

// A frame is what every page has, with the data of one.
type frame struct {
	Look   *look
	Words  *Words
	Name   string // of the template
	Who    string // to whom a page of a survey speaks; empty on others
	Survey string // the path of the survey; empty on pages of none
	ID     string // of the survey
	// Emergency is the level of an emergency that is known.
	Emergency string
	Crisis    bool // whether somebody to talk to is named
	Script    string
	Data      any
}

// T is a text, to whom the page speaks where it differs, with values in their places.
func (f frame) T(id string, namesAndValues ...any) string {
	values := make([]string, len(namesAndValues))
	for i, value := range namesAndValues {
		values[i] = fmt.Sprint(value)
	}
	if said := id + "." + f.Who; f.Who != "" && f.Words.has(said) {
		id = said
	}
	return f.Words.text(id, values...)
}

// With is the frame with other data, for a part that pages share.
func (f frame) With(data any) frame {
	f.Data = data
	return f
}

// Problem is what is wrong with a form.
func (f frame) Problem(p *problem) string {
	values := make([]any, len(p.Values))
	for i, value := range p.Values {
		values[i] = value
	}
	return f.T(p.Text, values...)
}

// Either is the text with the first of two ids where a value is known, and else the one
// with the second.
func (f frame) Either(value, id, otherwise string) string {
	if value == "" {
		return f.T(otherwise)
	}
	return f.T(id, "number", value)
}

// Dial is a telephone number as a link has it.
func (f frame) Dial(number string) template.URL {
	digits := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c == '+' {
			return c
		}
		return -1
	}, number)
	return template.URL("tel:" + digits) //nolint:gosec // digits
}

// Date is a day in the words of the language.
func (f frame) Date(moment time.Time) string { return f.Words.date(moment) }

// renderOf writes a page of a survey, in its language.
func (h *handlers) renderOf(w http.ResponseWriter, r *http.Request, status int, name string, sight *survey.Sight, data any) {
	h.write(w, r, status, frame{
		Name: name, Words: h.words.In(sight.Survey.Language), Who: whoOf(&sight.Survey, sight.Age),
		Survey: pathOf(sight.Survey.ID), ID: sight.Survey.ID, Emergency: sight.Emergency, Crisis: sight.Crisis, Data: data,
	})
}

// render writes a page of no survey.
func (h *handlers) render(w http.ResponseWriter, r *http.Request, status int, name string, words *Words, data any) {
	h.write(w, r, status, frame{Name: name, Words: words, Data: data})
}

// write writes a page, or that something is broken.
func (h *handlers) write(w http.ResponseWriter, r *http.Request, status int, f frame) {
	f.Look, f.Script = h.looks.now(), scriptAddress
	var text bytes.Buffer
	if err := templates[f.Name].ExecuteTemplate(&text, "frame", f); err != nil {
		h.Log.LogAttrs(r.Context(), slog.LevelError, "a page could not be written",
			slog.String("requestId", middleware.CallOf(r.Context()).RequestID), slog.String("page", f.Name), slog.String("error", err.Error()))
		http.Error(w, f.Words.text("broken.title"), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Language", f.Words.Tag)
	header.Set("Content-Security-Policy", f.Look.policy)
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "strict-origin") // the address of a page has the id of a survey
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
}

type noteView struct{ Note, Request, Date string }

// note writes a page that says one thing.
func (h *handlers) note(w http.ResponseWriter, r *http.Request, status int, note string) {
	h.noteIn(w, r, status, noteView{Note: note})
}

func (h *handlers) noteIn(w http.ResponseWriter, r *http.Request, status int, view noteView) {
	view.Request = middleware.CallOf(r.Context()).RequestID
	h.render(w, r, status, "note", h.words.In(r.Header.Get("Accept-Language")), view)
}

func (h *handlers) missing(w http.ResponseWriter, r *http.Request) {
	h.note(w, r, http.StatusNotFound, "missing")
}

func (h *handlers) busy(w http.ResponseWriter, r *http.Request) {
	h.note(w, r, http.StatusServiceUnavailable, "busy")
}

// fail says what an error means to a patient, or sends the browser to where the survey
// is now. What nobody can help is written down once.
func (h *handlers) fail(w http.ResponseWriter, r *http.Request, err error) {
	path := pathOf(surveyID(r))
	if expired, ok := errors.AsType[*survey.ExpiredError](err); ok {
		words := h.words.In(r.Header.Get("Accept-Language"))
		h.noteIn(w, r, http.StatusConflict, noteView{Note: "expired", Date: words.date(expired.Since)})
		return
	}
	if moved, ok := errors.AsType[*survey.NotCurrentError](err); ok {
		seeOther(w, r, questionPath(path, moved.Current))
		return
	}
	if _, ok := errors.AsType[*survey.ClosedError](err); ok {
		seeOther(w, r, path+"/result")
		return
	}
	switch {
	case errors.Is(err, storage.ErrNotFound):
		h.note(w, r, http.StatusNotFound, "missing")
	case errors.Is(err, surveys.ErrNotCompleted):
		seeOther(w, r, path)
	case errors.Is(err, guard.ErrBusy), errors.Is(err, storage.ErrContended), errors.Is(err, storage.ErrNotOpen),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		middleware.ComeBackLater(w)
		h.busy(w, r)
	default:
		h.Log.LogAttrs(r.Context(), slog.LevelError, "a page of a patient failed",
			slog.String("requestId", middleware.CallOf(r.Context()).RequestID), slog.String("error", err.Error()))
		h.note(w, r, http.StatusInternalServerError, "broken")
	}
}
