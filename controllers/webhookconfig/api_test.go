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

// A remoteAPI is a server of an Instance as far as it is about webhooks: it keeps
// configurations by the rules of the contract, in memory of its own, over TLS.
type remoteAPI struct {
	name   string
	server *httptest.Server

	mutex sync.Mutex
	// key is the one that the operator is known by, and tokens the access tokens that
	// were given for one.
	key     string
	tokens  map[string]bool
	configs []*remoteConfig
	// writes are the calls that change something.
	writes []string
	// answer, if it gives a status, is given instead of doing what is asked for.
	answer func(*http.Request) int
	// lose has the answer to a call lost after it was done.
	lose func(*http.Request) bool
}

// A remoteConfig is one webhook configuration, with what is never shown of it.
type remoteConfig struct {
	ID         string   `json:"id"`
	URL        string   `json:"url"`
	Events     []string `json:"subscribed_events"`
	Status     string   `json:"status"`
	Reference  *string  `json:"reference"`
	token      string
	secret     string
	deliveries []map[string]any
}

// newRemoteAPI serves one, by a certificate for a name.
func newRemoteAPI(t *testing.T, name string, pair pki.KeyPair) *remoteAPI {
	t.Helper()
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	api := &remoteAPI{name: name, key: "key-of-the-operator", tokens: map[string]bool{}}
	api.server = httptest.NewUnstartedServer(api.handler())
	api.server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	api.server.Config.ErrorLog = nil
	api.server.StartTLS()
	t.Cleanup(api.server.Close)
	return api
}

func (a *remoteAPI) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/auth/token", a.giveToken)
	const all, one = "/api/mgp/v1/config/webhook", "/api/mgp/v1/config/webhook/{id}"
	mux.Handle("GET "+all, a.known(a.list))
	mux.Handle("POST "+all, a.known(a.create))
	mux.Handle("PATCH "+one, a.known(a.change))
	mux.Handle("DELETE "+one, a.known(a.delete))
	mux.Handle("POST "+one+"/rotate_secret", a.known(a.rotate))
	mux.Handle("GET "+one+"/deliveries", a.known(a.listDeliveries))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		if a.answer != nil {
			if status := a.answer(r); status != 0 {
				refuse(w, status, "as the test says")
				return
			}
		}
		if a.lose == nil || !a.lose(r) {
			mux.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(httptest.NewRecorder(), r)
		if connection, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = connection.Close()
		}
	})
}

func (a *remoteAPI) giveToken(w http.ResponseWriter, r *http.Request) {
	id, key, ok := r.BasicAuth()
	key, err := url.QueryUnescape(key)
	if !ok || err != nil || id != "operator" || key != a.key || r.Header.Get("Instance-Id") != a.name+"-mgp" {
		respond(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client", "error_description": "App-Id or App-Key is missing or wrong"})
		return
	}
	token := rand.Text()
	a.tokens[token] = true
	respond(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600})
}

// known lets those in who have an access token, and notes what they change.
func (a *remoteAPI) known(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !a.tokens[token] {
			refuse(w, http.StatusUnauthorized, "the access token is missing or wrong")
			return
		}
		if r.Method != http.MethodGet {
			a.writes = append(a.writes, r.Method+" "+r.URL.Path)
		}
		next(w, r)
	})
}

func (a *remoteAPI) list(w http.ResponseWriter, _ *http.Request) {
	all := a.configs
	if all == nil {
		all = []*remoteConfig{}
	}
	respond(w, http.StatusOK, all)
}

// A remoteChange is the body of a creation or a change.
type remoteChange struct {
	URL       *string         `json:"url"`
	Token     *string         `json:"authorization_token"`
	Events    *[]string       `json:"subscribed_events"`
	Reference json.RawMessage `json:"reference"`
}

func (a *remoteAPI) create(w http.ResponseWriter, r *http.Request) {
	body, ok := readChange(w, r)
	switch {
	case !ok:
		return
	case body.URL == nil || body.Token == nil:
		refuse(w, http.StatusUnprocessableEntity, "url and authorization_token are required")
		return
	case len(a.configs) >= 50:
		refuse(w, http.StatusConflict, "an instance has at most 50 configurations")
		return
	}
	config := &remoteConfig{ID: uuid.NewString(), Status: "active", Events: []string{"survey_finished", "notification"}, secret: newSecret()}
	config.apply(body)
	a.configs = append(a.configs, config)
	respond(w, http.StatusCreated, config.with(map[string]any{"authorization_token": config.token, "signing_secret": config.secret}))
}

func (a *remoteAPI) change(w http.ResponseWriter, r *http.Request) {
	config := a.find(w, r)
	if config == nil {
		return
	}
	body, ok := readChange(w, r)
	if !ok {
		return
	}
	config.apply(body)
	further := map[string]any{}
	if body.Token != nil {
		further["authorization_token"] = config.token
	}
	respond(w, http.StatusOK, config.with(further))
}

// apply changes what is not left out. Another URL enables what was disabled.
func (c *remoteConfig) apply(body remoteChange) {
	if body.URL != nil {
		if *body.URL != c.URL {
			c.Status = "active"
		}
		c.URL = *body.URL
	}
	if body.Token != nil {
		c.token = *body.Token
	}
	if body.Events != nil {
		c.Events = *body.Events
	}
	if body.Reference != nil {
		c.Reference = nil
		_ = json.Unmarshal(body.Reference, &c.Reference) // null takes it away
	}
}

func (a *remoteAPI) delete(w http.ResponseWriter, r *http.Request) {
	config := a.find(w, r)
	if config == nil {
		return
	}
	a.configs = slices.DeleteFunc(a.configs, func(other *remoteConfig) bool { return other == config })
	respond(w, http.StatusOK, config)
}

func (a *remoteAPI) rotate(w http.ResponseWriter, r *http.Request) {
	config := a.find(w, r)
	if config == nil {
		return
	}
	config.secret = newSecret()
	respond(w, http.StatusOK, config.with(map[string]any{"signing_secret": config.secret}))
}

func (a *remoteAPI) listDeliveries(w http.ResponseWriter, r *http.Request) {
	config := a.find(w, r)
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
	respond(w, http.StatusOK, page)
}

func (a *remoteAPI) find(w http.ResponseWriter, r *http.Request) *remoteConfig {
	for _, config := range a.configs {
		if config.ID == r.PathValue("id") {
			return config
		}
	}
	refuse(w, http.StatusNotFound, "there is no such configuration")
	return nil
}

// with is the configuration as it is shown, with further fields.
func (c *remoteConfig) with(further map[string]any) map[string]any {
	shown := map[string]any{"id": c.ID, "url": c.URL, "subscribed_events": c.Events, "status": c.Status, "reference": c.Reference}
	for name, value := range further {
		shown[name] = value
	}
	return shown
}

func newSecret() string { return "whsec_" + rand.Text() }

func readChange(w http.ResponseWriter, r *http.Request) (body remoteChange, ok bool) {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return body, false
	}
	switch {
	case body.URL != nil && !strings.HasPrefix(*body.URL, "https://"):
		refuse(w, http.StatusUnprocessableEntity, "url is not https")
	case body.Token != nil && !isToken(*body.Token):
		refuse(w, http.StatusUnprocessableEntity, "authorization_token is none: "+*body.Token)
	default:
		return body, true
	}
	return body, false
}

func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("X-Request-Id", rand.Text())
	respond(w, status, map[string]string{"detail": detail})
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(fmt.Sprintf("what a test answers can always be encoded: %v", err))
	}
}

// The rest is for tests to look at, and to do what people do by hand.

// locked does something while nobody calls.
func (a *remoteAPI) locked(do func(*remoteAPI)) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	do(a)
}

// shows gives the configurations in one line each, with what is never shown.
func (a *remoteAPI) shows() []string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	all := []string{}
	for _, config := range a.configs {
		reference := "nobody"
		if config.Reference != nil {
			reference = *config.Reference
		}
		all = append(all, fmt.Sprintf("%s %s %s of %s by %s", config.URL, strings.Join(config.Events, ","), config.Status, reference, config.token))
	}
	return all
}

func (a *remoteAPI) written() []string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return slices.Clone(a.writes)
}

// delivered notes an attempt to tell the receiver of the first configuration
// something; zero for no answer.
func (a *remoteAPI) delivered(at time.Time, code int) {
	a.locked(func(a *remoteAPI) {
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

// A switchboard connects addresses of Services with servers of this test.
type switchboard struct {
	mutex sync.Mutex
	lines map[string]*remoteAPI
	calls int
}

func (s *switchboard) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	s.mutex.Lock()
	s.calls++
	api := s.lines[hostPort]
	s.mutex.Unlock()
	if api == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused")}
	}
	return (&net.Dialer{}).DialContext(ctx, network, api.server.Listener.Addr().String())
}

func (s *switchboard) connect(hostPort string, api *remoteAPI) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.lines == nil {
		s.lines = map[string]*remoteAPI{}
	}
	s.lines[hostPort] = api
}

func (s *switchboard) called() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.calls
}
