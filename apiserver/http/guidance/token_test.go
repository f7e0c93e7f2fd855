// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access/accesstest"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
)

// TestToken checks that a token grants exactly the requested scopes, and that clients can
// verify it with the published keys.
func TestToken(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	for name, body := range map[string][2]string{
		"JSON":            {"application/json", `{"grant_type": "client_credentials"}`},
		"JSON, charset":   {"application/JSON; charset=utf-8", `{"grant_type": "client_credentials", "scope": ""}`},
		"JSON, null":      {"application/json", `{"grant_type": "client_credentials", "scope": null, "more": {"x": [1]}}`},
		"JSON, one scope": {"application/json", `{"grant_type": "client_credentials", "scope": "config:read"}`},
		"form":            {"application/x-www-form-urlencoded", "grant_type=client_credentials"},
		"form, charset":   {"application/x-www-form-urlencoded;charset=UTF-8", "grant_type=client_credentials&scope=&more=x"},
		"form, scopes":    {"application/x-www-form-urlencoded", "scope=survey%3Aread+config:read&grant_type=client_credentials"},
	} {
		response, text := r.call("POST", "/api/auth/token", body[1],
			"Content-Type", body[0], "Authorization", basicAuth("portal", "portal-key"), "Instance-Id", "acme-mgp")
		decoded := decode[map[string]any](t, text)
		if response.StatusCode != http.StatusOK || decoded["token_type"] != "Bearer" || decoded["expires_in"] != 3600.0 || len(decoded) != 3 {
			t.Errorf("%s: got status %d: %s", name, response.StatusCode, text)
			continue
		}
		if response.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: response is cacheable", name)
		}
		claims := r.verifiedClaims(decoded["access_token"].(string))
		want := identity.FormatScopes(identity.AllScopes())
		switch name {
		case "JSON, one scope":
			want = "config:read"
		case "form, scopes":
			want = "survey:read config:read"
		}
		if claims["sub"] != "portal" || claims["iss"] != "https://acme.example" || claims["scope"] != want {
			t.Errorf("%s: got claims %v, want scopes %s", name, claims, want)
		}
	}
}

// verifiedClaims verifies a token with the published keys and returns its claims.
func (f *fixture) verifiedClaims(token string) jwt.MapClaims {
	f.t.Helper()
	response, text := f.call("GET", "/.well-known/jwks.json", "")
	if response.StatusCode != http.StatusOK || response.Header.Get("Cache-Control") != "public, max-age=300" {
		f.t.Fatalf("requesting keys: got status %d, %s", response.StatusCode, text)
	}
	keys := map[string]ed25519.PublicKey{}
	for _, key := range decode[struct{ Keys []struct{ Kid, X string } }](f.t, text).Keys {
		public, err := base64.RawURLEncoding.DecodeString(key.X)
		if err != nil {
			f.t.Fatal(err)
		}
		keys[key.Kid] = public
	}
	claims := jwt.MapClaims{}
	if _, err := jwt.ParseWithClaims(token, claims, func(token *jwt.Token) (any, error) {
		return keys[token.Header["kid"].(string)], nil
	}, jwt.WithAudience("acme"), jwt.WithTimeFunc(f.tokenIssuer.Now)); err != nil {
		f.t.Fatalf("verifying the token: %v", err)
	}
	return claims
}

// TestTokenErrors checks that errors have OAuth error codes and describe the remedy.
func TestTokenErrors(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	const good = `{"grant_type": "client_credentials"}`
	for name, test := range map[string]struct {
		body    string
		headers map[string]string // override the valid ones
		status  int
		code    string
		want    string
	}{
		"no credentials":   {good, map[string]string{"Authorization": ""}, 401, "invalid_client", "Authorization: Basic"},
		"bearer":           {good, map[string]string{"Authorization": "Bearer hunter2"}, 401, "invalid_client", "Authorization: Basic"},
		"not base64":       {good, map[string]string{"Authorization": "Basic hunter2!"}, 401, "invalid_client", "Authorization: Basic"},
		"no colon":         {good, map[string]string{"Authorization": "Basic aHVudGVyMg=="}, 401, "invalid_client", "Authorization: Basic"},
		"wrong key":        {good, map[string]string{"Authorization": basicAuth("portal", "hunter2")}, 401, "invalid_client", "id or key is wrong"},
		"wrong id":         {good, map[string]string{"Authorization": basicAuth("hunter2", "portal-key")}, 401, "invalid_client", "id or key is wrong"},
		"no instance":      {good, map[string]string{"Instance-Id": ""}, 401, "invalid_client", "followed by -mgp"},
		"bare instance":    {good, map[string]string{"Instance-Id": "acme"}, 401, "invalid_client", "followed by -mgp"},
		"another instance": {good, map[string]string{"Instance-Id": "other-mgp"}, 401, "invalid_client", "followed by -mgp"},
		"no grant":         {`{}`, nil, 400, "invalid_request", "client_credentials"},
		"null":             {`null`, nil, 400, "invalid_request", "client_credentials"},
		"grant null":       {`{"grant_type": null}`, nil, 400, "invalid_request", "client_credentials"},
		"grant a number":   {`{"grant_type": 1}`, nil, 400, "invalid_request", "grant_type: got a JSON number, expected a string"},
		"scope a list":     {`{"grant_type": "client_credentials", "scope": ["hunter2"]}`, nil, 400, "invalid_request", "scope: got a JSON array, expected a string"},
		"a list":           {`["hunter2"]`, nil, 400, "invalid_request", "expected an object or a form"},
		"another grant":    {`{"grant_type": "password"}`, nil, 400, "unsupported_grant_type", "client_credentials"},
		"unknown scope":    {`{"grant_type": "client_credentials", "scope": "survey:delete"}`, nil, 400, "invalid_scope", "survey:delete"},
		"scope of others":  {`{"grant_type": "client_credentials", "scope": "config:read"}`, map[string]string{"Authorization": basicAuth("kiosk", "kiosk/key+=")}, 400, "invalid_scope", "config:read"},
		"no body":          {``, nil, 400, "invalid_request", "invalid JSON at byte 0"},
		"half":             {`{"grant_type": "hunter2`, nil, 400, "invalid_request", "invalid JSON at byte 23"},
		"not JSON":         {`grant_type=hunter2`, nil, 400, "invalid_request", "invalid JSON at byte 0"},
		"more than JSON":   {good + `hunter2`, nil, 400, "invalid_request", "invalid JSON at byte 36"},
		"large":            {`"` + strings.Repeat("x", 8<<10) + `"`, nil, 413, "invalid_request", "at most 8 KiB"},
		"no type":          {good, map[string]string{"Content-Type": ""}, 400, "invalid_request", "Content-Type"},
		"text":             {good, map[string]string{"Content-Type": "text/plain"}, 400, "invalid_request", "Content-Type"},
		"nearly JSON":      {good, map[string]string{"Content-Type": "application/jsonp"}, 400, "invalid_request", "Content-Type"},
		"a field twice":    {`{"grant_type": "password", "grant_type": "client_credentials"}`, nil, 400, "invalid_request", `duplicate object name "grant_type"`},
		"form, broken":     {`grant_type=%hunter2`, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 400, "invalid_request", "form"},
		"form, empty":      {``, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 400, "invalid_request", "client_credentials"},
		"form, large":      {strings.Repeat("x", 8<<10+1), map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 413, "invalid_request", "at most 8 KiB"},
	} {
		headers := map[string]string{"Authorization": basicAuth("portal", "portal-key"), "Instance-Id": "acme-mgp", "Content-Type": "application/json"}
		for header, value := range test.headers {
			headers[header] = value
		}
		var pairs []string
		for header, value := range headers {
			if value != "" {
				pairs = append(pairs, header, value)
			}
		}
		response, text := r.call("POST", "/api/auth/token", test.body, pairs...)
		decoded := decode[map[string]string](t, text)
		if response.StatusCode != test.status || decoded["error"] != test.code || !strings.Contains(decoded["error_description"], test.want) {
			t.Errorf("%s: got status %d %s, want %d %s with %q", name, response.StatusCode, text, test.status, test.code, test.want)
		}
		if strings.Contains(text, "hunter2") {
			t.Errorf("%s: response reveals a possible secret: %s", name, text)
		}
		want := map[bool]string{true: `Basic realm="anamnesis"`, false: ""}[test.status == 401]
		if got := response.Header.Get("WWW-Authenticate"); got != want {
			t.Errorf("%s: WWW-Authenticate is %q, want %q", name, got, want)
		}
	}
	response, text := r.call("POST", "/api/auth/token", good, "Content-Type", "application/json",
		"Authorization", basicAuth("portal", "portal-key"), "Instance-Id", "acme-mgp", "Instance-Id", "other-mgp")
	if response.StatusCode != http.StatusBadRequest || !strings.Contains(text, "Instance-Id must be specified once") {
		t.Errorf("two instances: got status %d: %s", response.StatusCode, text)
	}
	if log := r.log.String(); log != "" {
		t.Errorf("client errors were logged as server faults: %s", log)
	}
}

// instanceIDTransport adds the Instance-Id header, which is required in addition to OAuth.
type instanceIDTransport struct{ next http.RoundTripper }

func (t instanceIDTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Instance-Id", "acme-mgp")
	return t.next.RoundTrip(r)
}

// TestOAuthClientLibrary checks that a standard OAuth library, which sends a form and
// percent-encodes the key, can request tokens.
func TestOAuthClientLibrary(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	library := clientcredentials.Config{
		ClientID: "kiosk", ClientSecret: "kiosk/key+=", Scopes: []string{"survey:read"},
		TokenURL: r.baseURL + "/api/auth/token", AuthStyle: oauth2.AuthStyleInHeader,
	}
	client := *r.client
	client.Transport = instanceIDTransport{r.client.Transport}
	token, err := library.Token(context.WithValue(t.Context(), oauth2.HTTPClient, &client))
	if err != nil {
		t.Fatal(err)
	}
	caller, err := r.tokenIssuer.VerifyAccessToken(token.AccessToken)
	if diff := cmp.Diff(identity.Principal{Actor: audit.Actor{Application: "kiosk"}, Scopes: []identity.Scope{identity.SurveyRead}}, caller); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// FuzzTokenRequest checks that no body, as JSON or form, causes a panic, a server fault, or a
// token that exceeds the application's permissions.
func FuzzTokenRequest(f *testing.F) {
	r := newFixture(f)
	handler := guidance.New(guidance.Options{Limiter: newUnlimitedLimiter(), Meter: &fakeMeter{}, TokenIssuer: r.tokenIssuer, Operations: accesstest.Operations(f), Usage: r.store, Now: r.tokenIssuer.Now, Log: nil})
	for _, seed := range []string{
		`{"grant_type": "client_credentials"}`, `{"grant_type": "client_credentials", "scope": "survey:read"}`, `{}`, `[]`, ``, `{"scope": {}}`,
		"grant_type=client_credentials", "grant_type=client_credentials&scope=survey:read", "&&&=;%", "grant_type=a&grant_type=b",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, body string, form bool) {
		request := httptest.NewRequest(http.MethodPost, "/api/auth/token", strings.NewReader(body))
		request.Header.Set("Content-Type", map[bool]string{true: "application/x-www-form-urlencoded", false: "application/json"}[form])
		request.Header.Set("Authorization", basicAuth("kiosk", "kiosk/key+="))
		request.Header.Set("Instance-Id", "acme-mgp")
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		var response struct {
			AccessToken string `json:"access_token"`
			Error       string
		}
		if err := json.Unmarshal(recorder.Body.Bytes(), &response); err != nil || !utf8.Valid(recorder.Body.Bytes()) {
			t.Fatalf("%q: got invalid response %q", body, recorder.Body)
		}
		switch {
		case recorder.Code == http.StatusOK:
			caller, err := r.tokenIssuer.VerifyAccessToken(response.AccessToken)
			if err != nil || len(caller.Scopes) != 1 || !caller.HasScope(identity.SurveyRead) {
				t.Fatalf("%q: got a token of %v, %v", body, caller, err)
			}
			if _, err := url.ParseQuery(body); form && err != nil {
				t.Fatalf("%q: got a token for an invalid form", body)
			}
		case recorder.Code != http.StatusBadRequest || response.Error == "":
			t.Fatalf("%q: got status %d %s", body, recorder.Code, recorder.Body)
		}
	})
}
