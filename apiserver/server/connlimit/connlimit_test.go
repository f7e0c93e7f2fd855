// SPDX-License-Identifier: Apache-2.0

package connlimit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testTimeout limits how long a test waits for an expected event.
const testTimeout = 30 * time.Second

// A testServer responds to every request, and authenticates requests for /known. It holds the
// response to /slow until released.
type testServer struct {
	t           *testing.T
	address     string
	slowReached chan struct{} // signaled by a call to /slow
	resume      chan struct{}
	rejected    atomic.Int64
}

func startServer(t *testing.T, maxConns int) *testServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, address: listener.Addr().String(), slowReached: make(chan struct{}), resume: make(chan struct{})}
	server := &http.Server{ReadHeaderTimeout: testTimeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/known":
			MarkAuthenticated(r.Context())
		case "/slow":
			MarkAuthenticated(r.Context())
			s.slowReached <- struct{}{}
			<-s.resume
		}
		_, _ = io.WriteString(w, "response")
	})}
	limited := WrapListener(server, listener, maxConns, func() { s.rejected.Add(1) })
	served := make(chan error, 1)
	go func() { served <- server.Serve(limited) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return s
}

// A testConn is one client connection.
type testConn struct {
	net.Conn
	reader *bufio.Reader
}

func (s *testServer) dial() *testConn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		s.t.Fatal(err)
	}
	return &testConn{conn, bufio.NewReader(conn)}
}

// roundTrip sends a request and reads the response.
func (c *testConn) roundTrip(path string) error {
	if err := c.send(path); err != nil {
		return err
	}
	return c.receive()
}

func (c *testConn) send(path string) error {
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: test\r\n\r\n", path)
	return err
}

func (c *testConn) receive() error {
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}

// isClosed reports whether the server has closed the connection.
func (c *testConn) isClosed() bool {
	_, err := c.reader.Peek(1)
	var netErr net.Error
	return err != nil && (!errors.As(err, &netErr) || !netErr.Timeout())
}

// TestUnauthenticatedConnectionsAreEvictedFirst checks that a client that opens all
// connections and stays silent neither locks out nor disturbs authenticated clients.
func TestUnauthenticatedConnectionsAreEvictedFirst(t *testing.T) {
	t.Parallel()
	s := startServer(t, 4)
	known := s.dial()
	if err := known.roundTrip("/known"); err != nil {
		t.Fatal(err)
	}
	var held []*testConn
	for range 40 {
		held = append(held, s.dial())
		newcomer := s.dial()
		if err := newcomer.roundTrip("/"); err != nil {
			t.Fatalf("client got no response with %d silent connections open: %v", len(held), err)
		}
		held = append(held, newcomer)
	}
	for i, c := range held[:len(held)-3] {
		if !c.isClosed() {
			t.Errorf("connection %d is open, want it evicted", i)
		}
	}
	for range 3 {
		if err := known.roundTrip("/known"); err != nil {
			t.Errorf("authenticated connection was closed: %v", err)
		}
	}
	if got := s.rejected.Load(); got != 77 {
		t.Errorf("%d connections were rejected, want 77", got)
	}
}

// TestIdleAuthenticatedConnectionIsEvicted checks that among authenticated connections,
// the one idle longest is evicted; if all are active, the new one is.
func TestIdleAuthenticatedConnectionIsEvicted(t *testing.T) {
	t.Parallel()
	s := startServer(t, 2)
	first, second := s.dial(), s.dial()
	for _, c := range []*testConn{first, second, first} {
		if err := c.roundTrip("/known"); err != nil {
			t.Fatal(err)
		}
	}
	third := s.dial()
	if err := third.roundTrip("/known"); err != nil || !second.isClosed() {
		t.Fatalf("connection idle longest was not evicted; request error: %v", err)
	}
	for _, c := range []*testConn{first, third} {
		if err := c.send("/slow"); err != nil {
			t.Fatal(err)
		}
		<-s.slowReached
	}
	if fourth := s.dial(); !fourth.isClosed() {
		t.Error("connection was admitted while all others were active")
	}
	for _, c := range []*testConn{first, third} {
		s.resume <- struct{}{}
		if err := c.receive(); err != nil {
			t.Errorf("request in flight failed: %v", err)
		}
	}
}

// TestLimiterInvariants checks that the number of tracked connections never exceeds the
// limit, and active authenticated connections stay open.
func TestLimiterInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		maxConns := rapid.IntRange(1, 5).Draw(t, "max connections")
		rejected := 0
		l := newLimiter(maxConns, func() { rejected++ })
		var all []*limitedConn
		active := map[*limitedConn]bool{}
		connect := func(*rapid.T) {
			conn := &limitedConn{Conn: nopConn{}, limiter: l}
			all = append(all, conn)
			l.admit(conn)
		}
		draw := func(t *rapid.T) *limitedConn { return rapid.SampledFrom(all).Draw(t, "connection") }
		connect(t) // so that every action finds a connection
		t.Repeat(map[string]func(*rapid.T){
			"connect": connect,
			"close":   func(t *rapid.T) { c := draw(t); _ = c.Close(); delete(active, c) },
			"idle":    func(t *rapid.T) { c := draw(t); l.onStateChange(c, http.StateIdle); delete(active, c) },
			"request": func(t *rapid.T) {
				c := draw(t)
				l.onStateChange(c, http.StateActive)
				MarkAuthenticated(context.WithValue(context.Background(), connKey{}, c))
				if _, open := l.open[c]; open {
					active[c] = true
				}
			},
			"": func(t *rapid.T) {
				if len(l.open) > maxConns || l.total < len(l.open) || l.total > len(all) {
					t.Fatalf("%d connections are open and %d tracked, with a limit of %d", len(l.open), l.total, maxConns)
				}
				for c := range active {
					if _, open := l.open[c]; !open {
						t.Fatal("an active authenticated connection was evicted")
					}
				}
			},
		})
	})
}

// nopConn is a connection that does nothing.
type nopConn struct{ net.Conn }

func (nopConn) Close() error { return nil }
