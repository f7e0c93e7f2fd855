// SPDX-License-Identifier: Apache-2.0

package guidance_test

import (
	"io"
	"net/http/httptest"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access/accesstest"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
)

// failOnRead is a body that must not be read.
type failOnRead struct{ t *testing.T }

func (f failOnRead) Read([]byte) (int, error) {
	f.t.Error("body was read")
	return 0, io.EOF
}

// TestRejectedBeforeBodyIsRead checks that requests with invalid headers are rejected before
// the body is read.
func TestRejectedBeforeBodyIsRead(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	options := guidance.Options{TokenIssuer: r.tokenIssuer, Operations: accesstest.Operations(t), Usage: r.store, Feedback: r.store, Now: r.tokenIssuer.Now, Limiter: newUnlimitedLimiter(), Meter: &fakeMeter{}}
	open := middleware.WithRequestInfo(guidance.New(options))
	options.Limiter = limiter.New(limiter.Limits{}, func(limiter.Reason) {})
	full := middleware.WithRequestInfo(guidance.New(options))
	portal, bearer := basicAuth("portal", "portal-key"), "Bearer "+r.token("portal", "portal-key", "")
	checked, err := parsedContract()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		method, path  string
		authorization string
		instance      string
		contentType   string
		length        int64 // -1: unknown
		busy          bool
		status        int
	}{
		"a stranger":                 {"POST", "/api/auth/token", "", "acme-mgp", "application/json", -1, false, 401},
		"a stranger with a big body": {"POST", "/api/auth/token", "", "acme-mgp", "application/json", 1 << 30, false, 401},
		"a bearer":                   {"POST", "/api/auth/token", bearer, "acme-mgp", "application/json", -1, false, 401},
		"a wrong key":                {"POST", "/api/auth/token", basicAuth("portal", "x"), "acme-mgp", "application/json", 10, false, 401},
		"another instance":           {"POST", "/api/auth/token", portal, "other-mgp", "application/json", -1, false, 401},
		"no instance":                {"POST", "/api/auth/token", portal, "", "application/json", -1, false, 401},
		"a big body":                 {"POST", "/api/auth/token", portal, "acme-mgp", "application/json", 8<<10 + 1, false, 413},
		"a big form":                 {"POST", "/api/auth/token", portal, "acme-mgp", "application/x-www-form-urlencoded", 8<<10 + 1, false, 413},
		"another content type":       {"POST", "/api/auth/token", portal, "acme-mgp", "text/plain", -1, false, 400},
		"a stranger, busy":           {"POST", "/api/auth/token", "", "acme-mgp", "application/json", -1, true, 401},
		"no token":                   {"GET", "/api/mgp/v1/usage", "", "", "application/json", -1, false, 401},
		"a bad token":                {"GET", "/api/mgp/v1/interviews/feedback", "Bearer x", "", "application/json", 1 << 30, false, 401},
		"a busy server, reading":     {"GET", "/api/mgp/v1/usage", bearer, "", "application/json", 10, true, 503},
		"another method":             {"POST", "/api/mgp/v1/usage", bearer, "", "application/json", -1, false, 405},
		"nowhere":                    {"POST", "/api/nothing", bearer, "", "application/json", 1 << 30, false, 404},
		"the keys":                   {"GET", "/.well-known/jwks.json", "", "", "application/json", 10, true, 200},
	} {
		request := httptest.NewRequest(test.method, test.path, failOnRead{t})
		request.ContentLength = test.length
		for header, value := range map[string]string{
			"Authorization": test.authorization, "Instance-Id": test.instance, "Content-Type": test.contentType,
		} {
			if value != "" {
				request.Header.Set(header, value)
			}
		}
		handler := open
		if test.busy {
			handler = full
		}
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		if recorder.Code != test.status || (recorder.Header().Get("Retry-After") == "2") != (test.status == 503) {
			t.Errorf("%s: got status %d %v: %s", name, recorder.Code, recorder.Header(), recorder.Body)
		}
		if err := checked.ValidateResponse(request, recorder.Code, recorder.Header(), recorder.Body.Bytes()); err != nil && test.status != 404 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
