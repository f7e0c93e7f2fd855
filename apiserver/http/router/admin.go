// SPDX-License-Identifier: Apache-2.0

package router

import (
	"fmt"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/go-chi/chi/v5"
)

// A Check is a health check of one component of the server.
type Check struct {
	Name string
	// Run returns a short description of the component's state, or an error if the component
	// is unhealthy. It must not block.
	Run func() (state string, err error)
	// WasHealthy, if set, reports whether the component has ever been healthy. Once it has,
	// readiness no longer depends on it.
	WasHealthy func() bool
}

// AdminOptions configure the admin handler. All but EnablePprof are required.
type AdminOptions struct {
	Metrics http.Handler
	Checks  []Check
	// Draining reports whether the server is about to stop.
	Draining func() bool
	// EnablePprof serves /debug/pprof/ as well. Profiling takes CPU time from requests and
	// exposes the command line.
	EnablePprof bool
}

// NewAdmin returns the handler of the admin address: /livez, /readyz, /metrics and, if
// enabled, /debug/pprof/.
func NewAdmin(o AdminOptions) http.Handler {
	router := chi.NewRouter()
	router.Get("/livez", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "alive\n") })
	readiness := &readiness{checks: o.Checks, draining: o.Draining}
	router.Get("/readyz", readiness.handle)
	router.Get("/metrics", o.Metrics.ServeHTTP)
	if o.EnablePprof {
		mountPprof(router)
	}
	return router
}

func mountPprof(router chi.Router) {
	router.HandleFunc("/debug/pprof/*", pprof.Index)
	router.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	router.HandleFunc("/debug/pprof/profile", pprof.Profile)
	router.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	router.HandleFunc("/debug/pprof/trace", pprof.Trace)
}

// readiness decides whether the server should receive requests.
type readiness struct {
	checks   []Check
	draining func() bool
}

// handle responds with 200 if the server is ready and with 503 otherwise. With ?verbose it
// lists the checks.
func (r *readiness) handle(w http.ResponseWriter, req *http.Request) {
	ready, report := r.evaluate()
	status, verdict := http.StatusOK, "ready\n"
	if !ready {
		status, verdict = http.StatusServiceUnavailable, "not ready\n"
	}
	if _, verbose := req.URL.Query()["verbose"]; verbose || !ready {
		verdict = report + verdict
	}
	writeText(w, status, verdict)
}

func (r *readiness) evaluate() (ready bool, report string) {
	var lines strings.Builder
	ready = true
	for _, check := range r.checks {
		state, err := check.Run()
		switch {
		case err == nil:
			fmt.Fprintf(&lines, "[+] %s: %s\n", check.Name, state)
		case check.WasHealthy != nil && check.WasHealthy():
			fmt.Fprintf(&lines, "[!] %s: %v; still serving\n", check.Name, err)
		default:
			fmt.Fprintf(&lines, "[-] %s: %v\n", check.Name, err)
			ready = false
		}
	}
	if r.draining() {
		fmt.Fprintf(&lines, "[-] process: shutting down\n")
		ready = false
	}
	return ready, lines.String()
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // ignore a prober that has disconnected
}
