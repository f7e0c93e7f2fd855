// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/openapitest"
	"github.com/anamnesis-dev/anamnesis/apiserver/server"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/client"
)

// address is where the examples find a server.
var address string

func TestMain(m *testing.M) {
	if code := runWithServer(m); code != 0 {
		os.Exit(code)
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runWithServer(m *testing.M) int {
	t := &lasting{}
	defer t.end()
	listening := httptest.NewServer(newInstance(t).handler)
	t.Cleanup(listening.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	address = listening.URL
	return m.Run()
}

// An instance is the real server of the instance acme, with a small model. It
// has two applications: portal, which may do all, and kiosk, which may only
// read the feedback.
type instance struct {
	handler http.Handler
	store   storage.Store
	usedUp  atomic.Bool // are the calls of all plans
	tokens  atomic.Int64
}

// scope is what an instance lives for: a test, or all of them.
type scope interface {
	modeltest.TB
	TempDir() string
	Cleanup(func())
}

func newInstance(t scope) *instance {
	applications, err := identity.NewApplications(
		identity.Credential{ID: "portal", Key: "portal/key+=", Scopes: identity.Scopes()},
		identity.Credential{ID: "kiosk", Key: "kiosk-key", Scopes: []identity.Scope{identity.KnowledgeRead, identity.SurveyRead}})
	must(t, err)
	keys, err := identity.NewSigningKeys()
	must(t, err)
	i := &instance{}
	i.store, err = open.Open(background, "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"))
	must(t, err)
	t.Cleanup(func() { must(t, i.store.Close()) })
	authority := &identity.Authority{Instance: "acme", Applications: applications, Keys: keys}
	log := slog.New(slog.DiscardHandler)
	watch := guard.New(guard.LimitsFor(0, runtime.GOMAXPROCS(0)), func(guard.Reason) {})
	platform := guidance.New(guidance.Options{Authority: authority, Usage: i.store, Meter: i, Feedback: i.store, Scheme: "http", Guard: watch, Now: time.Now, Log: log})
	i.handler = i.countTokens(server.New(server.Options{
		Guidance: platform, Models: library(t), Engine: engine.New(), Tokens: authority, Feedback: i.store,
		Applications: applications, Usage: i, Now: time.Now, AllowsOrigin: func(string) bool { return false },
		Leaving: func() bool { return false }, Known: func(context.Context) {}, Guard: watch, Observer: i, Log: log,
	}))
	return i
}

func (i *instance) countTokens(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/auth/") {
			i.tokens.Add(1)
		}
		next.ServeHTTP(w, r)
	})
}

// Begin implements the meter.
func (i *instance) Begin(string, string, bool) (end func(bool), wait time.Duration) {
	if i.usedUp.Load() {
		return nil, 90 * time.Second
	}
	return func(bool) {}, 0
}

// Observe implements the observer.
func (i *instance) Observe(string, int, time.Duration) {}

// library has the model service-en: a headache and what may be behind it.
func library(t scope) *model.Library {
	named := func(name string) func(*model.DraftObservation) {
		return func(o *model.DraftObservation) { o.Name, o.CommonName, o.Question = name, name, name+"?" }
	}
	condition := func(name string) func(*model.DraftCondition) {
		return func(c *model.DraftCondition) { c.Name, c.CommonName = name, name }
	}
	b := modeltest.New().
		Condition("c_1", 0.02, condition("Migraine")).
		Condition("c_2", 0.001, condition("Meningitis"), func(c *model.DraftCondition) { c.Triage = model.EmergencyAmbulance }).
		Symptom("s_1", 0.05, named("Headache")).
		Symptom("s_2", 0.03, named("Nausea")).
		Symptom("s_3", 0.001, named("Stiff neck"), func(o *model.DraftObservation) { o.Seriousness = model.SeriousnessEmergencyAmbulance }).
		RiskFactor("p_1", 0.1, named("Smoking")).
		LabResult("lt_1", 0.05, named("Many white blood cells")).
		LabTest("lab_1", "White blood cell count", map[string]model.ResultType{"lt_1": model.High}).
		Link("c_1", "s_1", 0.95).Link("c_1", "s_2", 0.6).
		Link("c_2", "s_1", 0.9).Link("c_2", "s_2", 0.5).Link("c_2", "s_3", 0.8).Link("c_2", "lt_1", 0.7).
		Factor("c_1", "p_1", 1.2, 0.9).
		Course("c_1", 4*time.Hour, 72*time.Hour).
		Article("c_1", "Migraine", modeltest.Section(model.SummarySection, "Summary",
			modeltest.Node(model.ParagraphNode, modeltest.Text("A "), modeltest.LinkTo("https://example.org/headache", "headache"))))
	directory := t.TempDir()
	meta := b.Draft().Meta
	must(t, model.WriteFile(filepath.Join(directory, model.FileName(meta.ModelID, meta.Version)), b.Bytes(t)))
	library, err := model.OpenLibrary(directory, []model.Wanted{{ID: meta.ModelID}})
	must(t, err)
	t.Cleanup(library.Close)
	return library
}

var contracts = sync.OnceValue(func() map[string]*openapitest.Contract {
	return map[string]*openapitest.Contract{"/v3/": parsed(openapi.EngineV3), "/api/": parsed(openapi.Guidance)}
})

func parsed(contract []byte) *openapitest.Contract {
	c, err := openapitest.Parse(contract)
	if err != nil {
		panic(err)
	}
	return c
}

// held holds requests and answers of both APIs against their contracts.
type held struct {
	t    *testing.T
	next http.RoundTripper
}

func (h held) RoundTrip(request *http.Request) (*http.Response, error) {
	for prefix, contract := range contracts() {
		if strings.HasPrefix(request.URL.Path, prefix) {
			return contract.ClientTransport(h.t, h.next).RoundTrip(request)
		}
	}
	h.t.Errorf("%s %s is of neither contract", request.Method, request.URL)
	return h.next.RoundTrip(request)
}

var (
	portal = client.Credentials{AppID: "portal", AppKey: "portal/key+=", InstanceID: "acme"}
	kiosk  = client.Credentials{AppID: "kiosk", AppKey: "kiosk-key", InstanceID: "acme"}
)

// dial is a client of a handler that keeps to the contracts.
func dial(t *testing.T, handler http.Handler, credentials client.Credentials, options ...client.Option) *client.Client {
	t.Helper()
	listening := httptest.NewServer(handler)
	t.Cleanup(listening.Close)
	kept := client.WithHTTPClient(&http.Client{Transport: held{t, listening.Client().Transport}})
	c, err := client.New(listening.URL, credentials, append([]client.Option{kept}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func must(t modeltest.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}
