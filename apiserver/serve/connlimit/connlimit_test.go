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

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// A testServer answers whoever asks, and knows those who ask for /known. It
// holds the answer to /slow until it is told to go on.
type testServer struct {
	t       *testing.T
	address string
	reached chan struct{} // by a call to /slow
	goOn    chan struct{}
	turned  atomic.Int64
}

func start(t *testing.T, most int) *testServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, address: listener.Addr().String(), reached: make(chan struct{}), goOn: make(chan struct{})}
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/known":
			Know(r.Context())
		case "/slow":
			Know(r.Context())
			s.reached <- struct{}{}
			<-s.goOn
		}
		_, _ = io.WriteString(w, "answer")
	})}
	limited := Serve(server, listener, most, func() { s.turned.Add(1) })
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

// A client is one connection.
type client struct {
	net.Conn
	answers *bufio.Reader
}

func (s *testServer) dial() *client {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	return &client{conn, bufio.NewReader(conn)}
}

// ask sends a request and reads the answer.
func (c *client) ask(path string) error {
	if err := c.send(path); err != nil {
		return err
	}
	return c.receive()
}

func (c *client) send(path string) error {
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: test\r\n\r\n", path)
	return err
}

func (c *client) receive() error {
	response, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}

// gone reports whether the server has closed the connection.
func (c *client) gone() bool {
	_, err := c.answers.Peek(1)
	var late net.Error
	return err != nil && (!errors.As(err, &late) || !late.Timeout())
}

// Whoever holds all connections and says nothing keeps nobody out, and does not
// disturb those who are known.
func TestHoldersGo(t *testing.T) {
	t.Parallel()
	s := start(t, 4)
	known := s.dial()
	if err := known.ask("/known"); err != nil {
		t.Fatal(err)
	}
	var held []*client
	for range 40 {
		held = append(held, s.dial())
		newcomer := s.dial()
		if err := newcomer.ask("/"); err != nil {
			t.Fatalf("somebody who comes behind %d that say nothing gets no answer: %v", len(held), err)
		}
		held = append(held, newcomer)
	}
	for i, c := range held[:len(held)-3] {
		if !c.gone() {
			t.Errorf("connection %d is open", i)
		}
	}
	for range 3 {
		if err := known.ask("/known"); err != nil {
			t.Errorf("the known one is gone: %v", err)
		}
	}
	if got := s.turned.Load(); got != 77 {
		t.Errorf("%d were turned away, want 77", got)
	}
}

// Among the known, the one that has been idle longest goes; and the newcomer,
// when all are at work.
func TestKnownGo(t *testing.T) {
	t.Parallel()
	s := start(t, 2)
	first, second := s.dial(), s.dial()
	for _, c := range []*client{first, second, first} {
		if err := c.ask("/known"); err != nil {
			t.Fatal(err)
		}
	}
	third := s.dial()
	if err := third.ask("/known"); err != nil || !second.gone() {
		t.Fatalf("the one that was idle longest is open; %v", err)
	}
	for _, c := range []*client{first, third} {
		if err := c.send("/slow"); err != nil {
			t.Fatal(err)
		}
		<-s.reached
	}
	if fourth := s.dial(); !fourth.gone() {
		t.Error("a newcomer was let in while everybody was at work")
	}
	for _, c := range []*client{first, third} {
		s.goOn <- struct{}{}
		if err := c.receive(); err != nil {
			t.Errorf("a call under way was lost: %v", err)
		}
	}
}

// Whatever happens to connections, no more than so many are known to be open,
// and those who know somebody at work stay.
func TestLimiter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 5).Draw(t, "most")
		turned := 0
		l := newLimiter(most, func() { turned++ })
		var all []*connection
		working := map[*connection]bool{}
		any := func(t *rapid.T) *connection {
			if len(all) == 0 {
				t.Skip("nobody is there")
			}
			return rapid.SampledFrom(all).Draw(t, "connection")
		}
		t.Repeat(map[string]func(*rapid.T){
			"come": func(t *rapid.T) {
				conn := &connection{Conn: nothing{}, of: l}
				all = append(all, conn)
				l.admit(conn)
			},
			"go":   func(t *rapid.T) { c := any(t); _ = c.Close(); delete(working, c) },
			"idle": func(t *rapid.T) { c := any(t); l.follow(c, http.StateIdle); delete(working, c) },
			"work": func(t *rapid.T) {
				c := any(t)
				l.follow(c, http.StateActive)
				Know(context.WithValue(context.Background(), connectionKey{}, c))
				if _, open := l.open[c]; open {
					working[c] = true
				}
			},
			"": func(t *rapid.T) {
				if len(l.open) > most || l.served < len(l.open) || l.served > len(all) {
					t.Fatalf("%d are open, %d are served", len(l.open), l.served)
				}
				for c := range working {
					if _, open := l.open[c]; !open {
						t.Fatal("one had to go that was at work for somebody known")
					}
				}
			},
		})
	})
}

// nothing is a connection to nowhere.
type nothing struct{ net.Conn }

func (nothing) Close() error { return nil }
