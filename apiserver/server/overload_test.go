// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// An attacker does as much harm as it can until the context ends, whatever the server's
// responses.
type attacker func(ctx context.Context, s *overload)

// An overload is a server under attack.
type overload struct {
	address   string // host and port
	ca        *testCA
	attackers sync.WaitGroup
}

// start starts this many attackers.
func (o *overload) start(ctx context.Context, count int, attack attacker) {
	for range count {
		o.attackers.Go(func() {
			for ctx.Err() == nil {
				attack(ctx, o)
				time.Sleep(10 * time.Millisecond) // leave CPU time to the server and the clients in this process
			}
		})
	}
}

// dial opens a connection that ends with the context and uses one protocol over TLS.
func (o *overload) dial(ctx context.Context, protocol string) (net.Conn, error) {
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: o.ca.pool, NextProtos: []string{protocol}, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", o.address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn, nil
}

// floodBodies sends large token requests without credentials over the streams of one HTTP/2
// connection.
func floodBodies(streams, size int) attacker {
	body := bytes.Repeat([]byte("x"), size)
	return func(ctx context.Context, s *overload) {
		transport := &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: s.ca.pool, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: true, MaxConnsPerHost: 1,
		}
		defer transport.CloseIdleConnections()
		var all sync.WaitGroup
		for range streams {
			all.Go(func() {
				for range 20 {
					post(ctx, transport, "https://"+s.address+"/api/auth/token", bytes.NewReader(body))
				}
			})
		}
		all.Wait()
	}
}

func post(ctx context.Context, transport *http.Transport, address string, body io.Reader, header ...string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, body)
	if err != nil {
		return
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// holdConnection opens a connection and stays silent.
func holdConnection(ctx context.Context, s *overload) {
	conn, err := s.dial(ctx, "http/1.1")
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, conn) // until the server closes it
	_ = conn.Close()
}

// sendBodySlowly sends the body of an authenticated application one byte at a time.
func sendBodySlowly(ctx context.Context, s *overload) {
	conn, err := s.dial(ctx, "http/1.1")
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	head := "POST /v3/diagnosis HTTP/1.1\r\nHost: test\r\nApp-Id: portal\r\nApp-Key: portal-key\r\n" +
		"Content-Type: application/json\r\nContent-Length: 1048576\r\n\r\n"
	for _, err = io.WriteString(conn, head); err == nil; _, err = io.WriteString(conn, " ") {
		time.Sleep(20 * time.Millisecond)
	}
}

// ignoreResponses requests large responses over all streams of an HTTP/2 connection, with the
// largest allowed headers, and does not read the responses.
func ignoreResponses(streams, headerBytes int) attacker {
	return func(ctx context.Context, s *overload) {
		conn, err := s.dial(ctx, "h2")
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
			return
		}
		framer := http2.NewFramer(conn, conn)
		if framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}) != nil {
			return
		}
		for i := range streams {
			if framer.WriteHeaders(http2.HeadersFrameParam{
				StreamID: uint32(2*i + 1), BlockFragment: requestHeaders(s.address, headerBytes), EndStream: true, EndHeaders: true,
			}) != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, conn)
	}
}

// requestHeaders returns the headers of a request, padded with this many bytes.
func requestHeaders(host string, fill int) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, field := range []hpack.HeaderField{
		{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: host},
		{Name: ":path", Value: "/docs/swagger-ui-bundle.js"}, {Name: "x-fill", Value: strings.Repeat("x", fill), Sensitive: true},
	} {
		_ = encoder.WriteField(field) // cannot fail: it writes to memory
	}
	return block.Bytes()
}

// requestHeavyAssessments requests expensive assessments as an authenticated application.
func requestHeavyAssessments(bodies []string) attacker {
	return func(ctx context.Context, s *overload) {
		transport := &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: s.ca.pool, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: true,
		}
		defer transport.CloseIdleConnections()
		for _, body := range bodies {
			post(ctx, transport, "https://"+s.address+"/v3/diagnosis", strings.NewReader(body), "App-Id", "portal", "App-Key", "portal-key")
		}
	}
}
