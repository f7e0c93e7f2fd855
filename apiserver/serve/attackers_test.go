// SPDX-License-Identifier: Apache-2.0

package serve

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

// An attacker does harm, as well as it can, until the context ends. What the
// server answers is all the same to it.
type attacker func(ctx context.Context, s *siege)

// A siege is attackers around a server.
type siege struct {
	address string // host and port
	trust   *authority
	all     sync.WaitGroup
}

// begin lets so many of an attacker loose.
func (s *siege) begin(ctx context.Context, count int, attack attacker) {
	for range count {
		s.all.Go(func() {
			for ctx.Err() == nil {
				attack(ctx, s)
				time.Sleep(10 * time.Millisecond) // the server and the others run here, too
			}
		})
	}
}

// dial opens a connection that ends with the context, and speaks one protocol
// over TLS.
func (s *siege) dial(ctx context.Context, protocol string) (net.Conn, error) {
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: s.trust.pool, NextProtos: []string{protocol}, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn, nil
}

// flood sends large bodies over the streams of one HTTP/2 connection, without
// credentials, for a token.
func flood(streams, size int) attacker {
	body := bytes.Repeat([]byte("x"), size)
	return func(ctx context.Context, s *siege) {
		transport := &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: s.trust.pool, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12},
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

// occupy opens a connection and says nothing on it.
func occupy(ctx context.Context, s *siege) {
	conn, err := s.dial(ctx, "http/1.1")
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, conn) // until the server has enough of it
	_ = conn.Close()
}

// trickle sends the body of a good application one byte at a time.
func trickle(ctx context.Context, s *siege) {
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

// ignore asks for large answers over all streams of an HTTP/2 connection, with
// as much in the headers as it may, and takes nothing of the answers.
func ignore(streams, headerBytes int) attacker {
	return func(ctx context.Context, s *siege) {
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
				StreamID: uint32(2*i + 1), BlockFragment: asking(s.address, headerBytes), EndStream: true, EndHeaders: true,
			}) != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, conn)
	}
}

// asking are the headers of a request, with so many bytes of nothing.
func asking(host string, fill int) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, field := range []hpack.HeaderField{
		{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: host},
		{Name: ":path", Value: "/docs/swagger-ui-bundle.js"}, {Name: "x-fill", Value: strings.Repeat("x", fill), Sensitive: true},
	} {
		_ = encoder.WriteField(field) // into memory
	}
	return block.Bytes()
}

// strain asks about patients that take long, as a good application.
func strain(bodies []string) attacker {
	return func(ctx context.Context, s *siege) {
		transport := &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: s.trust.pool, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: true,
		}
		defer transport.CloseIdleConnections()
		for _, body := range bodies {
			post(ctx, transport, "https://"+s.address+"/v3/diagnosis", strings.NewReader(body), "App-Id", "portal", "App-Key", "portal-key")
		}
	}
}
