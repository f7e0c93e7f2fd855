// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/config"
	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
	"github.com/anamnesis-dev/anamnesis/apiserver/sealing"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

var portal = audit.Actor{Application: "portal"}

// A clinic is an instance that patients answer surveys of, with the whole content.
type clinic struct {
	t        testing.TB
	address  string
	people   *people.Register
	surveys  *surveys.Register
	sessions *identity.Authority
	look     atomic.Pointer[config.Page]
	features atomic.Pointer[section.Features]
	skew     atomic.Int64 // by how much its clock is ahead
	log      lines
	sent     chan people.Password
}

// lines is a log that is read while it is written.
type lines struct {
	sync.Mutex
	strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Builder.Write(line)
}

func (l *lines) String() string {
	l.Lock()
	defer l.Unlock()
	return l.Builder.String()
}

// library is the compiled content of all languages, opened once.
var library = sync.OnceValues(func() (*model.Library, error) {
	dir, err := os.MkdirTemp("", "anamnesis-page-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it stays mapped
	var wanted []model.Wanted
	for _, language := range []string{"en", "en-US", "de"} {
		file, err := compiled.In(language)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, file.Name), file.Data, 0o600); err != nil {
			return nil, err
		}
		wanted = append(wanted, model.Wanted{ID: file.Meta.ModelID})
	}
	return model.OpenLibrary(dir, wanted)
})

func newClinic(t testing.TB) *clinic {
	t.Helper()
	return newClinicOver(t, "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"))
}

// newClinicOver is a clinic over the storage at a URL.
func newClinicOver(t testing.TB, url string) *clinic {
	t.Helper()
	c := &clinic{t: t, sent: make(chan people.Password, 10)}
	store := c.open(url)
	keys, err := sealing.Generate()
	c.must(err)
	signing, err := identity.NewSigningKeys()
	c.must(err)
	models, err := library()
	c.must(err)
	words, err := section.ReadVocabulary()
	c.must(err)
	c.people = &people.Register{Storage: store, Keys: keys, Now: c.now, Send: func(p people.Password) { c.sent <- p }}
	c.features.Store(&section.Features{PatientResults: true})
	c.surveys = &surveys.Register{
		Storage: store, Models: models, Engine: engine.New(), Words: words, Now: c.now,
		Features: func() section.Features { return *c.features.Load() },
	}
	c.sessions = &identity.Authority{Instance: "clinic", Keys: signing, Now: c.now}
	c.look.Store(&config.Page{Name: "Lakeside Clinic", Primary: "#005ea5", Accent: "#00703c", EmergencyNumber: "112", CrisisLine: "116 123"})
	c.serve()
	return c
}

func (c *clinic) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *clinic) now() time.Time { return time.Now().Add(time.Duration(c.skew.Load())) }

func (c *clinic) open(url string) storage.Store {
	c.t.Helper()
	store, err := open.New(url)
	c.must(err)
	c.must(store.Open(context.Background(), storage.Owner{}))
	c.t.Cleanup(func() { _ = store.Close() })
	return store
}

// pages are the pages, which take turns as a guard says.
func (c *clinic) pages(guard *guard.Guard, log *slog.Logger) http.Handler {
	c.t.Helper()
	content, err := page.ReadContent()
	c.must(err)
	return page.New(page.Options{
		Surveys: c.surveys, People: c.people, Sessions: c.sessions, Content: content, Look: c.look.Load, Now: c.now,
		Guard: guard, Log: log, Throttle: throttle.New(c.now),
	})
}

// serve begins to serve the pages.
func (c *clinic) serve() {
	c.t.Helper()
	log := slog.New(slog.NewTextHandler(&c.log, nil))
	handler := c.pages(guard.New(guard.LimitsFor(0, 2), func(guard.Reason) {}), log)
	trusts := func(netip.Addr) bool { return false }
	observed := middleware.Observe(log, nobody{})(middleware.Recover(log, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
	})(handler))
	server := httptest.NewServer(middleware.Identify(middleware.Locate(trusts)(observed)))
	c.t.Cleanup(server.Close)
	c.address = server.URL
}

// nobody is told of answers.
type nobody struct{}

func (nobody) Observe(string, int, time.Duration) {}

// A wish is what survey is wanted of whom.
type wish struct {
	Type, Language string
	Patient        guidance.Patient
	Contact        guidance.Contact
	Sections       []string
	Expires        time.Time // zero: never
}

// survey makes a survey, with a user and a patient of its own.
func (c *clinic) survey(w wish) guidance.Survey {
	c.t.Helper()
	ctx := context.Background()
	user, err := c.people.CreateUser(ctx, portal, w.Contact)
	c.must(err)
	w.Patient.UserID = user.ID
	patient, err := c.people.CreatePatient(ctx, portal, w.Patient)
	c.must(err)
	return c.surveyOf(patient, w)
}

// surveyOf makes a survey of a patient.
func (c *clinic) surveyOf(patient guidance.Patient, w wish) guidance.Survey {
	c.t.Helper()
	kind := w.Type
	if kind == "" {
		kind = string(guidance.Triage)
	}
	made, err := c.surveys.Create(context.Background(), portal, surveys.NewSurvey{
		PatientID: patient.ID, Language: w.Language,
		Creation: survey.Creation{Type: kind, Sections: w.Sections, ExpirationDate: w.Expires},
	})
	c.must(err)
	return made
}

// link is the magic link of a survey.
func (c *clinic) link(s guidance.Survey) string {
	c.t.Helper()
	patient, err := c.people.Patient(context.Background(), portal, s.PatientID)
	c.must(err)
	code, err := c.people.CreateMagicCode(context.Background(), identity.Session{UserID: patient.UserID, SurveyID: s.ID}, s.ExpirationDate)
	c.must(err)
	return c.address + "/survey/" + s.ID + "?magicCode=" + code
}

// client is a browser without a script, which keeps cookies and follows no redirects. It
// takes http on this machine for safe, as browsers do.
func (c *clinic) client() *http.Client {
	c.t.Helper()
	jar, err := cookiejar.New(nil)
	c.must(err)
	return &http.Client{
		Jar: safe{jar}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// follow clicks on what leads to another page, and waits for it: the script puts it in
// the place of this one, without it the browser loads it.
func follow(tab *browser.Tab, selector string) {
	browser.Evaluate[bool](tab, `document.getElementById("main").dataset.old = "", true`)
	tab.Click(selector)
	tab.Await("#main:not([data-old])")
}

// date is today, as pages in English say it.
func (c *clinic) date() string { return c.now().UTC().Format("2 January 2006") }
