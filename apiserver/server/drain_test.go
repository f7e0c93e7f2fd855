// SPDX-License-Identifier: Apache-2.0

package server

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

// A loadBalancer does for servers what Kubernetes does for pods: it sends new connections to
// ready servers, and learns of readiness with a delay. It does not look inside connections.
type loadBalancer struct {
	listener net.Listener
	mu       sync.Mutex
	backends []*runningServer
	next     int
	conns    sync.WaitGroup
}

func newLoadBalancer(t *testing.T) *loadBalancer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &loadBalancer{listener: listener}
	go b.accept()
	t.Cleanup(func() {
		_ = listener.Close()
		b.conns.Wait()
	})
	return b
}

func (b *loadBalancer) accept() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.conns.Go(func() { pipe(conn, b.pick()) })
	}
}

func (b *loadBalancer) pick() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	return b.backends[b.next%len(b.backends)].tenant
}

// add starts sending connections to a server.
func (b *loadBalancer) add(r *runningServer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = append(b.backends, r)
}

// remove stops sending connections to a server.
func (b *loadBalancer) remove(r *runningServer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = slices.DeleteFunc(b.backends, func(other *runningServer) bool { return other == r })
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

// TestRollingReplacementUnderLoad checks that a rolling replacement of servers under the
// load of clients with keep-alive and no retries does not fail a single request.
func TestRollingReplacementUnderLoad(t *testing.T) {
	t.Parallel()
	a, balancer := newTestCA(t), newLoadBalancer(t)
	command := writeTenantFiles(t, a, t.TempDir())
	command.Drain = new(1500 * time.Millisecond)
	start := func() *runningServer {
		c := command
		c.DataDir = t.TempDir() // each has its own embedded database
		r := startServer(t, c)
		waitReady(t, r)
		return r
	}
	old := []*runningServer{start(), start()}
	for _, r := range old {
		balancer.add(r)
	}
	load := newLoadGenerator(t, a, "https://"+balancer.listener.Addr().String()+"/v3/diagnosis")
	load.waitForProgress(t)
	for _, r := range old {
		replacement := start()
		balancer.add(replacement)
		load.waitForProgress(t)
		r.cancel()
		eventually(t, "readiness fails", func() bool { return !isReady(r) })
		balancer.remove(r)
		if err := r.stop(); err != nil {
			t.Errorf("server exited with error: %v", err)
		}
		load.waitForProgress(t)
	}
	load.stop(t)
}

func waitReady(t *testing.T, r *runningServer) {
	t.Helper()
	eventually(t, "the server is ready", func() bool { return isReady(r) })
}

func isReady(r *runningServer) bool {
	client := &http.Client{Timeout: testTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	got, err := send(client, "GET", "http://"+r.admin+"/readyz", "")
	return err == nil && got.status == http.StatusOK
}

// A loadGenerator is eight clients that call continuously, half of them over each protocol.
type loadGenerator struct {
	cancel       context.CancelFunc
	clients      sync.WaitGroup
	responses    [8]atomic.Int64
	failed       atomic.Int64
	firstFailure atomic.Pointer[string]
}

func newLoadGenerator(t *testing.T, a *testCA, address string, header ...string) *loadGenerator {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	l := &loadGenerator{cancel: end}
	for i := range l.responses {
		protocol, want := "http/1.1", "HTTP/1.1"
		if i%2 == 0 {
			protocol, want = "h2", "HTTP/2.0"
		}
		client := newClient(t, a, protocol)
		l.clients.Go(func() {
			for ctx.Err() == nil {
				got, err := send(client, "POST", address, headacheBody, appHeaders("portal", header...)...)
				switch {
				case err != nil:
					l.fail(protocol + ": " + err.Error())
				case got.status != http.StatusOK || got.protocol != want || !strings.Contains(got.body, "conditions"):
					l.fail(got.protocol + " response: " + got.body)
				default:
					l.responses[i].Add(1)
				}
			}
		})
	}
	return l
}

func (l *loadGenerator) fail(message string) {
	l.failed.Add(1)
	l.firstFailure.CompareAndSwap(nil, &message)
}

// waitForProgress waits until every client has received more responses.
func (l *loadGenerator) waitForProgress(t *testing.T) {
	t.Helper()
	for i := range l.responses {
		before := l.responses[i].Load()
		eventually(t, "every client has more responses", func() bool { return l.responses[i].Load() >= before+10 || l.failed.Load() > 0 })
	}
}

// stop ends the load and checks that no request failed.
func (l *loadGenerator) stop(t *testing.T) {
	t.Helper()
	l.cancel()
	l.clients.Wait()
	if failed := l.failed.Load(); failed > 0 {
		t.Errorf("%d requests failed, the first with: %s", failed, *l.firstFailure.Load())
	}
}

// A heldRequest has sent everything but its body.
type heldRequest struct {
	t      *testing.T
	conn   net.Conn
	reader *bufio.Reader
}

// startHeldRequest starts POST /v3/diagnosis over HTTP/1.1, and returns once the server reads
// the body, which the server signals because of Expect.
func startHeldRequest(t *testing.T, conn net.Conn, header ...string) *heldRequest {
	t.Helper()
	t.Cleanup(func() { _ = conn.Close() })
	head := "POST /v3/diagnosis HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: %d\r\n"
	for i := 0; i < len(header); i += 2 {
		head += header[i] + ": " + header[i+1] + "\r\n"
	}
	if _, err := fmt.Fprintf(conn, head+"\r\n", len(headacheBody)); err != nil {
		t.Fatal(err)
	}
	h := &heldRequest{t, conn, bufio.NewReader(conn)}
	h.expect("HTTP/1.1 100 Continue")
	h.expect("\r\n")
	return h
}

func (h *heldRequest) expect(want string) {
	h.t.Helper()
	if line, err := h.reader.ReadString('\n'); err != nil || !strings.HasPrefix(line, want) {
		h.t.Fatalf("got line %q, error %v, want %s", line, err, want)
	}
}

// finish sends the body and checks the response.
func (h *heldRequest) finish() {
	h.t.Helper()
	if _, err := io.WriteString(h.conn, headacheBody); err != nil {
		h.t.Fatal(err)
	}
	h.expect("HTTP/1.1 200 OK")
}

// TestShutdownWaitsForLongRequest checks that shutdown waits for a request that outlasts
// the drain period.
func TestShutdownWaitsForLongRequest(t *testing.T) {
	t.Parallel()
	r := startServer(t, Command{Dev: true, Models: writeReleases(t, t.TempDir(), versionNovember), DataDir: t.TempDir()})
	conn, err := net.Dial("tcp", r.tenant)
	if err != nil {
		t.Fatal(err)
	}
	long := startHeldRequest(t, conn, appHeaders("dev")...)
	r.cancel()
	eventually(t, "the server accepts no more connections", func() bool {
		other, err := net.Dial("tcp", r.tenant)
		if err == nil {
			_ = other.Close()
		}
		return err != nil
	})
	long.finish()
	if err := r.stop(); err != nil {
		t.Errorf("server exited with error: %v", err)
	}
}
