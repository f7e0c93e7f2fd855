// SPDX-License-Identifier: Apache-2.0

// Package drain lets the clients of a server that is about to stop go without
// losing a request over HTTP/2.
//
// A client leaves an HTTP/2 connection when it is told GOAWAY. The HTTP/2
// server of Go names in it the last stream that it has seen, and drops what the
// client began before it read that: those requests fail, unless the client can
// send them again. RFC 9113, section 6.8, has a server say GOAWAY with the
// highest stream number first, which means "begin nothing new here, all that is
// on its way is served", and the true number only later. Package net/http does
// the latter at Shutdown. The former is done here: the frame is put before the
// frames of an answer, so that a client which waits for its answers has read it
// before it can think of its next request.
//
// To get in between, the listener does TLS by itself, and the server speaks
// HTTP/2 as over a connection that is not encrypted. Nothing but connections is
// dealt with here. Over HTTP/1.1 the header Connection: close on an answer is
// enough.
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

// Connections are the open HTTP/2 connections of a server.
type Connections struct {
	server *http.Server

	mu      sync.Mutex
	open    map[*connection]bool
	leaving bool
	stopped bool
}

// Serve readies a server to Serve on the listener that it returns, which wraps
// one of TCP with TLS by the configuration. Requests do not know that they came
// over TLS.
func Serve(server *http.Server, listener net.Listener, config *tls.Config) (net.Listener, *Connections) {
	c := &Connections{server: server, open: map[*connection]bool{}}
	server.Protocols = &http.Protocols{}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	config = config.Clone()
	config.NextProtos = []string{"h2", "http/1.1"}
	return &tlsListener{listener, config, c}, c
}

// Leave has the next answer on each connection, of those open now and those to
// come, ask the client to go elsewhere. The connections stay open until their
// clients or the server's Shutdown close them.
func (c *Connections) Leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = true
	for conn := range c.open {
		conn.leaving.Store(true)
	}
}

// Shutdown is that of the server. It takes no more connections: the server does
// not know of those that have not begun to speak HTTP/2 yet, and would wait for
// them.
func (c *Connections) Shutdown(ctx context.Context) error {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	return c.server.Shutdown(ctx)
}

// add is false for a connection that comes too late.
func (c *Connections) add(conn *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return false
	}
	conn.leaving.Store(c.leaving)
	c.open[conn] = true
	return true
}

func (c *Connections) remove(conn *connection) {
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

// Accept implements net.Listener. The handshake waits for the first Read.
func (l *tlsListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	encrypted := tls.Server(conn, l.config)
	return &connection{Conn: encrypted, tls: encrypted, connections: l.connections}, nil
}

// The parts of RFC 9113 that are needed here, sections 4.1, 6.2 and 6.8.
const (
	frameHeaderLength = 9
	frameHeaders      = 0x1
)

// goAway is the frame that asks a client to begin no more streams: eight bytes
// of type 7 on stream 0, the highest stream number, no error.
var goAway = []byte{0, 0, 8, 0x7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// connection is a connection over TLS that knows, when it is one of HTTP/2,
// where in the stream of frames it is.
type connection struct {
	net.Conn // tls, without the methods by which net/http would take it for that
	tls      *tls.Conn

	connections *Connections
	handshake   sync.Once
	failed      error // of the handshake
	http2       bool
	leaving     atomic.Bool

	mu      sync.Mutex
	known   bool // to connections
	told    bool // goAway was sent
	header  [frameHeaderLength]byte
	have    int // bytes read so far of the header that is being written
	payload int // bytes still to come of the frame that is being written
}

// Read implements net.Conn.
func (c *connection) Read(b []byte) (int, error) {
	c.handshake.Do(func() { c.failed = c.begin() })
	if c.failed != nil {
		return 0, c.failed
	}
	return c.tls.Read(b)
}

func (c *connection) begin() error {
	// The server has set a deadline for the first read.
	if err := c.tls.HandshakeContext(context.Background()); err != nil {
		answerPlainHTTP(err)
		return err
	}
	c.http2 = c.tls.ConnectionState().NegotiatedProtocol == "h2"
	return nil
}

// answerPlainHTTP tells a client that did not speak TLS what is wrong.
func answerPlainHTTP(err error) {
	var record tls.RecordHeaderError
	if !errors.As(err, &record) || record.Conn == nil {
		return
	}
	switch string(record.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO":
		_, _ = io.WriteString(record.Conn, "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n"+
			"This address speaks HTTPS; the request came as plain HTTP.\n")
	}
}

// Write implements net.Conn.
func (c *connection) Write(b []byte) (int, error) {
	if !c.http2 {
		return c.tls.Write(b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// The server writes first when it knows of the connection.
	if !c.known {
		c.known = true
		if !c.connections.add(c) {
			return 0, net.ErrClosed
		}
	}
	betweenFrames := c.have == 0 && c.payload == 0
	answers := c.follow(b)
	// Only an answer may be told with: a client that has not begun a request
	// would take this for a server that refuses it.
	if answers && betweenFrames && c.leaving.Load() && !c.told {
		c.told = true
		if _, err := c.tls.Write(goAway); err != nil {
			return 0, err
		}
	}
	return c.tls.Write(b)
}

// NetConn is the connection that TLS is spoken over.
func (c *connection) NetConn() net.Conn { return c.tls.NetConn() }

// CloseWrite ends what is sent, so that a client can read the last answer of
// HTTP/1.1 while it is still sending.
func (c *connection) CloseWrite() error { return c.tls.CloseWrite() }

// Close implements net.Conn.
func (c *connection) Close() error {
	c.connections.remove(c)
	return c.tls.Close()
}

// follow keeps count of the frames in what is written, and reports whether the
// headers of an answer begin there.
func (c *connection) follow(written []byte) (answers bool) {
	for len(written) > 0 {
		if c.payload > 0 {
			n := min(c.payload, len(written))
			c.payload -= n
			written = written[n:]
			continue
		}
		n := copy(c.header[c.have:], written)
		c.have += n
		written = written[n:]
		if c.have == frameHeaderLength {
			c.have = 0
			c.payload = int(c.header[0])<<16 | int(c.header[1])<<8 | int(c.header[2])
			answers = answers || c.header[3] == frameHeaders
		}
	}
	return answers
}
