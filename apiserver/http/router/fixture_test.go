// SPDX-License-Identifier: Apache-2.0

package router_test

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

	"github.com/anamnesis-dev/anamnesis/apiserver/http/router"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access/accesstest"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/openapitest"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var parsedContract = sync.OnceValues(func() (*openapitest.Contract, error) { return openapitest.Parse(openapi.EngineV3) })

// A testServer is a running server with a client that validates every response against the
// contract.
type testServer struct {
	url         string
	client      *http.Client // validates responses
	http1Client *http.Client // does not validate, for what the contract does not cover
	handler     http.Handler
	token       string // grants access to articles
	library     *model.Store
	models      *failingModels
	tokens      *identity.TokenIssuer
	feedback    *fakeFeedbackStore
	usage       *fakeMeter
	log         *logBuffer
	metrics     *metrics.Metrics
	limiter     *limiter.Limiter
	draining    atomic.Bool
	failedKeys  atomic.Bool // set by guessing
	minutes     atomic.Int64
	origin      atomic.Pointer[string]
}

// today is the date of these tests.
var today = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// closedLimiter returns a limiter that rejects every caller.
func closedLimiter() *limiter.Limiter { return limiter.New(limiter.Limits{}, func(limiter.Reason) {}) }

// startServer starts a server with the release of these tests. Its limiter admits all calls
// unless edited.
func startServer(t testing.TB, edits ...func(*limiter.Limiter)) *testServer {
	t.Helper()
	checked, err := parsedContract()
	if err != nil {
		t.Fatal(err)
	}
	r := newTestServer(t, edits...)
	listening := httptest.NewServer(r.handler)
	t.Cleanup(listening.Close)
	r.url, r.http1Client = listening.URL, listening.Client()
	r.client = &http.Client{Transport: checked.Transport(t, listening.Client().Transport)}
	return r
}

// newTestServer returns a server without a socket.
func newTestServer(t testing.TB, edits ...func(*limiter.Limiter)) *testServer {
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
	r := &testServer{library: openLibrary(t), feedback: &fakeFeedbackStore{}, usage: &fakeMeter{}, log: &logBuffer{}}
	r.models = &failingModels{Models: r.library}
	r.tokens = &identity.TokenIssuer{InstanceID: "test", Applications: applications, SigningKeys: keys, Now: func() time.Time { return today }}
	if r.token, err = r.tokens.IssueInterviewToken("service-en", "2026-11-21T00:00:00Z"); err != nil {
		t.Fatal(err)
	}
	r.metrics = metrics.New(metrics.Sources{
		Instance: "test", Releases: r.library.Releases, BufferedUsage: func() int64 { return 7 },
		CertificateExpiry: func() time.Time { return time.Unix(1_800_000_000, 0) },
	})
	r.limiter = limiter.New(limiter.LimitsForMemory(0, 2), func(reason limiter.Reason) { r.metrics.RecordRejection(string(reason)) })
	for _, edit := range edits {
		edit(r.limiter)
	}
	r.handler = router.New(router.Options{
		Guidance: stubGuidance(), Page: stubPage(),
		Models: r.models, Engine: inference.New(), Tokens: r.tokens, Feedback: r.feedback,
		Applications: applications, Operations: accesstest.Operations(t), Meter: r.usage, Now: func() time.Time { return today },
		AllowsOrigin: func(origin string) bool {
			allowed := r.origin.Load()
			return allowed != nil && *allowed == origin
		},
		Draining:        r.draining.Load,
		OnAuthenticated: func(context.Context) {},
		Limiter:         r.limiter,
		Throttle:        throttle.New(r.fastClock),
		// A proxy on this machine, which most tests do not use.
		TrustsProxy: netip.Addr.IsLoopback,
		Observer:    r.metrics,
		Log:         slog.New(slog.NewJSONHandler(r.log, nil)),
	})
	return r
}

// fastClock is a clock that advances by a minute on every reading, so that throttling affects
// only the tests of throttling.
func (s *testServer) fastClock() time.Time {
	if s.failedKeys.Load() {
		return today.Add(time.Hour)
	}
	return today.Add(-time.Duration(1_000_000-s.minutes.Add(1)) * time.Minute)
}

// stubGuidance replaces the guidance API, which has its own tests.
func stubGuidance() router.API {
	router := chi.NewRouter()
	router.HandleFunc("/*", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	return router
}

// stubPage replaces the patients' pages, which have their own tests.
func stubPage() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
}

// A testResponse is a received response.
type testResponse struct {
	status int
	header http.Header
	body   string
	closes bool // whether Connection: close closes the connection
}

// header returns the common headers of valid calls, so that a rejected call lacks only the
// header under test.
func (s *testServer) header() map[string]string {
	return map[string]string{
		"App-Id": "portal", "App-Key": "portal-key", "Content-Type": "application/json",
		"Interview-Id": "d8b7a2f0-5a3c-4f0e-9d51-7f0a5b6c7d8e", "Interview-Token": s.token,
	}
}

func (s *testServer) do(t testing.TB, c testCall) testResponse {
	t.Helper()
	return s.doWith(t, s.client, c)
}

func (s *testServer) doWith(t testing.TB, client *http.Client, c testCall) testResponse {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), c.method, s.url+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	header := s.header()
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
	return testResponse{response.StatusCode, response.Header, string(body), response.Close}
}
