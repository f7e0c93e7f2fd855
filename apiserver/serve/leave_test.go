// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A balancer does for servers what Kubernetes does for pods: it sends new
// connections to those that are ready, and learns a moment later who is. It
// knows nothing of what is inside the connections.
type balancer struct {
	listener net.Listener
	mu       sync.Mutex
	backends []*running
	next     int
	conns    sync.WaitGroup
}

func newBalancer(t *testing.T) *balancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{listener: listener}
	go b.accept()
	t.Cleanup(func() {
		_ = listener.Close()
		b.conns.Wait()
	})
	return b
}

func (b *balancer) accept() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.conns.Go(func() { pipe(conn, b.pick()) })
	}
}

func (b *balancer) pick() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	return b.backends[b.next%len(b.backends)].tenant
}

// add sends connections to a server too.
func (b *balancer) add(r *running) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = append(b.backends, r)
}

// remove sends a server no more connections.
func (b *balancer) remove(r *running) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = slices.DeleteFunc(b.backends, func(other *running) bool { return other == r })
}

// pipe joins two connections until either ends.
func pipe(client net.Conn, backend string) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", backend)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{server, client}, {client, server}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			done <- struct{}{}
		}()
	}
	<-done
	_ = client.Close()
	_ = server.Close()
	<-done
}

// Servers are replaced one after the other under the load of clients that keep
// their connections alive and send nothing twice, and not one request fails.
func TestServersAreReplacedUnderLoad(t *testing.T) {
	t.Parallel()
	a, balancer := newAuthority(t), newBalancer(t)
	command := tenantFiles(t, a, t.TempDir())
	command.Drain = new(1500 * time.Millisecond)
	start := func() *running {
		c := command
		c.DataDir = t.TempDir() // each has its own embedded database
		r := serving(t, c)
		waitReady(t, r)
		return r
	}
	old := []*running{start(), start()}
	for _, r := range old {
		balancer.add(r)
	}
	load := newLoad(t, a, "https://"+balancer.listener.Addr().String()+"/v3/diagnosis")
	load.progress(t)
	for _, r := range old {
		replacement := start()
		balancer.add(replacement)
		load.progress(t)
		r.end()
		eventually(t, "readiness fails", func() bool { return !isReady(r) })
		balancer.remove(r)
		if err := r.stop(); err != nil {
			t.Errorf("a server ended with: %v", err)
		}
		load.progress(t)
	}
	load.stop(t)
}

func waitReady(t *testing.T, r *running) {
	t.Helper()
	eventually(t, "the server is ready", func() bool { return isReady(r) })
}

func isReady(r *running) bool {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	got, err := send(client, "GET", "http://"+r.admin+"/readyz", "")
	return err == nil && got.status == http.StatusOK
}

// A load is eight clients that call without a pause, half of them over each
// protocol.
type load struct {
	end     context.CancelFunc
	clients sync.WaitGroup
	answers [8]atomic.Int64
	failed  atomic.Int64
	first   atomic.Pointer[string]
}

func newLoad(t *testing.T, a *authority, address string, header ...string) *load {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	l := &load{end: end}
	for i := range l.answers {
		protocol, want := "http/1.1", "HTTP/1.1"
		if i%2 == 0 {
			protocol, want = "h2", "HTTP/2.0"
		}
		client := client(t, a, protocol)
		l.clients.Go(func() {
			for ctx.Err() == nil {
				got, err := send(client, "POST", address, headache, as("portal", header...)...)
				switch {
				case err != nil:
					l.fail(protocol + ": " + err.Error())
				case got.status != http.StatusOK || got.protocol != want || !strings.Contains(got.body, "conditions"):
					l.fail(got.protocol + " answered " + got.body)
				default:
					l.answers[i].Add(1)
				}
			}
		})
	}
	return l
}

func (l *load) fail(what string) {
	l.failed.Add(1)
	l.first.CompareAndSwap(nil, &what)
}

// progress waits until every client has had more answers.
func (l *load) progress(t *testing.T) {
	t.Helper()
	for i := range l.answers {
		before := l.answers[i].Load()
		eventually(t, "a client has more answers", func() bool { return l.answers[i].Load() >= before+10 || l.failed.Load() > 0 })
	}
}

// stop ends the load; nothing may have failed.
func (l *load) stop(t *testing.T) {
	t.Helper()
	l.end()
	l.clients.Wait()
	if failed := l.failed.Load(); failed > 0 {
		t.Errorf("%d requests failed, the first with: %s", failed, *l.first.Load())
	}
}

// A held request has sent everything but its body.
type held struct {
	t      *testing.T
	conn   net.Conn
	reader *bufio.Reader
}

// hold begins POST /v3/diagnosis over HTTP/1.1, and returns once the server
// reads the body. With Expect, the server says when it does.
func hold(t *testing.T, conn net.Conn, header ...string) *held {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	head := "POST /v3/diagnosis HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: %d\r\n"
	for i := 0; i < len(header); i += 2 {
		head += header[i] + ": " + header[i+1] + "\r\n"
	}
	if _, err := fmt.Fprintf(conn, head+"\r\n", len(headache)); err != nil {
		t.Fatal(err)
	}
	h := &held{t, conn, bufio.NewReader(conn)}
	h.expect("HTTP/1.1 100 Continue")
	h.expect("\r\n")
	return h
}

func (h *held) expect(want string) {
	h.t.Helper()
	if line, err := h.reader.ReadString('\n'); err != nil || !strings.HasPrefix(line, want) {
		h.t.Fatalf("got %q, %v, expected %s", line, err, want)
	}
}

// finish sends the body, and expects that it was right.
func (h *held) finish() {
	h.t.Helper()
	if _, err := io.WriteString(h.conn, headache); err != nil {
		h.t.Fatal(err)
	}
	h.expect("HTTP/1.1 200 OK")
}

// A request that takes longer than the drain is waited for.
func TestLongRequestIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := serving(t, Command{Dev: true, Models: releases(t, t.TempDir(), november), DataDir: t.TempDir()})
	conn, err := net.Dial("tcp", r.tenant)
	if err != nil {
		t.Fatal(err)
	}
	long := hold(t, conn, as("dev")...)
	r.end()
	eventually(t, "the server takes no more connections", func() bool {
		other, err := net.Dial("tcp", r.tenant)
		if err == nil {
			_ = other.Close()
		}
		return err != nil
	})
	long.finish()
	if err := r.stop(); err != nil {
		t.Errorf("ended with %v", err)
	}
}
