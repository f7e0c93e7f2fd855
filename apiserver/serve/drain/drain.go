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
// Nothing but HTTP/2 connections is dealt with here. Over HTTP/1.1 the header
// Connection: close on an answer is enough.
package drain

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
)

// Connections are the open HTTP/2 connections of a server.
type Connections struct {
	mu      sync.Mutex
	open    map[*connection]bool
	leaving bool
}

// patience is how long a connection that is made while clients leave may lie
// idle. Shutdown knows nothing of one whose handshake it overtakes, and would
// wait for it.
const patience = time.Second

// Serve has a server speak HTTP/2 over TLS on connections that can be drained.
// It is called before the server is used.
func Serve(server *http.Server) (*Connections, error) {
	usual, late := &http2.Server{}, &http2.Server{IdleTimeout: patience}
	if err := http2.ConfigureServer(server, usual); err != nil {
		return nil, fmt.Errorf("setting HTTP/2 up: %w", err)
	}
	c := &Connections{open: map[*connection]bool{}}
	server.TLSNextProto[http2.NextProtoTLS] = func(server *http.Server, conn *tls.Conn, handler http.Handler) {
		drained, protocol := &connection{Conn: conn}, usual
		if c.add(drained) {
			protocol = late
		}
		defer c.remove(drained)
		protocol.ServeConn(drained, &http2.ServeConnOpts{
			Context: baseContext(handler), BaseConfig: server, Handler: handler,
		})
	}
	return c, nil
}

// baseContext is the context that package net/http hands on with the handler,
// as package http2 takes it too.
func baseContext(handler http.Handler) context.Context {
	if h, ok := handler.(interface{ BaseContext() context.Context }); ok {
		return h.BaseContext()
	}
	return context.Background()
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

func (c *Connections) add(conn *connection) (leaving bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn.leaving.Store(c.leaving)
	c.open[conn] = true
	return c.leaving
}

func (c *Connections) remove(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

// The parts of RFC 9113 that are needed here, sections 4.1, 6.2 and 6.8.
const (
	frameHeaderLength = 9
	frameHeaders      = 0x1
)

// goAway is the frame that asks a client to begin no more streams: eight bytes
// of type 7 on stream 0, the highest stream number, no error.
var goAway = []byte{0, 0, 8, 0x7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// connection is a connection that knows where in the stream of frames it is.
type connection struct {
	*tls.Conn

	leaving atomic.Bool

	mu      sync.Mutex
	told    bool // goAway was sent
	header  [frameHeaderLength]byte
	have    int // bytes read so far of the header that is being written
	payload int // bytes still to come of the frame that is being written
}

// Write implements net.Conn.
func (c *connection) Write(frames []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	betweenFrames := c.have == 0 && c.payload == 0
	answers := c.follow(frames)
	// Only an answer may be told with: a client that has not begun a request
	// would take this for a server that refuses it.
	if answers && betweenFrames && c.leaving.Load() && !c.told {
		c.told = true
		if _, err := c.Conn.Write(goAway); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(frames)
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
