// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/oapi-codegen/runtime/types"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/enginev3"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

func date(year int) *types.Date {
	return &types.Date{Time: time.Date(year, 11, 21, 0, 0, 0, 0, time.UTC)}
}

// Every error format of the server becomes an Error.
func TestErrorFromServer(t *testing.T) {
	t.Parallel()
	i, full := newTestInstance(t), newTestInstance(t)
	full.quotaExceeded.Store(true)
	wrong := client.Credentials{AppID: "portal", AppKey: "guessed", InstanceID: "acme"}
	elsewhere := client.Credentials{AppID: "portal", AppKey: portal.AppKey, InstanceID: "other"}
	greedy := client.Credentials{AppID: "kiosk", AppKey: kiosk.AppKey, InstanceID: "acme", Scopes: []string{"config:read"}}
	info := func(ctx context.Context, c *client.Client) error {
		_, err := c.Engine.GetInfo(ctx, client.RequestID("mine"))
		return err
	}
	usage := func(ctx context.Context, c *client.Client) error {
		_, err := c.Guidance.ListUsage(ctx, &guidance.ListUsageParams{From: date(2026), To: date(2025)}, client.RequestID("mine"))
		return err
	}
	for name, test := range map[string]struct {
		client *client.Client
		call   func(context.Context, *client.Client) error
		want   client.Error
		says   string
	}{
		"wrong key": {newClient(t, i.handler, wrong), info, client.Error{Method: "GET", Path: "/v3/info", Status: 403, RequestID: "mine"}, "App-Key"},
		"all calls made": {newClient(t, full.handler, portal), func(ctx context.Context, c *client.Client) error {
			_, err := c.Engine.Triage(ctx, newInterview(false), client.RequestID("mine"))
			return err
		}, client.Error{Method: "POST", Path: "/v3/triage", Status: 429, RequestID: "mine", RetryAfter: 90 * time.Second}, "quota"},
		"no such concept": {newClient(t, i.handler, portal), func(ctx context.Context, c *client.Client) error {
			_, err := c.Engine.GetConcept(ctx, "s_999", client.RequestID("mine"))
			return err
		}, client.Error{Method: "GET", Path: "/v3/concepts/s_999", Status: 404, RequestID: "mine"}, "s_999"},
		"feedback without sense": {newClient(t, i.handler, portal), func(ctx context.Context, c *client.Client) error {
			before := enginev3.Intent{Type: enginev3.IntentTypeCustom}
			return c.Engine.SendFeedback(ctx, &enginev3.SendFeedbackParams{InterviewID: "one"},
				enginev3.Feedback{PatientIntentBefore: before, PatientIntentAfter: before}, client.RequestID("mine"))
		}, client.Error{Method: "POST", Path: "/v3/interviews/feedback", Status: 422, RequestID: "mine"}, "custom_label"},
		"no token, wrong key":       {newClient(t, i.handler, wrong), usage, client.Error{Method: "POST", Path: "/api/auth/token", Status: 401, Code: "invalid_client"}, "key is wrong"},
		"no token, other instance":  {newClient(t, i.handler, elsewhere), usage, client.Error{Method: "POST", Path: "/api/auth/token", Status: 401, Code: "invalid_client"}, "Instance-Id"},
		"no token, forbidden scope": {newClient(t, i.handler, greedy), usage, client.Error{Method: "POST", Path: "/api/auth/token", Status: 400, Code: "invalid_scope"}, "config:read"},
		"token lacks the scope":     {newClient(t, i.handler, kiosk), usage, client.Error{Method: "GET", Path: "/api/mgp/v1/usage", Status: 403, RequestID: "mine"}, "config:read"},
		"wrong field": {newClient(t, i.handler, portal), usage, client.Error{
			Method: "GET", Path: "/api/mgp/v1/usage", Status: 422, RequestID: "mine",
			Fields: []guidance.FieldError{{Field: "from"}},
		}, "; from: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.call(t.Context(), test.client)
			got, ok := errors.AsType[*client.Error](err)
			if !ok || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got error %v, want %s", err, test.says)
			}
			ignored := []cmp.Option{cmpopts.IgnoreFields(client.Error{}, "Message"), cmpopts.IgnoreFields(guidance.FieldError{}, "Message")}
			if test.want.RequestID == "" { // the OAuth library requested the token
				ignored = append(ignored, cmpopts.IgnoreFields(client.Error{}, "RequestID"))
			}
			if diff := cmp.Diff(test.want, *got, ignored...); diff != "" || got.Message == "" || got.RequestID == "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

// newStubClient returns a client that gets the same status and body for all calls.
func newStubClient(t *testing.T, status int, body string, header ...string) *client.Client {
	t.Helper()
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(listening.Close)
	c, err := client.New(listening.URL, portal)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Proxies between client and instance respond in their own formats.
func TestErrorFromProxy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		client *client.Client
		want   string
	}{
		"a proxy":           {newStubClient(t, 502, "<h1>Bad Gateway</h1>"), "GET /v3/info was answered with 502: Bad Gateway"},
		"other JSON":        {newStubClient(t, 503, `{"error": {"code": 7}}`), "GET /v3/info was answered with 503: Service Unavailable"},
		"nothing":           {newStubClient(t, 500, ""), "GET /v3/info was answered with 500: Internal Server Error"},
		"success, no JSON":  {newStubClient(t, 200, "<h1>Welcome</h1>"), "reading the answer of GET /info: invalid character"},
		"success, no more":  {newStubClient(t, 200, `{"api_`), "reading the answer of GET /info: unexpected EOF"},
		"success, cut off":  {newStubClient(t, 200, `{}`, "Content-Length", "9"), "reading the answer of GET /info: unexpected EOF"},
		"retry, not number": {newStubClient(t, 429, "", "Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"), "429: Too Many Requests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := test.client.Engine.GetInfo(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// A redirect to another server does not receive the key.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("request was redirected with headers %v", r.Header)
	}))
	t.Cleanup(thief.Close)
	_, err := newStubClient(t, 307, "", "Location", thief.URL).Engine.GetInfo(t.Context())
	if apiErr, ok := errors.AsType[*client.Error](err); !ok || apiErr.Status != 307 {
		t.Errorf("got %v", err)
	}
}

// Errors do not contain patient input.
func TestErrorsOmitPatientData(t *testing.T) {
	t.Parallel()
	c, err := client.New("http://127.0.0.1:1", portal)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*client.Client{c, newStubClient(t, 500, "")} {
		_, err := c.Engine.Search(t.Context(), &enginev3.SearchParams{Phrase: "hush", AgeValue: 34})
		if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "GET /v3/search") {
			t.Errorf("got %v", err)
		}
	}
}
