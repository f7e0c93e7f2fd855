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

// A namespaceHealth reports the problems of the operator's namespaces, one line per
// problem.
type namespaceHealth interface{ Problems() []string }

// addProbes makes the manager serve /livez and /readyz at address, or nowhere if the
// address is 0. It replaces controller-runtime's own probes, which report only success
// or failure, without details.
func addProbes(manager ctrl.Manager, address string, health namespaceHealth) error {
	if address == "0" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		return fmt.Errorf("listening for probes at --health-probe-bind-address: %w", err)
	}
	synced := make(chan struct{})
	probes := &probes{cachesSynced: synced, elected: manager.Elected(), health: health}
	server := &http.Server{Handler: probes.handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 90 * time.Second}
	if err := manager.Add(&ctrlmanager.Server{Name: "probes", Server: server, Listener: listener}); err != nil {
		return fmt.Errorf("adding the probe server: %w", err)
	}
	if err := manager.Add(onCachesSynced(func() { close(synced) })); err != nil {
		return fmt.Errorf("adding the cache sync hook: %w", err)
	}
	return nil
}

// onCachesSynced is a Runnable that the manager calls once its caches have synced, on
// standby replicas too.
type onCachesSynced func()

// Start implements manager.Runnable.
func (o onCachesSynced) Start(context.Context) error {
	o()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (o onCachesSynced) NeedLeaderElection() bool { return false }

// probes serves the operator's liveness and readiness probes.
type probes struct {
	// cachesSynced is closed once the caches have synced, elected once this replica is the
	// leader.
	cachesSynced, elected <-chan struct{}
	health                namespaceHealth
}

func (p *probes) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		status, report := p.readiness()
		writeText(w, status, report)
	})
	return mux
}

// readiness reports a replica as ready once its caches have synced. Leadership is reported
// but does not affect readiness: standby replicas must become ready, or a rollout of the
// operator would wait for the leader to stop. Problems of namespaces do not affect
// readiness either, because the operator continues with the other namespaces.
func (p *probes) readiness() (status int, report string) {
	var lines strings.Builder
	status, verdict := http.StatusOK, "ready"
	if isClosed(p.cachesSynced) {
		lines.WriteString("[+] caches: synced\n")
	} else {
		status, verdict = http.StatusServiceUnavailable, "not ready"
		lines.WriteString("[-] caches: not synced\n")
	}
	leadership := "standby"
	if isClosed(p.elected) {
		leadership = "leader"
	}
	fmt.Fprintf(&lines, "[+] leadership: %s\n", leadership)
	for _, problem := range p.health.Problems() {
		fmt.Fprintf(&lines, "[!] %s\n", problem)
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

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the prober has disconnected; nothing to do
}
