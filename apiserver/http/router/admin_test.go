// SPDX-License-Identifier: Apache-2.0

package router_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/router"
)

func getPath(handler http.Handler, path string) (status int, body string) {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder.Code, recorder.Body.String()
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	var releases, storage error
	var reached, draining atomic.Bool
	probe := func(err *error) func() (string, error) {
		return func() (string, error) { return "fine", *err }
	}
	admin := router.NewAdmin(router.AdminOptions{
		Metrics: http.NotFoundHandler(), Draining: draining.Load,
		Checks: []router.Check{
			{Name: "releases", Run: probe(&releases)},
			{Name: "storage", Run: probe(&storage), WasHealthy: reached.Load},
		},
	})
	down := errors.New("connection refused")
	for _, step := range []struct {
		name    string
		do      func()
		status  int
		verbose string
	}{
		{"storage not there yet", func() { storage = down }, 503, "[+] releases: fine\n[-] storage: connection refused\nnot ready\n"},
		{"nothing there", func() { releases = errors.New("none") }, 503, "[-] releases: none\n[-] storage: connection refused\nnot ready\n"},
		{"storage there, no releases", func() { storage = nil; reached.Store(true) }, 503, "[-] releases: none\n[+] storage: fine\nnot ready\n"},
		{"storage unavailable before the first successful probe", func() { releases, storage = nil, down }, 200, "[+] releases: fine\n[!] storage: connection refused; still serving\nready\n"},
		{"all well", func() { storage = nil }, 200, "[+] releases: fine\n[+] storage: fine\nready\n"},
		{"storage gone later", func() { storage = down }, 200, "[+] releases: fine\n[!] storage: connection refused; still serving\nready\n"},
		{"releases gone later", func() { releases = errors.New("none") }, 503, "[-] releases: none\n[!] storage: connection refused; still serving\nnot ready\n"},
		{"all well again", func() { releases, storage = nil, nil }, 200, "[+] releases: fine\n[+] storage: fine\nready\n"},
		{"leaving", func() { draining.Store(true) }, 503, "[+] releases: fine\n[+] storage: fine\n[-] process: shutting down\nnot ready\n"},
	} {
		step.do()
		brief := "ready\n"
		if step.status != 200 {
			brief = step.verbose // a failing check is listed even without verbose
		}
		if status, body := getPath(admin, "/readyz"); status != step.status || body != brief {
			t.Errorf("%s: got status %d %q, expected %d %q", step.name, status, body, step.status, brief)
		}
		if status, body := getPath(admin, "/readyz?verbose"); status != step.status || body != step.verbose {
			t.Errorf("%s: got status %d %q, expected %d %q", step.name, status, body, step.status, step.verbose)
		}
		if status, body := getPath(admin, "/livez"); status != 200 || body != "alive\n" {
			t.Errorf("%s: /livez answered %d %q", step.name, status, body)
		}
	}
}

func TestAdminEndpoints(t *testing.T) {
	t.Parallel()
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("metrics")) })
	for name, profiles := range map[string]bool{"without profiles": false, "with profiles": true} {
		admin := router.NewAdmin(router.AdminOptions{Metrics: metrics, Draining: func() bool { return false }, EnablePprof: profiles})
		if status, body := getPath(admin, "/metrics"); status != 200 || body != "metrics" {
			t.Errorf("%s: /metrics answered %d %.80q", name, status, body)
		}
		if status, _ := getPath(admin, "/v3/info"); status != 404 {
			t.Errorf("%s: /v3/info answered %d on the administrator's address", name, status)
		}
		for path, want := range map[string]string{
			"/debug/pprof/":                "goroutine",
			"/debug/pprof/heap?debug=1":    "heap profile",
			"/debug/pprof/cmdline":         "",
			"/debug/pprof/symbol":          "num_symbols",
			"/debug/pprof/trace?seconds=0": "",
		} {
			status, body := getPath(admin, path)
			switch {
			case profiles && (status != 200 || !strings.Contains(body, want)):
				t.Errorf("%s: %s: got status %d %.80q", name, path, status, body)
			case !profiles && status != 404:
				t.Errorf("%s: %s: got status %d", name, path, status)
			}
		}
	}
}
