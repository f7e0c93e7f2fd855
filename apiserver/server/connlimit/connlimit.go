// SPDX-License-Identifier: Apache-2.0

// Package connlimit limits the open connections of a server without letting idle
// connections lock out active clients.
//
// A listener that stops accepting at its limit blocks every client once one client has
// opened that many connections and stays silent. This package instead accepts a
// connection over the limit and closes another one: the oldest connection without an
// authenticated caller, or, if all are authenticated, the one idle longest, since clients
// expect idle connections to close and reconnect. If every connection is serving an
// authenticated caller, the new connection is closed.
//
// A closed connection uses memory until the server notices. Once the total exceeds the
// limit by a quarter, new connections wait in the kernel's accept queue.
package connlimit

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// A limiter tracks the open connections of a server.
type limiter struct {
	max      int
	onReject func()

	mu         sync.Mutex
	connClosed sync.Cond // signaled when the server closes a connection or the listener
	open       map[*limitedConn]connInfo
	total      int    // connections that the server has not closed, including evicted ones
	closed     bool   // the listener is closed
	clock      uint64 // logical clock that counts connection events
}

// connInfo is the state of a connection.
type connInfo struct {
	authenticated, idle bool
	lastEvent           uint64 // clock value when the connection was accepted or, if authenticated, last active
}

// WrapListener returns a listener that keeps at most maxConns connections open, and
// prepares the server to Serve on it. It calls onReject for each connection that it evicts.
func WrapListener(server *http.Server, listener net.Listener, maxConns int, onReject func()) net.Listener {
	l := newLimiter(maxConns, onReject)
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, unwrapConn(conn))
	}
	server.ConnState = l.onStateChange
	return &limitedListener{listener, l}
}

func newLimiter(maxConns int, onReject func()) *limiter {
	l := &limiter{max: maxConns, onReject: onReject, open: map[*limitedConn]connInfo{}}
	l.connClosed.L = &l.mu
	return l
}

type connKey struct{}

// MarkAuthenticated marks the connection of a request context as authenticated. It does
// nothing if connections are not limited.
func MarkAuthenticated(ctx context.Context) {
	if conn, _ := ctx.Value(connKey{}).(*limitedConn); conn != nil {
		conn.limiter.update(conn, func(s *connInfo) { s.authenticated = true })
	}
}

// unwrapConn returns the limited connection inside wrapping connections, or nil.
func unwrapConn(conn net.Conn) *limitedConn {
	for {
		switch outer := conn.(type) {
		case *limitedConn:
			return outer
		case interface{ NetConn() net.Conn }:
			conn = outer.NetConn()
		default:
			return nil
		}
	}
}

// onStateChange tracks the state of a connection.
func (l *limiter) onStateChange(conn net.Conn, state http.ConnState) {
	if conn := unwrapConn(conn); conn != nil && (state == http.StateActive || state == http.StateIdle) {
		l.update(conn, func(s *connInfo) {
			s.idle = state == http.StateIdle
			if s.idle && s.authenticated {
				s.lastEvent = l.clock
			}
		})
	}
}

// update changes the state of a connection if it is still open.
func (l *limiter) update(conn *limitedConn, update func(*connInfo)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, open := l.open[conn]; open {
		l.clock++
		update(&s)
		l.open[conn] = s
	}
}

// admit adds a connection. If that exceeds the limit, admit evicts a connection, possibly conn.
func (l *limiter) admit(conn *limitedConn) {
	l.mu.Lock()
	l.total++
	var evicted *limitedConn
	if len(l.open) >= l.max {
		if evicted = l.evictionCandidate(); evicted == nil {
			evicted = conn
		}
		delete(l.open, evicted)
	}
	if evicted != conn {
		l.clock++
		l.open[conn] = connInfo{lastEvent: l.clock}
	}
	l.mu.Unlock()
	if evicted != nil {
		l.onReject()
		_ = evicted.Conn.Close() // the client sees a closed connection
	}
}

// evictionCandidate returns the connection to evict first, or nil if every connection is
// serving an authenticated caller.
func (l *limiter) evictionCandidate() (evicted *limitedConn) {
	var last connInfo
	for conn, s := range l.open {
		if s.authenticated && !s.idle {
			continue
		}
		if evicted == nil || evictsBefore(s, last) {
			evicted, last = conn, s
		}
	}
	return evicted
}

// evictsBefore reports whether a is evicted before b: unauthenticated connections first,
// then the one that arrived or became idle first.
func evictsBefore(a, b connInfo) bool {
	if a.authenticated != b.authenticated {
		return b.authenticated
	}
	return a.lastEvent < b.lastEvent
}

// waitForCapacity waits until the server has closed most evicted connections.
func (l *limiter) waitForCapacity() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.total > l.max+l.max/4 && !l.closed {
		l.connClosed.Wait()
	}
}

// remove removes a connection that the server has closed.
func (l *limiter) remove(conn *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, conn)
	l.total--
	l.connClosed.Signal()
}

// close releases all waiting callers.
func (l *limiter) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.connClosed.Broadcast()
}

type limitedListener struct {
	net.Listener
	limiter *limiter
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	l.limiter.waitForCapacity()
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn := &limitedConn{Conn: accepted, limiter: l.limiter}
	l.limiter.admit(conn)
	return conn, nil
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.limiter.close()
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	limiter   *limiter
	closeOnce sync.Once
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.closeOnce.Do(func() { c.limiter.remove(c) })
	return c.Conn.Close()
}

// CloseWrite closes the sending side, so that an HTTP/1.1 client can read the last
// response while it is still sending.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
