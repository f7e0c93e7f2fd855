// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/go-chi/chi/v5"
)

// A Check says whether a part of the server is well.
type Check struct {
	Name string
	// Probe says how the part is, in a few words, or what is wrong with it. It
	// must not wait for anything.
	Probe func() (state string, err error)
	// Reached, if there is one, says whether the part has been well at some
	// time, whoever looked: from then on the server is ready without it.
	Reached func() bool
}

// AdminOptions are what the administrator's handler stands on. All but Profiles
// are required.
type AdminOptions struct {
	Metrics http.Handler
	Checks  []Check
	// Leaving says that the server is about to stop.
	Leaving func() bool
	// Profiles serves /debug/pprof/ too. They take time from requests, and show
	// the command line.
	Profiles bool
}

// Admin makes the handler of the administrator's address: /livez, /readyz and
// /metrics, and /debug/pprof/ if that is asked for.
func Admin(o AdminOptions) http.Handler {
	router := chi.NewRouter()
	router.Get("/livez", func(w http.ResponseWriter, _ *http.Request) { writePlain(w, http.StatusOK, "alive\n") })
	readiness := &readiness{checks: o.Checks, leaving: o.Leaving}
	router.Get("/readyz", readiness.serve)
	router.Get("/metrics", o.Metrics.ServeHTTP)
	if o.Profiles {
		serveProfiles(router)
	}
	return router
}

func serveProfiles(router chi.Router) {
	router.HandleFunc("/debug/pprof/*", pprof.Index)
	router.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	router.HandleFunc("/debug/pprof/profile", pprof.Profile)
	router.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	router.HandleFunc("/debug/pprof/trace", pprof.Trace)
}

// readiness judges whether requests should be sent here.
type readiness struct {
	checks  []Check
	leaving func() bool
}

// serve answers 200 when ready and 503 when not; with ?verbose it lists the
// checks.
func (s *readiness) serve(w http.ResponseWriter, r *http.Request) {
	ready, report := s.judge()
	status, verdict := http.StatusOK, "ready\n"
	if !ready {
		status, verdict = http.StatusServiceUnavailable, "not ready\n"
	}
	if _, verbose := r.URL.Query()["verbose"]; verbose || !ready {
		verdict = report + verdict
	}
	writePlain(w, status, verdict)
}

func (s *readiness) judge() (ready bool, report string) {
	var lines strings.Builder
	ready = true
	for _, check := range s.checks {
		state, err := check.Probe()
		switch {
		case err == nil:
			fmt.Fprintf(&lines, "[+] %s: %s\n", check.Name, state)
		case check.Reached != nil && check.Reached():
			fmt.Fprintf(&lines, "[!] %s: %v; serving goes on\n", check.Name, err)
		default:
			fmt.Fprintf(&lines, "[-] %s: %v\n", check.Name, err)
			ready = false
		}
	}
	if s.leaving() {
		fmt.Fprintf(&lines, "[-] process: about to stop\n")
		ready = false
	}
	return ready, lines.String()
}

func writePlain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // a prober that is gone does not read it
}
