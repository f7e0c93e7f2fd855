// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
)

// A namespaceHealth says what is wrong with the operator's namespaces, a line
// for each trouble.
type namespaceHealth interface{ Troubles() []string }

// addProbes has a manager serve /livez and /readyz at an address; 0 for nowhere.
// Its own probes can say that something is not well, and no more.
func addProbes(manager ctrl.Manager, address string, health namespaceHealth) error {
	if address == "0" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for probes at --health-probe-bind-address: %w", err)
	}
	filled := make(chan struct{})
	probes := &probes{filled: filled, leads: manager.Elected(), health: health}
	server := &http.Server{Handler: probes.handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 90 * time.Second}
	if err := manager.Add(&ctrlmanager.Server{Name: "probes", Server: server, Listener: listener}); err != nil {
		return fmt.Errorf("adding the server of probes: %w", err)
	}
	if err := manager.Add(afterCaches(func() { close(filled) })); err != nil {
		return fmt.Errorf("adding what notes that the caches are filled: %w", err)
	}
	return nil
}

// afterCaches is run once by a manager whose caches are filled, on replicas that
// stand by too.
type afterCaches func()

// Start implements manager.Runnable.
func (f afterCaches) Start(context.Context) error {
	f()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (f afterCaches) NeedLeaderElection() bool { return false }

// probes answer whether the operator is alive, and whether it is ready.
type probes struct {
	// filled is closed when the caches are filled, leads when this replica is the
	// one that works.
	filled, leads <-chan struct{}
	health        namespaceHealth
}

func (p *probes) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { writePlain(w, http.StatusOK, "alive\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		status, report := p.judge()
		writePlain(w, status, report)
	})
	return mux
}

// judge says that a replica is ready when its caches are filled. Leading is told
// and does not count: one that stands by must be ready, or a rollout of the
// operator would wait for the leader to end. Nor do namespaces that are missing:
// the others are cared for.
func (p *probes) judge() (status int, report string) {
	var lines strings.Builder
	status, verdict := http.StatusOK, "ready"
	if isClosed(p.filled) {
		lines.WriteString("[+] caches: filled\n")
	} else {
		status, verdict = http.StatusServiceUnavailable, "not ready"
		lines.WriteString("[-] caches: not filled yet\n")
	}
	leadership := "stands by"
	if isClosed(p.leads) {
		leadership = "leads"
	}
	fmt.Fprintf(&lines, "[+] leadership: %s\n", leadership)
	for _, trouble := range p.health.Troubles() {
		fmt.Fprintf(&lines, "[!] %s\n", trouble)
	}
	return status, lines.String() + verdict + "\n"
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

func writePlain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // a prober that is gone does not read it
}
