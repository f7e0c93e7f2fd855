// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestDocsArePublic checks that the contracts and the reference are public, unavailable to
// other origins, and not counted as usage.
func TestDocsArePublic(t *testing.T) {
	t.Parallel()
	r := startServer(t)
	origin := "https://portal.example"
	r.origin.Store(&origin)
	for path, want := range map[string]string{
		"/docs": "<!DOCTYPE html>", "/docs/application.json": "{}", "/docs/page.js": "SwaggerUIBundle", "/docs/swagger-ui-bundle.js": "function",
		"/openapi/engine-v3.yaml": "openapi: 3.1.0", "/openapi/guidance.yaml": "openapi: 3.1.0",
	} {
		got := r.doWith(t, r.http1Client, get(path).withHeader(map[string]string{"App-Id": "", "App-Key": "", "Origin": origin}))
		if got.status != http.StatusOK || !strings.Contains(got.body, want) || got.header.Get("X-Request-Id") == "" {
			t.Errorf("%s: got status %d %.80q", path, got.status, got.body)
		}
		for name := range got.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s answered another origin with %s", path, name)
			}
		}
	}
	if counted := r.usage.all(); len(counted) != 0 {
		t.Errorf("requests were counted as usage: %v", counted)
	}
	for path, want := range map[string]int{"/docs/nothing": 404, "/openapi": 404, "/openapi/": 404, "/documents": 404, "/docs/../v3": 404} {
		if got := r.do(t, get(path)); got.status != want {
			t.Errorf("%s: got status %d", path, got.status)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		got := r.doWith(t, r.http1Client, testCall{method: method, path: "/docs"})
		if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != "GET, HEAD" || !strings.Contains(got.body, `"message"`) {
			t.Errorf("%s: got status %d, Allow %q: %s", method, got.status, got.header.Get("Allow"), got.body)
		}
	}
}
