// SPDX-License-Identifier: Apache-2.0

// Package drain lets HTTP/2 clients leave a stopping server without losing a request.
//
// A client leaves an HTTP/2 connection when it receives GOAWAY. Go's HTTP/2 server sends
// GOAWAY with the last stream it has seen, and drops requests that the client sends before
// reading the frame: they fail unless the client can retry them. RFC 9113, section 6.8,
// recommends first sending GOAWAY with the highest stream number, which means that the
// server handles all requests in flight, and the last stream's number later. Package
// net/http does the second part on Shutdown, and this package does the first: it inserts
// the frame before the frames of a response, so that a client waiting for its response
// reads the frame before it sends its next request.
//
// To insert frames, the listener terminates TLS, and the server speaks HTTP/2 as over an
// unencrypted connection. This package handles connections only. For HTTP/1.1 the header
// Connection: close on a response is enough.
package drain

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Connections tracks the open HTTP/2 connections of a server.
type Connections struct {
	server *http.Server

	mu       sync.Mutex
	open     map[*trackedConn]bool
	draining bool
	shutDown bool
}

// WrapListener returns a TLS listener on top of a TCP listener, and prepares the server to
// Serve on it. Requests do not have TLS set, although they arrive over TLS.
func WrapListener(server *http.Server, listener net.Listener, config *tls.Config) (net.Listener, *Connections) {
	c := &Connections{server: server, open: map[*trackedConn]bool{}}
	server.Protocols = &http.Protocols{}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	config = config.Clone()
	config.NextProtos = []string{"h2", "http/1.1"}
	return &tlsListener{listener, config, c}, c
}

// Drain makes the next response on each current and future connection tell the client to
// reconnect. Connections stay open until their clients or the server's Shutdown close them.
func (c *Connections) Drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
	for conn := range c.open {
		conn.draining.Store(true)
	}
}

// Shutdown shuts down the server and stops accepting connections. The server does not
// know of connections that have not started HTTP/2 yet, and would otherwise wait for
// them.
func (c *Connections) Shutdown(ctx context.Context) error {
	c.mu.Lock()
	c.shutDown = true
	c.mu.Unlock()
	return c.server.Shutdown(ctx)
}

// add registers a connection. It returns false after Shutdown.
func (c *Connections) add(conn *trackedConn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shutDown {
		return false
	}
	conn.draining.Store(c.draining)
	c.open[conn] = true
	return true
}

func (c *Connections) remove(conn *trackedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

func (c *Connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

type tlsListener struct {
	net.Listener
	config      *tls.Config
	connections *Connections
}

// Accept implements net.Listener. The handshake happens on the first Read.
func (l *tlsListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	encrypted := tls.Server(conn, l.config)
	return &trackedConn{Conn: encrypted, tls: encrypted, connections: l.connections}, nil
}

// Frame layout and types from RFC 9113, sections 4.1, 6.2 and 6.8.
const (
	frameHeaderLen   = 9
	frameTypeHeaders = 0x1
)

// goAwayFrame asks a client to open no more streams: eight bytes of type 7 on stream 0,
// the highest stream number, no error.
var goAwayFrame = []byte{0, 0, 8, 0x7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// trackedConn is a TLS connection that, for HTTP/2, tracks its position in the sequence of
// frames.
type trackedConn struct {
	net.Conn // tls, without the methods by which net/http would detect TLS
	tls      *tls.Conn

	connections   *Connections
	handshakeOnce sync.Once
	handshakeErr  error // from the handshake
	http2         bool
	draining      atomic.Bool

	mu          sync.Mutex
	registered  bool // with connections
	goAwaySent  bool // goAwayFrame was sent
	header      [frameHeaderLen]byte
	headerRead  int // bytes of the current frame header already written
	payloadLeft int // remaining bytes of the current frame's payload
}

// Read implements net.Conn.
func (c *trackedConn) Read(b []byte) (int, error) {
	c.handshakeOnce.Do(func() { c.handshakeErr = c.doHandshake() })
	if c.handshakeErr != nil {
		return 0, c.handshakeErr
	}
	return c.tls.Read(b)
}

func (c *trackedConn) doHandshake() error {
	// The server set a deadline for the first read.
	if err := c.tls.HandshakeContext(context.Background()); err != nil {
		rejectPlainHTTP(err)
		return err
	}
	c.http2 = c.tls.ConnectionState().NegotiatedProtocol == "h2"
	return nil
}

// rejectPlainHTTP responds to a plain HTTP request with a hint to use TLS.
func rejectPlainHTTP(err error) {
	var record tls.RecordHeaderError
	if !errors.As(err, &record) || record.Conn == nil {
		return
	}
	switch string(record.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO":
		_, _ = io.WriteString(record.Conn, "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n"+
			"This address serves HTTPS, but the request was plain HTTP.\n")
	}
}

// Write implements net.Conn.
func (c *trackedConn) Write(b []byte) (int, error) {
	if !c.http2 {
		return c.tls.Write(b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// The server writes as soon as it tracks the connection.
	if !c.registered {
		c.registered = true
		if !c.connections.add(c) {
			return 0, net.ErrClosed
		}
	}
	betweenFrames := c.headerRead == 0 && c.payloadLeft == 0
	responseStarts := c.trackFrames(b)
	// Insert the frame only before a response: a client that has not started a request would
	// treat it as a rejection.
	if responseStarts && betweenFrames && c.draining.Load() && !c.goAwaySent {
		c.goAwaySent = true
		if _, err := c.tls.Write(goAwayFrame); err != nil {
			return 0, err
		}
	}
	return c.tls.Write(b)
}

// NetConn returns the connection under TLS.
func (c *trackedConn) NetConn() net.Conn { return c.tls.NetConn() }

// CloseWrite closes the sending side, so that an HTTP/1.1 client can read the last
// response while it is still sending.
func (c *trackedConn) CloseWrite() error { return c.tls.CloseWrite() }

// Close implements net.Conn.
func (c *trackedConn) Close() error {
	c.connections.remove(c)
	return c.tls.Close()
}

// trackFrames advances the frame position by the written bytes, and reports whether they
// include the header of a HEADERS frame, which starts a response.
func (c *trackedConn) trackFrames(written []byte) (responseStarts bool) {
	for len(written) > 0 {
		if c.payloadLeft > 0 {
			n := min(c.payloadLeft, len(written))
			c.payloadLeft -= n
			written = written[n:]
			continue
		}
		n := copy(c.header[c.headerRead:], written)
		c.headerRead += n
		written = written[n:]
		if c.headerRead == frameHeaderLen {
			c.headerRead = 0
			c.payloadLeft = int(c.header[0])<<16 | int(c.header[1])<<8 | int(c.header[2])
			responseStarts = responseStarts || c.header[3] == frameTypeHeaders
		}
	}
	return responseStarts
}
