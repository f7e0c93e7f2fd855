// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// A fakeInstanceAPI is the webhook API of an Instance's server: it keeps configurations
// in memory, by the rules of the API contract, and serves TLS.
type fakeInstanceAPI struct {
	name   string
	server *httptest.Server

	mutex sync.Mutex
	// key is the operator's application key. tokens are the access tokens issued for it.
	key     string
	tokens  map[string]bool
	configs []*fakeWebhook
	// writes are the calls that changed something.
	writes []string
	// overrideStatus may return a status to respond with instead of executing the request.
	overrideStatus func(*http.Request) int
	// dropResponse reports whether to drop the response to a call after executing it.
	dropResponse func(*http.Request) bool
}

// A fakeWebhook is a webhook configuration, including its secret fields.
type fakeWebhook struct {
	ID         string   `json:"id"`
	URL        string   `json:"url"`
	Events     []string `json:"subscribed_events"`
	Status     string   `json:"status"`
	Reference  *string  `json:"reference"`
	token      string
	secret     string
	deliveries []map[string]any
}

// newFakeInstanceAPI starts a server with a certificate for a name.
func newFakeInstanceAPI(t *testing.T, name string, pair pki.KeyPair) *fakeInstanceAPI {
	t.Helper()
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	api := &fakeInstanceAPI{name: name, key: "key-of-the-operator", tokens: map[string]bool{}}
	api.server = httptest.NewUnstartedServer(api.handler())
	api.server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	api.server.Config.ErrorLog = nil
	api.server.StartTLS()
	t.Cleanup(api.server.Close)
	return api
}

func (a *fakeInstanceAPI) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/auth/token", a.issueToken)
	const all, one = "/api/mgp/v1/config/webhook", "/api/mgp/v1/config/webhook/{id}"
	mux.Handle("GET "+all, a.requireToken(a.list))
	mux.Handle("POST "+all, a.requireToken(a.create))
	mux.Handle("PATCH "+one, a.requireToken(a.change))
	mux.Handle("DELETE "+one, a.requireToken(a.delete))
	mux.Handle("POST "+one+"/rotate_secret", a.requireToken(a.rotate))
	mux.Handle("GET "+one+"/deliveries", a.requireToken(a.listDeliveries))
	return http.HandlerFunc(func(t http.ResponseWriter, r *http.Request) {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		if a.overrideStatus != nil {
			if status := a.overrideStatus(r); status != 0 {
				respondError(t, status, "as the test says")
				return
			}
		}
		if a.dropResponse == nil || !a.dropResponse(r) {
			mux.ServeHTTP(t, r)
			return
		}
		mux.ServeHTTP(httptest.NewRecorder(), r)
		if connection, _, err := t.(http.Hijacker).Hijack(); err == nil {
			_ = connection.Close()
		}
	})
}

func (a *fakeInstanceAPI) issueToken(t http.ResponseWriter, r *http.Request) {
	id, key, ok := r.BasicAuth()
	key, err := url.QueryUnescape(key)
	if !ok || err != nil || id != "operator" || key != a.key || r.Header.Get("Instance-Id") != a.name+"-mgp" {
		respond(t, http.StatusUnauthorized, map[string]string{"error": "invalid_client", "error_description": "App-Id or App-Key is missing or wrong"})
		return
	}
	token := rand.Text()
	a.tokens[token] = true
	respond(t, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600})
}

// requireToken requires an access token, and records changes.
func (a *fakeInstanceAPI) requireToken(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(t http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !a.tokens[token] {
			respondError(t, http.StatusUnauthorized, "the access token is missing or wrong")
			return
		}
		if r.Method != http.MethodGet {
			a.writes = append(a.writes, r.Method+" "+r.URL.Path)
		}
		next(t, r)
	})
}

func (a *fakeInstanceAPI) list(t http.ResponseWriter, _ *http.Request) {
	all := a.configs
	if all == nil {
		all = []*fakeWebhook{}
	}
	respond(t, http.StatusOK, all)
}

// A webhookRequest is the body of a create or update request.
type webhookRequest struct {
	URL       *string         `json:"url"`
	Token     *string         `json:"authorization_token"`
	Events    *[]string       `json:"subscribed_events"`
	Reference json.RawMessage `json:"reference"`
}

func (a *fakeInstanceAPI) create(t http.ResponseWriter, r *http.Request) {
	body, ok := decodeWebhookRequest(t, r)
	switch {
	case !ok:
		return
	case body.URL == nil || body.Token == nil:
		respondError(t, http.StatusUnprocessableEntity, "url and authorization_token are required")
		return
	case len(a.configs) >= 50:
		respondError(t, http.StatusConflict, "an instance has at most 50 configurations")
		return
	}
	config := &fakeWebhook{ID: uuid.NewString(), Status: "active", Events: []string{"survey_finished", "notification"}, secret: newSecret()}
	config.apply(body)
	a.configs = append(a.configs, config)
	respond(t, http.StatusCreated, config.jsonWith(map[string]any{"authorization_token": config.token, "signing_secret": config.secret}))
}

func (a *fakeInstanceAPI) change(t http.ResponseWriter, r *http.Request) {
	config := a.find(t, r)
	if config == nil {
		return
	}
	body, ok := decodeWebhookRequest(t, r)
	if !ok {
		return
	}
	config.apply(body)
	further := map[string]any{}
	if body.Token != nil {
		further["authorization_token"] = config.token
	}
	respond(t, http.StatusOK, config.jsonWith(further))
}

// apply updates the fields that are set. A new URL enables a disabled configuration.
func (w *fakeWebhook) apply(body webhookRequest) {
	if body.URL != nil {
		if *body.URL != w.URL {
			w.Status = "active"
		}
		w.URL = *body.URL
	}
	if body.Token != nil {
		w.token = *body.Token
	}
	if body.Events != nil {
		w.Events = *body.Events
	}
	if body.Reference != nil {
		w.Reference = nil
		_ = json.Unmarshal(body.Reference, &w.Reference) // null deletes it
	}
}

func (a *fakeInstanceAPI) delete(t http.ResponseWriter, r *http.Request) {
	config := a.find(t, r)
	if config == nil {
		return
	}
	a.configs = slices.DeleteFunc(a.configs, func(other *fakeWebhook) bool { return other == config })
	respond(t, http.StatusOK, config)
}

func (a *fakeInstanceAPI) rotate(t http.ResponseWriter, r *http.Request) {
	config := a.find(t, r)
	if config == nil {
		return
	}
	config.secret = newSecret()
	respond(t, http.StatusOK, config.jsonWith(map[string]any{"signing_secret": config.secret}))
}

func (a *fakeInstanceAPI) listDeliveries(t http.ResponseWriter, r *http.Request) {
	config := a.find(t, r)
	if config == nil {
		return
	}
	items := config.deliveries
	if items == nil {
		items = []map[string]any{}
	}
	if r.URL.Query().Get("limit") == "1" && len(items) > 1 {
		items = items[:1]
	}
	page := map[string]any{"self": "x", "first": "x", "prev": nil, "next": nil, "last": "x", "items": items}
	respond(t, http.StatusOK, page)
}

func (a *fakeInstanceAPI) find(t http.ResponseWriter, r *http.Request) *fakeWebhook {
	for _, config := range a.configs {
		if config.ID == r.PathValue("id") {
			return config
		}
	}
	respondError(t, http.StatusNotFound, "there is no such configuration")
	return nil
}

// jsonWith returns the configuration as the API shows it, with additional fields.
func (w *fakeWebhook) jsonWith(further map[string]any) map[string]any {
	shown := map[string]any{"id": w.ID, "url": w.URL, "subscribed_events": w.Events, "status": w.Status, "reference": w.Reference}
	for name, value := range further {
		shown[name] = value
	}
	return shown
}

func newSecret() string { return "whsec_" + rand.Text() }

func decodeWebhookRequest(t http.ResponseWriter, r *http.Request) (body webhookRequest, ok bool) {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		respondError(t, http.StatusBadRequest, err.Error())
		return body, false
	}
	switch {
	case body.URL != nil && !strings.HasPrefix(*body.URL, "https://"):
		respondError(t, http.StatusUnprocessableEntity, "url is not https")
	case body.Token != nil && !isValidToken(*body.Token):
		respondError(t, http.StatusUnprocessableEntity, "authorization_token is none: "+*body.Token)
	default:
		return body, true
	}
	return body, false
}

func respondError(t http.ResponseWriter, status int, detail string) {
	t.Header().Set("X-Request-Id", rand.Text())
	respond(t, status, map[string]string{"detail": detail})
}

func respond(t http.ResponseWriter, status int, body any) {
	t.Header().Set("Content-Type", "application/json")
	t.WriteHeader(status)
	if err := json.NewEncoder(t).Encode(body); err != nil {
		panic(fmt.Sprintf("what a test answers can always be encoded: %v", err))
	}
}

// The methods below are for tests, to inspect the state and to make manual changes.

// withLock calls do while no request is served.
func (a *fakeInstanceAPI) withLock(do func(*fakeInstanceAPI)) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	do(a)
}

// configLines returns one line per configuration, including secret fields.
func (a *fakeInstanceAPI) configLines() []string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	all := []string{}
	for _, config := range a.configs {
		reference := "unowned"
		if config.Reference != nil {
			reference = *config.Reference
		}
		all = append(all, fmt.Sprintf("%s %s %s of %s by %s", config.URL, strings.Join(config.Events, ","), config.Status, reference, config.token))
	}
	return all
}

func (a *fakeInstanceAPI) recordedWrites() []string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return slices.Clone(a.writes)
}

// addDelivery records a delivery attempt to the receiver of the first configuration.
// Code zero means no response.
func (a *fakeInstanceAPI) addDelivery(at time.Time, code int) {
	a.withLock(func(a *fakeInstanceAPI) {
		attempt := map[string]any{
			"id": uuid.NewString(), "event_type": "survey_finished", "webhook_id": uuid.NewString(), "attempt": 1,
			"status_code": nil, "error": nil, "attempted_at": at.Format(time.RFC3339Nano), "next_attempt_at": nil,
		}
		if code != 0 {
			attempt["status_code"] = code
		}
		a.configs[0].deliveries = append([]map[string]any{attempt}, a.configs[0].deliveries...)
	})
}

// A fakeDialer maps the addresses of Services to the servers of this test.
type fakeDialer struct {
	mutex sync.Mutex
	apis  map[string]*fakeInstanceAPI
	calls int
}

func (d *fakeDialer) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	d.mutex.Lock()
	d.calls++
	api := d.apis[hostPort]
	d.mutex.Unlock()
	if api == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
	}
	return (&net.Dialer{}).DialContext(ctx, network, api.server.Listener.Addr().String())
}

func (d *fakeDialer) route(hostPort string, api *fakeInstanceAPI) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.apis == nil {
		d.apis = map[string]*fakeInstanceAPI{}
	}
	d.apis[hostPort] = api
}

func (d *fakeDialer) callCount() int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.calls
}
