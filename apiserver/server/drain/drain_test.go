// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A testServer is a server whose connections can be drained.
type testServer struct {
	*http.Server
	URL, address string
	clientTLS    *tls.Config // for clients
	serveErr     chan error
}

// startServer serves a handler over TLS.
func startServer(t *testing.T, handler http.HandlerFunc) (*testServer, *Connections) {
	t.Helper()
	source := httptest.NewUnstartedServer(nil) // provides a certificate and a listener
	source.StartTLS()
	config := source.TLS.Clone()
	pool := x509.NewCertPool()
	pool.AddCert(source.Certificate())
	source.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{
		Server: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)},
		URL:    "https://" + listener.Addr().String(), address: listener.Addr().String(),
		clientTLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, serveErr: make(chan error, 1),
	}
	encrypted, connections := WrapListener(s.Server, listener, config)
	go func() { s.serveErr <- s.Serve(encrypted) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-s.serveErr; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return s, connections
}

func echoHandler(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Protocol", r.Proto)
	_, _ = io.Copy(w, r.Body)
}

// postOnce posts a body that cannot be re-read, so that the client cannot retry.
func postOnce(ctx context.Context, client *http.Client, address, body string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(response.Body)
	return response.Proto + " " + string(content), errors.Join(err, response.Body.Close())
}

func newClient(t *testing.T, server *testServer, dials *atomic.Int64) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: server.clientTLS.Clone(), ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestDrainLosesNoRequests checks that clients that send one request at a time and
// cannot retry lose none of them during a drain, however large the responses.
func TestDrainLosesNoRequests(t *testing.T) {
	t.Parallel()
	server, connections := startServer(t, echoHandler)
	var dials, responses atomic.Int64
	draining := make(chan struct{})
	var group sync.WaitGroup
	for i := range 8 {
		client := newClient(t, server, &dials)
		body := strings.Repeat("x", 1+i*5000)
		group.Go(func() {
			for after := 0; after < 20; {
				got, err := postOnce(t.Context(), client, server.URL, body)
				if err != nil || got != "HTTP/2.0 "+body {
					t.Errorf("after %d responses: got %.40q, error %v", responses.Load(), got, err)
					return
				}
				responses.Add(1)
				select {
				case <-draining:
					after++
				default:
				}
			}
		})
	}
	for responses.Load() < 200 {
		time.Sleep(time.Millisecond)
	}
	before := dials.Load()
	connections.Drain()
	close(draining)
	group.Wait()
	if dials.Load() < before+8 {
		t.Errorf("%d connections before and %d after draining: clients did not reconnect", before, dials.Load())
	}
	shutdownConnections(t, connections)
}

// TestDrainWithManyStreams checks that no request is lost with many requests in flight on one
// connection. A Go client that receives GOAWAY while it starts a request retries it on another
// connection, which requires a body that can be re-read; requests already started are served.
func TestDrainWithManyStreams(t *testing.T) {
	t.Parallel()
	server, connections := startServer(t, echoHandler)
	var dials, responses atomic.Int64
	client := newClient(t, server, &dials)
	draining := make(chan struct{})
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for after := 0; after < 20; responses.Add(1) {
				response, err := client.Get(server.URL)
				if err != nil {
					t.Errorf("after %d responses: %v", responses.Load(), err)
					return
				}
				_ = response.Body.Close()
				select {
				case <-draining:
					after++
				default:
				}
			}
		})
	}
	for responses.Load() < 200 {
		time.Sleep(time.Millisecond)
	}
	connections.Drain()
	close(draining)
	group.Wait()
	shutdownConnections(t, connections)
}

func shutdownConnections(t *testing.T, connections *Connections) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := connections.Shutdown(ctx); err != nil {
		stacks := make([]byte, 1<<20)
		t.Errorf("shutting down: %v\n%s", err, stacks[:runtime.Stack(stacks, true)])
	}
	if n := connections.count(); n != 0 {
		t.Errorf("%d connections are still tracked", n)
	}
}

// An http2Client is a client that sends HTTP/2 frames directly.
type http2Client struct {
	t      *testing.T
	conn   *tls.Conn
	framer *http2.Framer
}

func dialHTTP2(t *testing.T, server *testServer) *http2Client {
	t.Helper()
	config := server.clientTLS.Clone()
	config.NextProtos = []string{"h2"}
	conn, err := tls.Dial("tcp", server.address, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	f := &http2Client{t, conn, http2.NewFramer(conn, conn)}
	f.must(io.WriteString(conn, http2.ClientPreface))
	f.must(0, f.framer.WriteSettings())
	return f
}

func (c *http2Client) must(_ int, err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// sendRequest starts a request on a stream.
func (c *http2Client) sendRequest(stream uint32) {
	c.t.Helper()
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for name, value := range map[string]string{":method": "GET", ":scheme": "https", ":path": "/", ":authority": "localhost"} {
		c.must(0, encoder.WriteField(hpack.HeaderField{Name: name, Value: value}))
	}
	c.must(0, c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true,
	}))
}

// nextFrame returns the next frame that is relevant to the tests.
func (c *http2Client) nextFrame() string {
	c.t.Helper()
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return err.Error()
		}
		switch frame := frame.(type) {
		case *http2.GoAwayFrame:
			if frame.ErrCode != http2.ErrCodeNo {
				c.t.Errorf("GOAWAY has error code %v", frame.ErrCode)
			}
			if frame.LastStreamID == 1<<31-1 {
				return "leave"
			}
			return "close"
		case *http2.HeadersFrame:
			return "response"
		}
	}
}

func (c *http2Client) expect(want ...string) {
	c.t.Helper()
	for _, want := range want {
		if got := c.nextFrame(); got != want {
			c.t.Fatalf("got frame %s, want %s", got, want)
		}
	}
}

// TestDrainSendsGoAwayOnce checks that each connection, whether opened before or after
// Drain, receives GOAWAY with the next response and not earlier, remains in service, and
// is closed only by Shutdown.
func TestDrainSendsGoAwayOnce(t *testing.T) {
	t.Parallel()
	server, connections := startServer(t, echoHandler)
	used, unused := dialHTTP2(t, server), dialHTTP2(t, server)
	used.sendRequest(1)
	used.expect("response")
	connections.Drain()
	late := dialHTTP2(t, server)
	for i, client := range []*http2Client{used, unused, late} {
		client.sendRequest(3)
		client.expect("leave", "response")
		client.sendRequest(5)
		client.expect("response")
		if i == 0 {
			continue
		}
		client.sendRequest(7)
		client.expect("response")
	}
	go func() { _ = connections.Shutdown(context.Background()) }()
	for _, client := range []*http2Client{used, unused, late} {
		client.expect("close", "EOF")
	}
}

// TestDrainDuringResponse checks that a request in flight during the drain is served to
// its end.
func TestDrainDuringResponse(t *testing.T) {
	t.Parallel()
	started, finish := make(chan struct{}), make(chan struct{})
	server, connections := startServer(t, func(w http.ResponseWriter, _ *http.Request) {
		started <- struct{}{}
		<-finish
		w.WriteHeader(http.StatusNoContent)
	})
	client := dialHTTP2(t, server)
	client.sendRequest(1)
	<-started
	connections.Drain()
	finish <- struct{}{}
	client.expect("leave", "response")
	client.sendRequest(3)
	<-started
	finish <- struct{}{}
	client.expect("response")
}

// TestTrackFrames checks that frame tracking works wherever writes split frames.
func TestTrackFrames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var stream bytes.Buffer
		framer := http2.NewFramer(&stream, nil)
		boundaries := map[int]bool{0: true}
		var responsesAt []int // where the header of a HEADERS frame ends
		for _, size := range rapid.SliceOfN(rapid.IntRange(0, 40), 1, 20).Draw(t, "sizes") {
			var err error
			if size%4 == 0 {
				responsesAt = append(responsesAt, stream.Len()+frameHeaderLen)
				err = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: make([]byte, size)})
			} else {
				err = framer.WriteData(1, false, make([]byte, size))
			}
			if err != nil {
				t.Fatal(err)
			}
			boundaries[stream.Len()] = true
		}
		var c trackedConn
		all, at := stream.Bytes(), 0
		for at < len(all) {
			n := rapid.IntRange(1, min(len(all)-at, 60)).Draw(t, "write")
			responseStarts := c.trackFrames(all[at : at+n])
			want := slices.ContainsFunc(responsesAt, func(end int) bool { return at < end && end <= at+n })
			at += n
			if between := c.headerRead == 0 && c.payloadLeft == 0; between != boundaries[at] {
				t.Fatalf("at byte %d: between frames: %v, want %v", at, between, boundaries[at])
			}
			if responseStarts != want {
				t.Fatalf("up to byte %d: response starts: %v, want %v", at, responseStarts, want)
			}
		}
	})
}

func TestHTTP1IsUnaffected(t *testing.T) {
	t.Parallel()
	server, connections := startServer(t, echoHandler)
	transport := &http.Transport{TLSClientConfig: server.clientTLS.Clone()}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	for range 2 {
		if got, err := postOnce(t.Context(), client, server.URL, "hello"); err != nil || got != "HTTP/1.1 hello" {
			t.Errorf("got %q, error %v", got, err)
		}
		connections.Drain()
	}
}

// TestPlainHTTPIsRejected checks that a client that speaks plain HTTP gets an error
// message; any other protocol gets none.
func TestPlainHTTPIsRejected(t *testing.T) {
	t.Parallel()
	server, _ := startServer(t, echoHandler)
	for sent, want := range map[string]string{
		"GET / HTTP/1.1\r\n\r\n": "This address serves HTTPS",
		"SSH-2.0-OpenSSH_9\r\n":  "",
	} {
		conn, err := net.Dial("tcp", server.address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, sent); err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(conn) // may end in a reset
		if !strings.Contains(string(got), want) || want == "" && strings.Contains(string(got), "HTTP") {
			t.Errorf("sent %q: got %q, want %q", sent, got, want)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestShutdownDuringHandshake checks that a connection whose handshake ends after Shutdown
// started does not delay Shutdown.
func TestShutdownDuringHandshake(t *testing.T) {
	t.Parallel()
	server, connections := startServer(t, echoHandler)
	raw, err := net.Dial("tcp", server.address)
	if err != nil {
		t.Fatal(err)
	}
	used := dialHTTP2(t, server) // accepted after the other
	used.sendRequest(1)
	used.expect("response")
	done := make(chan error, 1)
	go func() { done <- connections.Shutdown(context.Background()) }()
	used.expect("close") // Shutdown has started
	config := server.clientTLS.Clone()
	config.NextProtos, config.ServerName = []string{"h2"}, "127.0.0.1"
	late := tls.Client(raw, config)
	_ = late.SetDeadline(time.Now().Add(30 * time.Second))
	_ = late.Handshake()
	if n, err := late.Read(make([]byte, 1)); err == nil {
		t.Errorf("connection was served after Shutdown: read %d bytes", n)
	}
	_ = late.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("Shutdown did not return within 30 seconds")
	}
	if n := connections.count(); n != 0 {
		t.Errorf("%d connections are still tracked", n)
	}
}
