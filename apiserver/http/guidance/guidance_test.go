// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access/accesstest"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/openapitest"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
)

var testNow = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// fixture is a server for the handler, with a client that validates every response against
// the contract.
type fixture struct {
	t           testing.TB
	baseURL     string
	client      *http.Client
	tokenIssuer *identity.TokenIssuer
	store       storage.Store
	log         *syncBuffer
	meter       fakeMeter
	endpoints   chan string // of the calls, as the access log sees them
}

var parsedContract = sync.OnceValues(func() (*openapitest.Contract, error) { return openapitest.Parse(openapi.Guidance) })

func newFixture(t testing.TB, change ...func(*guidance.Options)) *fixture {
	t.Helper()
	applications, err := identity.NewApplications(
		identity.Credential{ID: "portal", Key: "portal-key", Scopes: identity.AllScopes()},
		identity.Credential{ID: "kiosk", Key: "kiosk/key+=", Scopes: []identity.Scope{identity.SurveyRead}})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := identity.NewSigningKeys()
	if err != nil {
		t.Fatal(err)
	}
	store, err := open.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &fixture{t: t, store: store, log: &syncBuffer{}, endpoints: make(chan string, 1000)}
	clock := func() time.Time { return testNow }
	r.tokenIssuer = &identity.TokenIssuer{InstanceID: "acme", Issuer: func() string { return "https://acme.example" }, Applications: applications, SigningKeys: keys, Now: clock}
	sealed, err := encryption.GenerateKeyring()
	if err != nil {
		t.Fatal(err)
	}
	options := guidance.Options{
		Limiter: newUnlimitedLimiter(), Meter: &r.meter, TokenIssuer: r.tokenIssuer, Operations: accesstest.Operations(t), Usage: store, Feedback: store, Scheme: "http", Now: clock,
		Users:    &users.Service{Storage: storage.Scope[users.Reader, users.Tx]{Store: store}, Keyring: sealed, Now: clock},
		Webhooks: &webhook.Service{Storage: storage.Scope[webhook.Reader, webhook.Tx]{Store: store}, Keyring: sealed, Now: clock, OnChange: func() {}},
		Log:      slog.New(slog.NewTextHandler(r.log, nil)),
	}
	for _, change := range change {
		change(&options)
	}
	r.serve(guidance.New(options))
	return r
}

// A fakeMeter admits all calls and records which ones count.
type fakeMeter struct {
	sync.Mutex
	counted []string
}

func (m *fakeMeter) Begin(application, endpoint string, _ bool) (end func(counted bool), wait time.Duration) {
	return func(counted bool) {
		m.Lock()
		defer m.Unlock()
		if counted {
			m.counted = append(m.counted, endpoint+" by "+application)
		}
	}, 0
}

// takeCounted returns the calls counted since the previous call.
func (m *fakeMeter) takeCounted() []string {
	m.Lock()
	defer m.Unlock()
	counted := m.counted
	m.counted = nil
	return counted
}

// newUnlimitedLimiter returns a limiter with enough capacity for all calls in these tests.
func newUnlimitedLimiter() *limiter.Limiter {
	return limiter.New(limiter.LimitsForMemory(0, 2), func(limiter.Reason) {})
}

// serve starts a server for the handler with the middleware of the real server.
func (f *fixture) serve(handler http.Handler) {
	f.t.Helper()
	router := chi.NewRouter()
	router.Use(middleware.WithRequestInfo, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			next.ServeHTTP(w, request)
			call := middleware.RequestInfoFrom(request.Context())
			f.endpoints <- call.Endpoint + " by " + call.Application
		})
	})
	router.Handle("/*", handler)
	router.Handle("/api/*", handler)
	server := httptest.NewServer(router)
	f.t.Cleanup(server.Close)
	checked, err := parsedContract()
	if err != nil {
		f.t.Fatal(err)
	}
	f.baseURL, f.client = server.URL, server.Client()
	f.client.Transport = checked.Transport(f.t, f.client.Transport)
}

// syncBuffer is a log that a test can read while handlers write to it.
type syncBuffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *syncBuffer) Write(line []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(line)
}

func (b *syncBuffer) String() string {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.String()
}

// testResponse is a response without its body.
type testResponse struct {
	StatusCode int
	Header     http.Header
}

// call sends a request; headers are pairs of name and value.
func (f *fixture) call(method, path, body string, headers ...string) (testResponse, string) {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), method, f.baseURL+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := f.client.Do(request)
	if err != nil {
		f.t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		f.t.Fatal(err)
	}
	return testResponse{response.StatusCode, response.Header}, string(text)
}

func basicAuth(id, key string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+key))
}

// token requests an access token like a client.
func (f *fixture) token(id, key, scope string) string {
	f.t.Helper()
	body, err := json.Marshal(map[string]string{"grant_type": "client_credentials", "scope": scope})
	if err != nil {
		f.t.Fatal(err)
	}
	response, text := f.call("POST", "/api/auth/token", string(body),
		"Authorization", basicAuth(id, key), "Instance-Id", "acme-mgp", "Content-Type", "application/json")
	if response.StatusCode != http.StatusOK {
		f.t.Fatalf("requesting a token: got status %d %s", response.StatusCode, text)
	}
	return decode[map[string]any](f.t, text)["access_token"].(string)
}

func decode[T any](t testing.TB, text string) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return value
}

// TestUnknownPathsAndMethods checks that unknown paths and methods get JSON errors.
func TestUnknownPathsAndMethods(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	for _, test := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/", 404, ""},
		{"GET", "/api", 404, ""},
		{"GET", "/api/mgp/v1/nothing", 404, ""},
		{"GET", "/api/mgp/v1/usage/", 404, ""},
		{"POST", "/.well-known/nothing", 404, ""},
		{"GET", "/api/auth/token", 405, "POST"},
		{"DELETE", "/api/auth/token", 405, "POST"},
		{"POST", "/api/mgp/v1/usage", 405, "GET"},
		{"POST", "/api/mgp/v1/interviews/feedback", 405, "GET"},
		{"PUT", "/.well-known/jwks.json", 405, "GET"},
	} {
		response, text := r.call(test.method, test.path, "")
		if response.StatusCode != test.status || response.Header.Get("Allow") != test.allow {
			t.Errorf("%s %s: got status %d, Allow %q: %s", test.method, test.path, response.StatusCode, response.Header.Get("Allow"), text)
		}
	}
}

// TestUnknownMethods checks that unknown paths allow no method, including methods unknown to
// HTTP.
func TestUnknownMethods(t *testing.T) {
	t.Parallel()
	handler := guidance.New(guidance.Options{Operations: accesstest.Operations(t), Limiter: newUnlimitedLimiter(), Meter: &fakeMeter{}, Log: slog.Default()})
	for path, want := range map[string]int{"/api/nothing": http.StatusNotFound, "/api/auth/token": http.StatusMethodNotAllowed} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest("INVENTED", path, nil))
		_, allows := recorder.Header()["Allow"]
		if recorder.Code != want || allows != (want == http.StatusMethodNotAllowed) {
			t.Errorf("%s: got status %d %v, want %d", path, recorder.Code, recorder.Header(), want)
		}
	}
}

// TestMountedUnderPrefix checks that the handler uses full paths regardless of where it is
// mounted, and that the access log contains the routes of the contract.
func TestMountedUnderPrefix(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	access := r.token("portal", "portal-key", "")
	r.call("GET", "/.well-known/jwks.json", "")
	r.call("GET", "/api/mgp/v1/usage", "", "Authorization", "Bearer "+access)
	r.call("GET", "/api/nothing", "")
	for _, want := range []string{"POST /api/auth/token by portal", "GET /.well-known/jwks.json by ", "GET /api/mgp/v1/usage by portal", " by "} {
		if got := <-r.endpoints; got != want {
			t.Errorf("got access log endpoint %q, want %q", got, want)
		}
	}
	outer := chi.NewRouter()
	outer.Mount("/api", guidance.New(guidance.Options{Limiter: newUnlimitedLimiter(), Meter: &fakeMeter{}, TokenIssuer: r.tokenIssuer, Operations: accesstest.Operations(t), Usage: r.store, Now: time.Now, Log: slog.Default()}))
	recorder := httptest.NewRecorder()
	outer.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/api/mgp/v1/usage", nil))
	if recorder.Code != http.StatusUnauthorized {
		t.Errorf("mounted below /api: got status %d", recorder.Code)
	}
}

// publicOperations are the operations without authentication.
var publicOperations = []string{"GET /.well-known/jwks.json"}

// operationsWithoutScope are the operations that are authorized by means other than a token
// scope.
var operationsWithoutScope = []string{
	"POST /api/auth/token", "POST /api/mgp/v1/auth/otp", "POST /api/mgp/v1/auth/login/otp", "POST /api/mgp/v1/auth/login/magic_code",
}

// TestEveryOperationRequiresAuthorization checks that every operation in the contract
// enforces its security requirements. The test iterates over the contract, so it covers new
// operations automatically.
func TestEveryOperationRequiresAuthorization(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	document, err := openapi3.NewLoader().LoadFromData(openapi.Guidance)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range document.Paths.Map() {
		address := regexp.MustCompile(`{[a-z_]+}`).ReplaceAllString(path, "1")
		for method, operation := range item.Operations() {
			name := method + " " + path
			response, text := r.call(method, address, "{}", "Content-Type", "application/json")
			if slices.Contains(publicOperations, name) != (response.StatusCode == http.StatusOK) ||
				!slices.Contains(publicOperations, name) && response.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s without credentials answered %d: %s", name, response.StatusCode, text)
			}
			for _, scope := range requiredScopes(operation) {
				lacking := slices.DeleteFunc(identity.AllScopes(), func(s identity.Scope) bool { return string(s) == scope })
				bearer := "Bearer " + r.token("portal", "portal-key", identity.FormatScopes(lacking))
				response, text := r.call(method, address, "{}", "Content-Type", "application/json", "Authorization", bearer)
				if response.StatusCode != http.StatusForbidden || !strings.Contains(text, scope) {
					t.Errorf("%s without the scope %s: got status %d: %s", name, scope, response.StatusCode, text)
				}
			}
			if len(requiredScopes(operation)) == 0 && !slices.Contains(publicOperations, name) && !slices.Contains(operationsWithoutScope, name) {
				t.Errorf("%s: the contract declares no security requirement", name)
			}
		}
	}
}

// requiredScopes returns the token scopes that an operation requires.
func requiredScopes(operation *openapi3.Operation) []string {
	var scopes []string
	if operation.Security != nil {
		for _, requirement := range *operation.Security {
			scopes = append(scopes, requirement["accessToken"]...)
		}
	}
	return scopes
}

// failingStore is a store that always returns an error.
type failingStore struct{ err error }

func (s failingStore) ListUsage(context.Context, civil.Date, civil.Date) ([]usage.Count, error) {
	return nil, s.err
}

func TestUsageStorageDown(t *testing.T) {
	t.Parallel()
	r := newFixture(t, func(o *guidance.Options) { o.Usage = failingStore{errors.New("disk failure")} })
	response, text := r.call("GET", "/api/mgp/v1/usage", "", "Authorization", "Bearer "+r.token("portal", "portal-key", ""), "X-Request-Id", "lost-7")
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") != "5" {
		t.Errorf("got status %d, Retry-After %q: %s", response.StatusCode, response.Header.Get("Retry-After"), text)
	}
	if strings.Contains(text, "disk") {
		t.Errorf("response reveals the cause: %s", text)
	}
	if log := r.log.String(); strings.Count(log, "disk failure") != 1 || !strings.Contains(log, "requestId=lost-7") {
		t.Errorf("got log %q, want the cause once", log)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	on := func(date, application string, calls int64) usage.Count {
		parsed, err := civil.ParseDate(date)
		if err != nil {
			t.Fatal(err)
		}
		return usage.Count{Date: parsed, Application: application, Endpoint: "POST /v3/diagnosis", Calls: calls}
	}
	first, oct21, oct22, nov20 := on("0001-01-01", "portal", 1), on("2026-10-21", "portal", 2), on("2026-10-22", "portal", 3), on("2026-11-20", "kiosk", 4)
	kiosk, portal, nov22, last := on("2026-11-21", "kiosk", 6), on("2026-11-21", "portal", 1<<53), on("2026-11-22", "portal", 7), on("9999-12-31", "portal", 8)
	if err := r.store.AddUsage(t.Context(), usage.Batch{Recorder: "test", Sequence: 1, Counts: []usage.Count{
		last, first, oct21, oct22, nov20, portal, kiosk, nov22,
	}}); err != nil {
		t.Fatal(err)
	}
	access := r.token("portal", "portal-key", "config:read")
	for query, want := range map[string][]usage.Count{
		"":                                   {oct22, nov20, kiosk, portal},
		"?from=&to=":                         {oct22, nov20, kiosk, portal},
		"?from=2026-11-21":                   {kiosk, portal},
		"?to=2026-11-20":                     {oct21, oct22, nov20},
		"?from=2026-11-20&to=2026-11-20":     {nov20},
		"?from=2026-11-20&to=2026-11-20&x=1": {nov20},
		"?from=2026-11-01&to=2026-11-10":     {},
		"?from=9999-12-31&to=9999-12-31":     {last},
		"?to=0001-01-02":                     {first},
		"?from=%32026-11-20&to=2026%2d11-20": {nov20},
	} {
		response, text := r.call("GET", "/api/mgp/v1/usage"+query, "", "Authorization", "Bearer "+access)
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: got status %d: %s", query, response.StatusCode, text)
			continue
		}
		if diff := cmp.Diff(want, decode[[]usage.Count](t, text)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", query, diff)
		}
	}
}

func TestUsageValidation(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	access := r.token("portal", "portal-key", "")
	for query, want := range map[string][]string{
		"?from=yesterday":                {"from"},
		"?to=2026-11-31":                 {"to"},
		"?from=x&to=y":                   {"to", "from"},
		"?from=2026-11-22&to=2026-11-21": {"from"},
		"?from=2026-11-22":               {"from"},
		"?from=2026-11-21T00:00:00Z":     {"from"},
		"?from=0000-01-01":               {"from"},
		"?from=a&from=b":                 {"from"},
		"?from=2026-11-20&from":          {"from"},
	} {
		response, text := r.call("GET", "/api/mgp/v1/usage"+query, "", "Authorization", "Bearer "+access)
		if response.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: got status %d: %s", query, response.StatusCode, text)
			continue
		}
		said := decode[struct {
			Detail string
			Errors []struct{ Field, Message string }
		}](t, text)
		var fields []string
		for _, fieldErr := range said.Errors {
			fields = append(fields, fieldErr.Field)
			if fieldErr.Message == "" || !strings.Contains(said.Detail, fieldErr.Field) {
				t.Errorf("%s: error without a message: %s", query, text)
			}
		}
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Errorf("%s: fields (-want +got)\n%s", query, diff)
		}
	}
}

func TestUsageAuthorization(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	narrow := r.token("portal", "portal-key", "survey:read config:write")
	good := r.token("portal", "portal-key", "")
	for name, test := range map[string]struct {
		header []string
		status int
		want   string
	}{
		"no header":      {nil, 401, "missing Authorization header"},
		"empty header":   {[]string{"Authorization", ""}, 401, "missing Authorization header"},
		"another scheme": {[]string{"Authorization", basicAuth("portal", "portal-key")}, 401, "missing Authorization header"},
		"no token":       {[]string{"Authorization", "Bearer "}, 401, "missing Authorization header"},
		"only a token":   {[]string{"Authorization", good}, 401, "missing Authorization header"},
		"garbage":        {[]string{"Authorization", "Bearer hunter2"}, 401, "not a JWT"},
		"half a token":   {[]string{"Authorization", "Bearer " + good[:len(good)/2]}, 401, "not a JWT"},
		"two headers":    {[]string{"Authorization", "Bearer hunter2", "Authorization", "Bearer " + good}, 401, "not a JWT"},
		"id and key":     {[]string{"App-Id", "portal", "App-Key", "portal-key"}, 401, "missing Authorization header"},
		"without scope":  {[]string{"Authorization", "Bearer " + narrow}, 403, "config:read"},
		"small letters":  {[]string{"Authorization", "bearer " + good}, 200, ""},
		"valid token":    {[]string{"Authorization", "Bearer " + good}, 200, ""},
	} {
		// Parameters are not validated before authorization.
		response, text := r.call("GET", "/api/mgp/v1/usage"+map[bool]string{true: "", false: "?from=x"}[test.status == 200], "", test.header...)
		if response.StatusCode != test.status || !strings.Contains(text, test.want) || strings.Contains(text, "hunter2") {
			t.Errorf("%s: got status %d: %s", name, response.StatusCode, text)
		}
		want := map[bool]string{true: "Bearer", false: ""}[test.status == 401]
		if got := response.Header.Get("WWW-Authenticate"); got != want {
			t.Errorf("%s: WWW-Authenticate is %q, want %q", name, got, want)
		}
	}
	if log := r.log.String(); log != "" {
		t.Errorf("client errors were logged as server faults: %s", log)
	}
}
