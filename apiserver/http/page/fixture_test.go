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

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/page"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

var portalActor = identity.Principal{Actor: audit.Actor{Application: "portal"}}

// A fixture is an instance with the full content, in which patients answer surveys.
type fixture struct {
	t             testing.TB
	address       string
	users         *users.Service
	surveys       *service.Service
	sessions      *identity.TokenIssuer
	theme         atomic.Pointer[page.Branding]
	features      atomic.Pointer[section.Features]
	clockOffset   atomic.Int64 // how far its clock is ahead
	log           logBuffer
	sentPasswords chan users.OneTimePassword
}

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	sync.Mutex
	strings.Builder
}

func (l *logBuffer) Write(line []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Builder.Write(line)
}

func (l *logBuffer) String() string {
	l.Lock()
	defer l.Unlock()
	return l.Builder.String()
}

// library is the compiled content of all languages, opened once.
var library = sync.OnceValues(func() (*model.Store, error) {
	dir, err := os.MkdirTemp("", "anamnesis-page-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // the releases stay mapped
	var wanted []model.ReleaseRef
	for _, language := range []string{"en", "en-US", "de"} {
		file, err := compiled.ForLanguage(language)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, file.Name), file.Data, 0o600); err != nil {
			return nil, err
		}
		wanted = append(wanted, model.ReleaseRef{ID: file.Meta.ModelID})
	}
	return model.OpenStore(dir, wanted)
})

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return newFixtureOver(t, "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"))
}

// newFixtureOver returns a fixture on the storage at a URL.
func newFixtureOver(t testing.TB, url string) *fixture {
	t.Helper()
	c := &fixture{t: t, sentPasswords: make(chan users.OneTimePassword, 10)}
	store := c.openStore(url)
	keys, err := encryption.GenerateKeyring()
	c.must(err)
	signing, err := identity.NewSigningKeys()
	c.must(err)
	models, err := library()
	c.must(err)
	words, err := section.LoadTexts()
	c.must(err)
	c.users = &users.Service{Storage: storage.Scope[users.Reader, users.Tx]{Store: store}, Keyring: keys, Now: c.now, Deliver: func(p users.OneTimePassword) { c.sentPasswords <- p }}
	c.features.Store(&section.Features{PatientResults: true})
	c.surveys = &service.Service{
		Storage: storage.Scope[service.Reader, service.Tx]{Store: store}, Models: models, Engine: inference.New(), Texts: words, Now: c.now,
		Features: func() section.Features { return *c.features.Load() },
	}
	c.sessions = &identity.TokenIssuer{InstanceID: "clinic", SigningKeys: signing, Now: c.now}
	c.theme.Store(&page.Branding{Name: "Lakeside Clinic", Primary: "#005ea5", Accent: "#00703c", EmergencyNumber: "112", CrisisLine: "116 123"})
	c.serve()
	return c
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) now() time.Time { return time.Now().Add(time.Duration(f.clockOffset.Load())) }

func (f *fixture) openStore(url string) storage.Store {
	f.t.Helper()
	store, err := open.New(url)
	f.must(err)
	f.must(store.Open(context.Background(), storage.Owner{}))
	f.t.Cleanup(func() { _ = store.Close() })
	return store
}

// newHandler returns the pages with a limiter.
func (f *fixture) newHandler(guard *limiter.Limiter, log *slog.Logger) http.Handler {
	f.t.Helper()
	content, err := page.ReadContent()
	f.must(err)
	return page.New(page.Options{
		Surveys: f.surveys, Users: f.users, Sessions: f.sessions, Content: content, Theme: f.theme.Load, Now: f.now,
		Limiter: guard, Log: log, Throttle: throttle.New(f.now),
	})
}

// serve starts serving the pages.
func (f *fixture) serve() {
	f.t.Helper()
	log := slog.New(slog.NewTextHandler(&f.log, nil))
	handler := f.newHandler(limiter.New(limiter.LimitsForMemory(0, 2), func(limiter.Reason) {}), log)
	trusts := func(netip.Addr) bool { return false }
	observed := middleware.LogRequests(log, nopObserver{})(middleware.RecoverPanics(log, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
	})(handler))
	server := httptest.NewServer(middleware.WithRequestInfo(middleware.ResolveClientAddr(trusts)(observed)))
	f.t.Cleanup(server.Close)
	f.address = server.URL
}

// nopObserver ignores responses.
type nopObserver struct{}

func (nopObserver) Observe(string, int, time.Duration) {}

// A surveySpec describes a survey and its patient.
type surveySpec struct {
	Type, Language string
	Patient        record.Patient
	Contact        record.Contact
	Sections       []string
	Expires        time.Time // zero: never
}

// createSurvey creates a survey with its own user and patient.
func (f *fixture) createSurvey(w surveySpec) record.Survey {
	f.t.Helper()
	ctx := context.Background()
	user, err := f.users.CreateUser(ctx, portalActor, w.Contact)
	f.must(err)
	w.Patient.UserID = user.ID
	patient, err := f.users.CreatePatient(ctx, portalActor, w.Patient)
	f.must(err)
	return f.createSurveyFor(patient, w)
}

// createSurveyFor creates a survey of a patient.
func (f *fixture) createSurveyFor(patient record.Patient, w surveySpec) record.Survey {
	f.t.Helper()
	kind := w.Type
	if kind == "" {
		kind = string(record.TypeTriage)
	}
	made, err := f.surveys.Create(context.Background(), portalActor, service.CreateRequest{
		PatientID: patient.ID, Language: w.Language,
		CreateOptions: flow.CreateOptions{Type: kind, Sections: w.Sections, ExpirationDate: w.Expires},
	})
	f.must(err)
	return made
}

// magicLink returns the magic link of a survey.
func (f *fixture) magicLink(s record.Survey) string {
	f.t.Helper()
	patient, err := f.users.GetPatient(context.Background(), portalActor, s.PatientID)
	f.must(err)
	code, err := f.users.CreateMagicCode(context.Background(), identity.Session{UserID: patient.UserID, SurveyID: s.ID}, s.ExpirationDate)
	f.must(err)
	return f.address + "/survey/" + s.ID + "?magicCode=" + code
}

// newBrowser returns a client without scripts that keeps cookies and follows no redirects. It
// treats http on localhost as secure, as browsers do.
func (f *fixture) newBrowser() *http.Client {
	f.t.Helper()
	jar, err := cookiejar.New(nil)
	f.must(err)
	return &http.Client{
		Jar: secureJar{jar}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// clickAndWait clicks an element that navigates and waits for the next page, which the script
// swaps in or, without it, the browser loads.
func clickAndWait(tab *browser.Tab, selector string) {
	browser.Evaluate[bool](tab, `document.getElementById("main").dataset.old = "", true`)
	tab.Click(selector)
	tab.WaitVisible("#main:not([data-old])")
}

// date returns today's date as English pages show it.
func (f *fixture) date() string { return f.now().UTC().Format("2 January 2006") }
