// SPDX-License-Identifier: Apache-2.0

// Package connlimit bounds how many connections a server has open, without letting
// those who only hold connections keep out those who have something to say.
//
// A listener that stops accepting at its limit is closed to everybody once
// somebody has opened so many connections and says nothing. Here a connection
// over the limit is let in, and another one has to go: the one that has been
// open longest of those on which nobody has proved to be an application. Only
// when there is none, the one that has been idle longest; a client expects that
// of idle connections and opens another one. Where every connection is at work
// for somebody known, the new one has to go.
//
// What had to go takes memory until the server has noticed. Newcomers wait for
// that outside, in the kernel's queue, once a quarter more than the limit is
// there.
package connlimit

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// A limiter knows the open connections of a server.
type limiter struct {
	most       int
	turnedAway func()

	mu     sync.Mutex
	left   sync.Cond // that the server has closed a connection, or the listener
	open   map[*connection]standing
	served int    // connections that the server has not closed, open or not
	closed bool   // the listener
	turn   uint64 // counts what happens to connections
}

// standing is what is known of a connection.
type standing struct {
	known, idle bool
	since       uint64 // the turn at which it came or, of somebody known, was last at work
}

// Serve readies a server to Serve on the listener that it returns, which wraps
// one so that at most so many connections are open. The server tells of those
// that have to go.
func Serve(server *http.Server, listener net.Listener, most int, turnedAway func()) net.Listener {
	c := newLimiter(most, turnedAway)
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, under(conn))
	}
	server.ConnState = c.follow
	return &limitedListener{listener, c}
}

func newLimiter(most int, turnedAway func()) *limiter {
	c := &limiter{most: most, turnedAway: turnedAway, open: map[*connection]standing{}}
	c.left.L = &c.mu
	return c
}

type connectionKey struct{}

// Know notes that somebody known speaks on the connection of a request's
// context. Where connections are not bounded it does nothing.
func Know(ctx context.Context) {
	if conn, _ := ctx.Value(connectionKey{}).(*connection); conn != nil {
		conn.of.change(conn, func(s *standing) { s.known = true })
	}
}

// under is the bounded connection that others were put around, nil when there
// is none.
func under(conn net.Conn) *connection {
	for {
		switch outer := conn.(type) {
		case *connection:
			return outer
		case interface{ NetConn() net.Conn }:
			conn = outer.NetConn()
		default:
			return nil
		}
	}
}

// follow keeps up with what the server does on a connection.
func (c *limiter) follow(conn net.Conn, state http.ConnState) {
	if conn := under(conn); conn != nil && (state == http.StateActive || state == http.StateIdle) {
		c.change(conn, func(s *standing) {
			s.idle = state == http.StateIdle
			if s.idle && s.known {
				s.since = c.turn
			}
		})
	}
}

// change changes what is known of a connection, if it is still open.
func (c *limiter) change(conn *connection, change func(*standing)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, open := c.open[conn]; open {
		c.turn++
		change(&s)
		c.open[conn] = s
	}
}

// admit lets a connection in and closes the one that has to go for it, if any,
// which may be the same.
func (c *limiter) admit(conn *connection) {
	c.mu.Lock()
	c.served++
	var leaves *connection
	if len(c.open) >= c.most {
		if leaves = c.leaver(); leaves == nil {
			leaves = conn
		}
		delete(c.open, leaves)
	}
	if leaves != conn {
		c.turn++
		c.open[conn] = standing{since: c.turn}
	}
	c.mu.Unlock()
	if leaves != nil {
		c.turnedAway()
		_ = leaves.Conn.Close() // its client finds out by itself
	}
}

// leaver is the connection that goes first, nil when every one is at work for
// somebody known.
func (c *limiter) leaver() (leaves *connection) {
	var last standing
	for conn, s := range c.open {
		if s.known && !s.idle {
			continue
		}
		if leaves == nil || goesBefore(s, last) {
			leaves, last = conn, s
		}
	}
	return leaves
}

// goesBefore reports whether a goes before b: strangers first, then who came or
// fell idle first.
func goesBefore(a, b standing) bool {
	if a.known != b.known {
		return b.known
	}
	return a.since < b.since
}

// wait waits until the server has noticed most of those that had to go.
func (c *limiter) wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.served > c.most+c.most/4 && !c.closed {
		c.left.Wait()
	}
}

// remove notes that the server has closed a connection.
func (c *limiter) remove(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
	c.served--
	c.left.Signal()
}

// close lets nobody wait any longer.
func (c *limiter) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.left.Broadcast()
}

type limitedListener struct {
	net.Listener
	of *limiter
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	l.of.wait()
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: accepted, of: l.of}
	l.of.admit(conn)
	return conn, nil
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.of.close()
	return l.Listener.Close()
}

type connection struct {
	net.Conn
	of    *limiter
	close sync.Once
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.close.Do(func() { c.of.remove(c) })
	return c.Conn.Close()
}

// CloseWrite ends what is sent, so that a client can read the last answer of
// HTTP/1.1 while it is still sending.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
