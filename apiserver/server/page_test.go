// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// newNoRedirectClient returns a client without cookies that does not follow redirects.
func newNoRedirectClient(t testing.TB) *http.Client {
	t.Helper()
	c := *newPlainClient(t)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// TestDemoSurvey checks that a developer can try a survey without an application: the page
// creates the survey, with a session for this survey only.
func TestDemoSurvey(t *testing.T) {
	t.Parallel()
	r := startServer(t, Command{Dev: true, Models: writeReleases(t, t.TempDir(), versionNovember), DataDir: t.TempDir()})
	c, address := newNoRedirectClient(t), "http://"+r.tenant
	if got := mustSend(t, c, "GET", address+"/survey/demo", ""); got.status != 200 || !strings.Contains(got.body, `action="/survey/demo"`) {
		t.Fatalf("GET /survey/demo: got status %d: %s", got.status, got.body)
	}
	var first string
	for _, test := range []struct{ form, language, says string }{
		{"who=you&type=triage", "en", "How soon do you need help?"}, {"who=child&type=triage", "en", "How soon does your child need help?"},
		{"who=other&type=intake", "en", "Some questions before the visit"}, {"", "en", "How soon do you need help?"}, {"who=unknown&type=unknown", "en", "How soon do you need help?"},
	} {
		created := mustSend(t, c, "POST", address+"/survey/demo", test.form, "Content-Type", "application/x-www-form-urlencoded", "Accept-Language", test.language)
		path := created.header.Get("Location")
		cookie, _, _ := strings.Cut(created.header.Get("Set-Cookie"), ";")
		if created.status != http.StatusSeeOther || !strings.HasPrefix(path, "/survey/") || !strings.HasPrefix(cookie, "anamnesis-session=") {
			t.Fatalf("form %q: got status %d, header %v, body %s", test.form, created.status, created.header, created.body)
		}
		if got := mustSend(t, c, "GET", address+path, "", "Cookie", cookie); got.status != 200 || !strings.Contains(got.body, "<h1>"+test.says+"</h1>") {
			t.Errorf("form %q: survey page: got status %d: %s", test.form, got.status, got.body)
		}
		if first == "" {
			first = path
		} else if got := mustSend(t, c, "GET", address+first, "", "Cookie", cookie); got.status != http.StatusUnauthorized {
			t.Errorf("form %q: session opens another survey: got status %d, want 401", test.form, got.status)
		}
	}
	if got := mustSend(t, c, "POST", address+"/survey/demo", "", "Sec-Fetch-Site", "cross-site"); got.status != http.StatusForbidden {
		t.Errorf("cross-site request: got status %d, want 403", got.status)
	}
}

// TestPages checks that the pages are served at the root next to the APIs, in the
// tenant's theme, and follow changes of the file. Only in development can visitors
// create surveys there.
func TestPages(t *testing.T) {
	t.Parallel()
	a, directory := newTestCA(t), t.TempDir()
	command := writeTenantFiles(t, a, directory)
	writeFile(t, filepath.Join(directory, "config/config.yaml"), "page: {name: Lakeside Clinic, colors: {primary: '#7a0019'}, emergencyNumber: '112'}")
	r := startServer(t, command)
	c, address := newClient(t, a, "h2"), "https://"+r.tenant
	for path, says := range map[string]string{"/": `href="/survey"`, "/survey": "Sign in with a code", "/survey/": "Sign in with a code", "/survey/x/y": "This page does not exist"} {
		got := mustSend(t, c, "GET", address+path, "")
		if !strings.Contains(got.body, says) || !strings.Contains(got.body, "Lakeside Clinic") || !strings.Contains(got.body, "--primary:#7a0019") {
			t.Errorf("GET %s: got status %d: %s", path, got.status, got.body)
		}
		if policy := got.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") {
			t.Errorf("GET %s: got Content-Security-Policy %s", path, policy)
		}
	}
	for _, method := range []string{"GET", "POST"} {
		if got := mustSend(t, c, method, address+"/survey/demo", ""); got.status != http.StatusUnauthorized || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s /survey/demo: got status %d, header %v", method, got.status, got.header)
		}
	}
	if got := mustSend(t, c, "GET", address+"/v3/info", ""); !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") {
		t.Errorf("GET /v3/info: got header %v, want a JSON response", got.header)
	}
	writeFile(t, filepath.Join(directory, "config/config.yaml"), "page: {name: Hillside Clinic}")
	eventually(t, "the pages show the new name", func() bool {
		return strings.Contains(mustSend(t, c, "GET", address+"/survey", "").body, "Hillside Clinic")
	})
}
