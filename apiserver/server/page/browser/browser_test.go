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

// site serves documents by their paths, in English and with a title, under a
// policy that allows what comes from the site alone.
type site map[string]string

func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// serve serves documents for the test, and returns their URL.
func serve(t *testing.T, documents http.Handler) string {
	t.Helper()
	server := httptest.NewServer(documents)
	t.Cleanup(server.Close)
	return server.URL
}

// show opens a document in a tab.
func show(t *testing.T, options Options, content string) *Tab {
	t.Helper()
	url := serve(t, site{"/": content}) // and outlives the tab
	tab := Open(t, options)
	tab.Go(url)
	return tab
}

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// failures runs a test that may fail, and returns what it said.
func failures(t *testing.T, test func(t testing.TB)) []string {
	t.Helper()
	recorded := &recorder{TB: t}
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

// hangUp breaks the connection at one path.
type hangUp struct{ http.Handler }

func (h hangUp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/hang-up" {
		panic(http.ErrAbortHandler)
	}
	h.Handler.ServeHTTP(w, r)
}
