// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
)

const (
	otpPath   = "/api/mgp/v1/auth/otp"
	loginPath = "/api/mgp/v1/auth/login/otp"
	magicPath = "/api/mgp/v1/auth/login/magic_code"
)

// signInFixture is a fixture that records sent passwords, so that users can sign in.
type signInFixture struct {
	usersClient
	users *users.Service
	mutex sync.Mutex
	sent  []users.OneTimePassword
}

func newSignInFixture(t *testing.T, change ...func(*guidance.Options)) *signInFixture {
	t.Helper()
	d := &signInFixture{}
	d.usersClient = newUsersClient(t, append(change, func(o *guidance.Options) { d.users = o.Users })...)
	d.users.Deliver = func(password users.OneTimePassword) {
		d.mutex.Lock()
		defer d.mutex.Unlock()
		d.sent = append(d.sent, password)
	}
	return d
}

// post sends a call without a token.
func (f *signInFixture) post(path, body string, headers ...string) (testResponse, string) {
	f.t.Helper()
	return f.call("POST", path, body, append(headers, "Content-Type", "application/json")...)
}

// signInByEmail signs an end user in by email and returns the token.
func (f *signInFixture) signInByEmail(email string) (bearer string) {
	f.t.Helper()
	if got, text := f.post(otpPath, `{"email": "`+email+`"}`, "Instance-Id", "acme-mgp", "Accept-Language", "de"); got.StatusCode != http.StatusNoContent {
		f.t.Fatalf("got status %d %s", got.StatusCode, text)
	}
	if len(f.sent) == 0 {
		f.t.Fatal("no code was sent")
	}
	code := f.sent[len(f.sent)-1].Code
	got, text := f.post(loginPath, `{"email": "`+email+`", "otp": "`+code+`"}`, "Instance-Id", "acme")
	if got.StatusCode != http.StatusOK {
		f.t.Fatalf("got status %d %s", got.StatusCode, text)
	}
	return "Bearer " + decode[struct{ Token string }](f.t, text).Token
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	d := newSignInFixture(t)
	user, other := d.create(usersPath, `{"email": "ada@x.example"}`), d.create(usersPath, `{}`)
	own, foreign := d.create(patientsPath, `{"user_id": "`+user+`"}`), d.create(patientsPath, `{"user_id": "`+other+`"}`)
	bearer := d.signInByEmail("Ada@x.example")
	if got := d.sent[0]; got.To.Email != "ada@x.example" || got.Language != "de" {
		t.Errorf("sent password %+v", got)
	}
	self := usersClient{d.fixture, bearer}
	for _, step := range []struct {
		method, path string
		status       int
		holds        string
	}{
		{"GET", patientsPath, 200, own},
		{"GET", patientsPath + "/" + own, 200, own},
		{"GET", patientsPath + "/" + foreign, 404, "resource not found"},
		{"GET", patientsPath + "?user_id=" + other, 404, "resource not found"},
		{"GET", usersPath + "/" + user, 403, "user:read"},
		{"GET", usersPath, 403, "user:read"},
		{"DELETE", patientsPath + "/" + own, 403, "patient:write"},
		{"GET", auditPath, 403, "config:read"},
		{"GET", "/api/mgp/v1/usage", 403, "config:read"},
	} {
		if text := self.send(step.method, step.path, "", step.status); !strings.Contains(text, step.holds) || strings.Contains(text, foreign) {
			t.Errorf("%s %s: got response %s", step.method, step.path, text)
		}
	}
	d.send("DELETE", usersPath+"/"+user, "", 204)
	if text := self.send("GET", patientsPath, "", 200); strings.Contains(text, own) {
		t.Errorf("deleted user can list %s", text)
	}
}

// TestSignInDoesNotRevealAccounts checks that responses do not reveal whether an account
// exists.
func TestSignInDoesNotRevealAccounts(t *testing.T) {
	t.Parallel()
	d := newSignInFixture(t)
	d.create(usersPath, `{"email": "ada@x.example", "phone": "+493012345678"}`)
	answers := map[string]bool{}
	for _, who := range []string{`"email": "ada@x.example"`, `"email": "eve@x.example"`, `"phone": "+493012345678"`, `"phone": "+493012345679"`} {
		for range 7 { // above the hourly limit
			got, text := d.post(otpPath, `{`+who+`}`, "Instance-Id", "acme-mgp")
			if got.StatusCode != http.StatusNoContent || text != "" {
				t.Errorf("%s: got status %d %s", who, got.StatusCode, text)
			}
		}
		got, text := d.post(loginPath, `{`+who+`, "otp": "x"}`, "Instance-Id", "acme-mgp")
		if got.StatusCode != http.StatusUnauthorized || got.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: got status %d %s", who, got.StatusCode, text)
		}
		answers[text] = true
	}
	if len(answers) != 1 {
		t.Errorf("responses differ: %v", answers)
	}
	if len(d.sent) != 10 {
		t.Errorf("sent %d codes, want 5 by e-mail and 5 by text message", len(d.sent))
	}
}

func TestSignInValidation(t *testing.T) {
	t.Parallel()
	d := newSignInFixture(t)
	for _, test := range []struct {
		path, body, instance string
		status               int
		holds                string
	}{
		{otpPath, `{"email": "ada@x.example"}`, "", 401, "Instance-Id"},
		{otpPath, `{"email": "ada@x.example"}`, "other-mgp", 401, "Instance-Id"},
		{loginPath, `{"email": "ada@x.example", "otp": "1"}`, "acme-mgp-mgp", 401, "Instance-Id"},
		{otpPath, `{}`, "acme", 422, "either email or phone"},
		{otpPath, `{"email": "", "phone": null}`, "acme", 422, "either email or phone"},
		{otpPath, `{"email": "ada@x.example", "phone": "+493012345678"}`, "acme", 422, "not both"},
		{otpPath, `{"email": "ada"}`, "acme", 422, `"field":"email"`},
		{otpPath, `{"phone": "030 12345678"}`, "acme", 422, `"field":"phone"`},
		{otpPath, `{"phone": 30}`, "acme", 422, `"field":"phone"`},
		{loginPath, `{"phone": "x"}`, "acme", 422, `"field":"otp"`},
		{loginPath, `{"email": "ada@x.example", "otp": 123456}`, "acme", 422, `"field":"otp"`},
		{loginPath, `{"email": "ada@x.example", "otp": "` + strings.Repeat("1", 8<<10) + `"}`, "acme", 413, "8 KiB"},
		{loginPath, `{"email": "ada@x.example", "otp": "\u0000"}`, "acme", 401, "invalid or expired code"},
		{otpPath, `{`, "acme", 400, "invalid JSON"},
	} {
		headers := []string{}
		if test.instance != "" {
			headers = append(headers, "Instance-Id", test.instance)
		}
		if got, text := d.post(test.path, test.body, headers...); got.StatusCode != test.status || !strings.Contains(text, test.holds) {
			t.Errorf("%s %.80s: got status %d %s, want %d with %s", test.path, test.body, got.StatusCode, text, test.status, test.holds)
		}
	}
}

func TestSignInByMagicCode(t *testing.T) {
	t.Parallel()
	d := newSignInFixture(t)
	user := d.create(usersPath, `{}`)
	own := d.create(patientsPath, `{"user_id": "`+user+`"}`)
	code, err := d.users.CreateMagicCode(t.Context(), identity.Session{UserID: user, SurveyID: "s1"}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		body   string
		status int
		holds  string
	}{
		{`{"code": "` + code + `", "resource_type": "survey", "resource_id": "s1"}`, 200, "token"},
		{`{"code": "` + code + `", "resource_type": "survey", "resource_id": "s2"}`, 401, "invalid or expired code"},
		{`{"code": "x", "resource_type": "survey", "resource_id": "s1"}`, 401, "invalid or expired code"},
		{`{"code": "` + code + `", "resource_type": "patient", "resource_id": "s1"}`, 422, "resource_type"},
		{`{}`, 422, `"code"`},
	} {
		text := d.send("POST", magicPath, test.body, test.status)
		if !strings.Contains(text, test.holds) {
			t.Errorf("%s: got response %s", test.body, text)
		}
		if test.status == http.StatusOK {
			self := usersClient{d.fixture, "Bearer " + decode[struct{ Token string }](t, text).Token}
			if text := self.send("GET", patientsPath, "", 200); !strings.Contains(text, own) {
				t.Errorf("user of a magic link can list %s", text)
			}
		}
	}
	if got, text := d.post(magicPath, `{"code": "`+code+`", "resource_type": "survey", "resource_id": "s1"}`); got.StatusCode != http.StatusUnauthorized {
		t.Errorf("without an application's token: got status %d %s", got.StatusCode, text)
	}
}

// TestPageSessionIsNotAnAccessToken checks that a session of the survey page does not
// authorize API calls.
func TestPageSessionIsNotAnAccessToken(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	session, err := r.tokenIssuer.IssueSession(identity.Session{UserID: "u", SurveyID: "s1"}, testNow.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	usersClient{r, "Bearer " + session}.send("GET", patientsPath, "", 401)
}

// TestSignInIsThrottled checks that frequent code requests and guesses are throttled, and
// that no codes are sent meanwhile.
func TestSignInIsThrottled(t *testing.T) {
	t.Parallel()
	d := newSignInFixture(t, withThrottle)
	d.create(usersPath, `{"email": "ada@x.example"}`)
	for _, call := range [][2]string{{otpPath, `{"email": "ada@x.example"}`}, {loginPath, `{"email": "ADA@x.example", "otp": "x"}`}} {
		for i := range 12 {
			got, text := d.post(call[0], call[1], "Instance-Id", "acme-mgp")
			if slowed := got.StatusCode == http.StatusTooManyRequests && got.Header.Get("Retry-After") == "6"; slowed != (i >= 10) {
				t.Errorf("%s, time %d: got status %d %s", call[0], i+1, got.StatusCode, text)
			}
		}
	}
	if got, text := d.post(otpPath, `{"email": "eve@x.example"}`, "Instance-Id", "acme-mgp"); got.StatusCode != http.StatusNoContent {
		t.Errorf("another user: got status %d %s", got.StatusCode, text)
	}
}
