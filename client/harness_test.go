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

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/router"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/openapitest"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/client"
)

// exampleURL is the server's address in the examples.
var exampleURL string

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
	t := &exampleScope{}
	defer t.cleanUp()
	listening := httptest.NewServer(newTestInstance(t).handler)
	t.Cleanup(listening.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	exampleURL = listening.URL
	return m.Run()
}

// A testInstance is the real server of the instance acme with a small model. It has
// two applications: portal has all scopes, kiosk may only read feedback.
type testInstance struct {
	handler       http.Handler
	store         storage.Store
	quotaExceeded atomic.Bool // limits of all plans
	tokenRequests atomic.Int64
}

// testScope is the lifetime of an instance: one test, or all of them.
type testScope interface {
	modeltest.TB
	TempDir() string
	Cleanup(func())
}

func newTestInstance(t testScope) *testInstance {
	applications, err := identity.NewApplications(
		identity.Credential{ID: "portal", Key: "portal/key+=", Scopes: identity.AllScopes()},
		identity.Credential{ID: "kiosk", Key: "kiosk-key", Scopes: []identity.Scope{identity.KnowledgeRead, identity.SurveyRead}})
	must(t, err)
	keys, err := identity.NewSigningKeys()
	must(t, err)
	i := &testInstance{}
	i.store, err = open.Open(background, "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"))
	must(t, err)
	t.Cleanup(func() { must(t, i.store.Close()) })
	authority := &identity.TokenIssuer{InstanceID: "acme", Applications: applications, SigningKeys: keys}
	log := slog.New(slog.DiscardHandler)
	watch := limiter.New(limiter.LimitsForMemory(0, runtime.GOMAXPROCS(0)), func(limiter.Reason) {})
	operations, err := access.LoadOperations()
	must(t, err)
	platform := guidance.New(guidance.Options{TokenIssuer: authority, Operations: operations, Usage: i.store, Meter: i, Feedback: i.store, Scheme: "http", Limiter: watch, Now: time.Now, Log: log})
	i.handler = i.countTokenRequests(router.New(router.Options{
		Guidance: platform, Models: newLibrary(t), Engine: inference.New(), Tokens: authority, Feedback: i.store,
		Applications: applications, Operations: operations, Meter: i, Now: time.Now, AllowsOrigin: func(string) bool { return false },
		Draining: func() bool { return false }, OnAuthenticated: func(context.Context) {}, Limiter: watch, Observer: i, Log: log,
	}))
	return i
}

func (i *testInstance) countTokenRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/auth/") {
			i.tokenRequests.Add(1)
		}
		next.ServeHTTP(w, r)
	})
}

// Begin implements the meter.
func (i *testInstance) Begin(string, string, bool) (end func(bool), wait time.Duration) {
	if i.quotaExceeded.Load() {
		return nil, 90 * time.Second
	}
	return func(bool) {}, 0
}

// Observe implements the observer.
func (i *testInstance) Observe(string, int, time.Duration) {}

// newLibrary returns a library with the model service-en: a headache and its possible
// causes.
func newLibrary(t testScope) *model.Store {
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
			modeltest.Node(model.ParagraphNode, modeltest.Text("A "), modeltest.Link("https://example.org/headache", "headache"))))
	directory := t.TempDir()
	meta := b.Draft().Meta
	must(t, model.WriteFile(filepath.Join(directory, model.FileName(meta.ModelID, meta.Version)), b.Bytes(t)))
	library, err := model.OpenStore(directory, []model.ReleaseRef{{ID: meta.ModelID}})
	must(t, err)
	t.Cleanup(library.Close)
	return library
}

var contracts = sync.OnceValue(func() map[string]*openapitest.Contract {
	return map[string]*openapitest.Contract{"/v3/": mustParseContract(openapi.EngineV3), "/api/": mustParseContract(openapi.Guidance)}
})

func mustParseContract(contract []byte) *openapitest.Contract {
	c, err := openapitest.Parse(contract)
	if err != nil {
		panic(err)
	}
	return c
}

// contractTransport validates requests and responses of both APIs against their
// contracts.
type contractTransport struct {
	t    *testing.T
	next http.RoundTripper
}

func (t contractTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	for prefix, contract := range contracts() {
		if strings.HasPrefix(request.URL.Path, prefix) {
			return contract.ClientTransport(t.t, t.next).RoundTrip(request)
		}
	}
	t.t.Errorf("%s %s is of neither contract", request.Method, request.URL)
	return t.next.RoundTrip(request)
}

var (
	portal = client.Credentials{AppID: "portal", AppKey: "portal/key+=", InstanceID: "acme"}
	kiosk  = client.Credentials{AppID: "kiosk", AppKey: "kiosk-key", InstanceID: "acme"}
)

// newClient returns a client of a handler, validated against the contracts.
func newClient(t *testing.T, handler http.Handler, credentials client.Credentials, options ...client.Option) *client.Client {
	t.Helper()
	listening := httptest.NewServer(handler)
	t.Cleanup(listening.Close)
	kept := client.WithHTTPClient(&http.Client{Transport: contractTransport{t, listening.Client().Transport}})
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
