// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/openapitest"
	"github.com/anamnesis-dev/anamnesis/apiserver/server"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/metrics"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var contract = sync.OnceValues(func() (*openapitest.Contract, error) { return openapitest.Parse(openapi.EngineV3) })

// A rig is a server on a socket of its own and a client that holds every
// answer against the contract.
type rig struct {
	url      string
	client   *http.Client // checks answers
	plain    *http.Client // does not, for what the contract does not speak of
	handler  http.Handler
	token    string // opens articles
	library  *model.Library
	models   *shakyModels
	tokens   *identity.Authority
	feedback *notes
	usage    *counts
	log      *lines
	metrics  *metrics.Metrics
	guard    *guard.Guard
	leaving  atomic.Bool
	guessed  atomic.Bool // by guess
	minutes  atomic.Int64
	origin   atomic.Pointer[string]
}

// today is the day of these tests.
var today = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// closed turns everybody away.
func closed() *guard.Guard { return guard.New(guard.Limits{}, func(guard.Reason) {}) }

// start makes a server of the release of these tests, which has room for
// everybody unless its guard is edited.
func start(t testing.TB, edits ...func(*guard.Guard)) *rig {
	t.Helper()
	checked, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, edits...)
	listening := httptest.NewServer(r.handler)
	t.Cleanup(listening.Close)
	r.url, r.plain = listening.URL, listening.Client()
	r.client = &http.Client{Transport: checked.Transport(t, listening.Client().Transport)}
	return r
}

// newRig makes a server without a socket.
func newRig(t testing.TB, edits ...func(*guard.Guard)) *rig {
	t.Helper()
	applications, err := identity.NewApplications(
		identity.Credential{ID: "portal", Key: "portal-key", Scopes: []identity.Scope{identity.KnowledgeRead}, DevMode: true},
		identity.Credential{ID: "kiosk", Key: "kiosk-key", Scopes: []identity.Scope{identity.KnowledgeRead}},
		identity.Credential{ID: "survey", Key: "survey-key", Scopes: []identity.Scope{identity.SurveyRead}, DevMode: true})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := identity.NewSigningKeys()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{library: openLibrary(t), feedback: &notes{}, usage: &counts{}, log: &lines{}}
	r.models = &shakyModels{Models: r.library}
	r.tokens = &identity.Authority{Instance: "test", Applications: applications, Keys: keys, Now: func() time.Time { return today }}
	if r.token, err = r.tokens.IssueInterviewToken("service-en", "2026-11-21T00:00:00Z"); err != nil {
		t.Fatal(err)
	}
	r.metrics = metrics.New(metrics.Sources{
		Instance: "test", Releases: r.library.Releases, BufferedUsage: func() int64 { return 7 },
		CertificateExpiry: func() time.Time { return time.Unix(1_800_000_000, 0) },
	})
	r.guard = guard.New(guard.LimitsFor(0, 2), r.metrics.TurnedAway)
	for _, edit := range edits {
		edit(r.guard)
	}
	r.handler = server.New(server.Options{
		Guidance: guidanceAnswers(), Page: pageAnswers(),
		Models: r.models, Engine: engine.New(), Tokens: r.tokens, Feedback: r.feedback,
		Applications: applications, Usage: r.usage, Now: func() time.Time { return today },
		AllowsOrigin: func(origin string) bool {
			allowed := r.origin.Load()
			return allowed != nil && *allowed == origin
		},
		Leaving:  r.leaving.Load,
		Known:    func(context.Context) {},
		Guard:    r.guard,
		Throttle: throttle.New(r.hurrying),
		// A proxy on this machine, which most tests do without.
		TrustsProxy: netip.Addr.IsLoopback,
		Observer:    r.metrics,
		Log:         slog.New(slog.NewJSONHandler(r.log, nil)),
	})
	return r
}

// hurrying is a clock that is a minute farther whenever somebody looks, so that
// nobody has to wait for having guessed, but where that is what a test is about.
func (r *rig) hurrying() time.Time {
	if r.guessed.Load() {
		return today.Add(time.Hour)
	}
	return today.Add(-time.Duration(1_000_000-r.minutes.Add(1)) * time.Minute)
}

// guidanceAnswers stands for the handlers of the guidance platform, which have
// tests of their own.
func guidanceAnswers() server.API {
	router := chi.NewRouter()
	router.HandleFunc("/*", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	return router
}

// pageAnswers stands for the pages of patients, which have tests of their own.
func pageAnswers() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
}

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
	closes bool // the connection, by the header Connection: close
}

// header is what every call carries, so that one that is refused lacks nothing
// but what it is refused for.
func (r *rig) header() map[string]string {
	return map[string]string{
		"App-Id": "portal", "App-Key": "portal-key", "Content-Type": "application/json",
		"Interview-Id": "d8b7a2f0-5a3c-4f0e-9d51-7f0a5b6c7d8e", "Interview-Token": r.token,
	}
}

func (r *rig) do(t testing.TB, c call) answer {
	t.Helper()
	return r.doWith(t, r.client, c)
}

func (r *rig) doWith(t testing.TB, client *http.Client, c call) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), c.method, r.url+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	header := r.header()
	maps.Copy(header, c.header)
	for name, value := range header {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body), response.Close}
}
