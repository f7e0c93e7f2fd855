// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"runtime"
	"slices"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

// testSite serves documents by path, in English and with a title, under a policy that allows
// only resources from the site.
type testSite map[string]string

func (s testSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, found := s[r.URL.Path]
	if !found {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'self'")
	if kind := mime.TypeByExtension(path.Ext(r.URL.Path)); kind != "" {
		w.Header().Set("Content-Type", kind)
		_, _ = fmt.Fprint(w, content)
		return
	}
	_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Test</title>
<meta name="viewport" content="width=device-width"></head><body>%s</body></html>`, content)
}

// startSite serves documents for the test, and returns their URL.
func startSite(t *testing.T, documents http.Handler) string {
	t.Helper()
	server := httptest.NewServer(documents)
	t.Cleanup(server.Close)
	return server.URL
}

// openPage opens a document in a tab.
func openPage(t *testing.T, options Options, content string) *Tab {
	t.Helper()
	url := startSite(t, testSite{"/": content}) // outlives the tab
	tab := Open(t, options)
	tab.Go(url)
	return tab
}

// recordingTB is a test that may fail.
type recordingTB struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (r *recordingTB) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recordingTB) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recordingTB) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// recordFailures runs a test that may fail, and returns its messages.
func recordFailures(t *testing.T, test func(t testing.TB)) []string {
	t.Helper()
	recorded := &recordingTB{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(recorded)
	}()
	<-done
	for _, cleanup := range slices.Backward(recorded.cleanups) {
		cleanup()
	}
	return recorded.failures
}

// connectionCloser breaks the connection at one path.
type connectionCloser struct{ http.Handler }

func (c connectionCloser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/hang-up" {
		panic(http.ErrAbortHandler)
	}
	c.Handler.ServeHTTP(w, r)
}
