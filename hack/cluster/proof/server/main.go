// SPDX-License-Identifier: Apache-2.0

// Command server runs in the cluster's pods during the proof: it reports its identity,
// fetches URLs on request, and stores a note on a volume.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// notePath is where the volume is mounted.
const notePath = "/data/note"

func main() {
	addresses := os.Args[1:]
	handler := http.NewServeMux()
	handler.HandleFunc("GET /", whoami)
	handler.HandleFunc("GET /fetch", fetch)
	handler.HandleFunc("GET /note", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, notePath) })
	handler.HandleFunc("PUT /note", putNote)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	servers := make([]*http.Server, 0, len(addresses))
	for _, address := range addresses {
		server := &http.Server{Addr: address, Handler: closeConnectionsOnShutdown(ctx, handler), ReadHeaderTimeout: 5 * time.Second}
		servers = append(servers, server)
		go func() {
			if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
				log.Fatal(err)
			}
		}()
	}
	log.Printf("serving on %v", addresses) //nolint:gosec // they come from the manifest
	<-ctx.Done()
	drain(servers)
}

// drain keeps serving until the Service no longer routes to this pod.
func drain(servers []*http.Server) {
	time.Sleep(4 * time.Second)
	for _, server := range servers {
		_ = server.Shutdown(context.Background())
	}
}

// closeConnectionsOnShutdown makes clients reconnect once the server is shutting down.
func closeConnectionsOnShutdown(ending context.Context, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ending.Err() != nil {
			w.Header().Set("Connection", "close")
		}
		handler.ServeHTTP(w, r)
	})
}

func whoami(w http.ResponseWriter, _ *http.Request) {
	name, err := os.Hostname()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(w, name)
}

func fetch(w http.ResponseWriter, r *http.Request) {
	client := http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(r.URL.Query().Get("url")) //nolint:gosec,noctx // fetching any URL is the purpose of the program
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = response.Body.Close() }()
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body)
}

func putNote(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(io.LimitReader(r.Body, 1<<10))
	if err == nil {
		err = os.WriteFile(notePath, content, 0o600)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
