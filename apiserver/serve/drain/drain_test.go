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
	trust        *tls.Config // of clients
	served       chan error
}

// start serves a handler over TLS.
func start(t *testing.T, handler http.HandlerFunc) (*testServer, *Connections) {
	t.Helper()
	lender := httptest.NewUnstartedServer(nil) // for its certificate and listener
	lender.StartTLS()
	config := lender.TLS.Clone()
	pool := x509.NewCertPool()
	pool.AddCert(lender.Certificate())
	lender.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{
		Server: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)},
		URL:    "https://" + listener.Addr().String(), address: listener.Addr().String(),
		trust: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, served: make(chan error, 1),
	}
	encrypted, connections := Serve(s.Server, listener, config)
	go func() { s.served <- s.Serve(encrypted) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return s, connections
}

func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Protocol", r.Proto)
	_, _ = io.Copy(w, r.Body)
}

// send posts a body in a way that no client can send again by itself.
func send(ctx context.Context, client *http.Client, address, body string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	answer, err := io.ReadAll(response.Body)
	return response.Proto + " " + string(answer), errors.Join(err, response.Body.Close())
}

func newClient(t *testing.T, server *testServer, dials *atomic.Int64) *http.Client {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: server.trust.Clone(), ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// Clients that send one request after the other, and cannot send one again,
// lose none of them when they are asked to leave, however large the answers.
func TestLeaveLosesNothing(t *testing.T) {
	t.Parallel()
	server, connections := start(t, echo)
	var dials, answers atomic.Int64
	left := make(chan struct{})
	var group sync.WaitGroup
	for i := range 8 {
		client := newClient(t, server, &dials)
		body := strings.Repeat("x", 1+i*5000)
		group.Go(func() {
			for after := 0; after < 20; {
				got, err := send(t.Context(), client, server.URL, body)
				if err != nil || got != "HTTP/2.0 "+body {
					t.Errorf("after %d answers: %.40q, %v", answers.Load(), got, err)
					return
				}
				answers.Add(1)
				select {
				case <-left:
					after++
				default:
				}
			}
		})
	}
	for answers.Load() < 200 {
		time.Sleep(time.Millisecond)
	}
	before := dials.Load()
	connections.Leave()
	close(left)
	group.Wait()
	if dials.Load() < before+8 {
		t.Errorf("%d connections before, %d after: the clients did not leave", before, dials.Load())
	}
	shutDown(t, connections)
}

// The same with many requests on their way over one connection. A client of Go
// that is told while it begins a request sends it elsewhere, which needs a body
// that can be read again; what it has begun is served.
func TestLeaveWithManyStreams(t *testing.T) {
	t.Parallel()
	server, connections := start(t, echo)
	var dials, answers atomic.Int64
	client := newClient(t, server, &dials)
	left := make(chan struct{})
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for after := 0; after < 20; answers.Add(1) {
				response, err := client.Get(server.URL)
				if err != nil {
					t.Errorf("after %d answers: %v", answers.Load(), err)
					return
				}
				_ = response.Body.Close()
				select {
				case <-left:
					after++
				default:
				}
			}
		})
	}
	for answers.Load() < 200 {
		time.Sleep(time.Millisecond)
	}
	connections.Leave()
	close(left)
	group.Wait()
	shutDown(t, connections)
}

func shutDown(t *testing.T, connections *Connections) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := connections.Shutdown(ctx); err != nil {
		stacks := make([]byte, 1<<20)
		t.Errorf("shutting down: %v\n%s", err, stacks[:runtime.Stack(stacks, true)])
	}
	if n := connections.count(); n != 0 {
		t.Errorf("%d connections are still known", n)
	}
}

// A frames is a client that speaks HTTP/2 by hand.
type frames struct {
	t      *testing.T
	conn   *tls.Conn
	framer *http2.Framer
}

func dial(t *testing.T, server *testServer) *frames {
	t.Helper()
	config := server.trust.Clone()
	config.NextProtos = []string{"h2"}
	conn, err := tls.Dial("tcp", server.address, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	f := &frames{t, conn, http2.NewFramer(conn, conn)}
	f.must(io.WriteString(conn, http2.ClientPreface))
	f.must(0, f.framer.WriteSettings())
	return f
}

func (f *frames) must(_ int, err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// get begins a request on a stream.
func (f *frames) get(stream uint32) {
	f.t.Helper()
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for name, value := range map[string]string{":method": "GET", ":scheme": "https", ":path": "/", ":authority": "localhost"} {
		f.must(0, encoder.WriteField(hpack.HeaderField{Name: name, Value: value}))
	}
	f.must(0, f.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true,
	}))
}

// next is the next frame that a test looks at.
func (f *frames) next() string {
	f.t.Helper()
	for {
		frame, err := f.framer.ReadFrame()
		if err != nil {
			return err.Error()
		}
		switch frame := frame.(type) {
		case *http2.GoAwayFrame:
			if frame.ErrCode != http2.ErrCodeNo {
				f.t.Errorf("the error code is %v", frame.ErrCode)
			}
			if frame.LastStreamID == 1<<31-1 {
				return "leave"
			}
			return "close"
		case *http2.HeadersFrame:
			return "answer"
		}
	}
}

func (f *frames) expect(want ...string) {
	f.t.Helper()
	for _, want := range want {
		if got := f.next(); got != want {
			f.t.Fatalf("got %s, expected %s", got, want)
		}
	}
}

// Each connection, whether made before or after, is told with the next answer
// and not before, goes on being served, and is closed by Shutdown only.
func TestLeaveTellsOnce(t *testing.T) {
	t.Parallel()
	server, connections := start(t, echo)
	used, unused := dial(t, server), dial(t, server)
	used.get(1)
	used.expect("answer")
	connections.Leave()
	late := dial(t, server)
	for i, client := range []*frames{used, unused, late} {
		client.get(3)
		client.expect("leave", "answer")
		client.get(5)
		client.expect("answer")
		if i == 0 {
			continue
		}
		client.get(7)
		client.expect("answer")
	}
	go func() { _ = connections.Shutdown(context.Background()) }()
	for _, client := range []*frames{used, unused, late} {
		client.expect("close", "EOF")
	}
}

// A request that is being served while the client is told is served to its end.
func TestLeaveDuringAnswer(t *testing.T) {
	t.Parallel()
	begun, finish := make(chan struct{}), make(chan struct{})
	server, connections := start(t, func(w http.ResponseWriter, _ *http.Request) {
		begun <- struct{}{}
		<-finish
		w.WriteHeader(http.StatusNoContent)
	})
	client := dial(t, server)
	client.get(1)
	<-begun
	connections.Leave()
	finish <- struct{}{}
	client.expect("leave", "answer")
	client.get(3)
	<-begun
	finish <- struct{}{}
	client.expect("answer")
}

// Frames are followed however the writes cut them.
func TestFollow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var stream bytes.Buffer
		framer := http2.NewFramer(&stream, nil)
		boundaries := map[int]bool{0: true}
		var answersAt []int // where the header of a HEADERS frame ends
		for _, size := range rapid.SliceOfN(rapid.IntRange(0, 40), 1, 20).Draw(t, "sizes") {
			var err error
			if size%4 == 0 {
				answersAt = append(answersAt, stream.Len()+frameHeaderLength)
				err = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: make([]byte, size)})
			} else {
				err = framer.WriteData(1, false, make([]byte, size))
			}
			if err != nil {
				t.Fatal(err)
			}
			boundaries[stream.Len()] = true
		}
		var c connection
		all, at := stream.Bytes(), 0
		for at < len(all) {
			n := rapid.IntRange(1, min(len(all)-at, 60)).Draw(t, "write")
			answers := c.follow(all[at : at+n])
			want := slices.ContainsFunc(answersAt, func(end int) bool { return at < end && end <= at+n })
			at += n
			if between := c.have == 0 && c.payload == 0; between != boundaries[at] {
				t.Fatalf("at %d: between frames: %v, expected %v", at, between, boundaries[at])
			}
			if answers != want {
				t.Fatalf("until %d: an answer begins: %v, expected %v", at, answers, want)
			}
		}
	})
}

func TestHTTP1StaysAsItIs(t *testing.T) {
	t.Parallel()
	server, connections := start(t, echo)
	transport := &http.Transport{TLSClientConfig: server.trust.Clone()}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	for range 2 {
		if got, err := send(t.Context(), client, server.URL, "hello"); err != nil || got != "HTTP/1.1 hello" {
			t.Errorf("got %q, %v", got, err)
		}
		connections.Leave()
	}
}

// Whoever speaks plain HTTP is told; whoever speaks nothing known is not.
func TestPlainHTTPIsTold(t *testing.T) {
	t.Parallel()
	server, _ := start(t, echo)
	for sent, want := range map[string]string{
		"GET / HTTP/1.1\r\n\r\n": "This address speaks HTTPS",
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
			t.Errorf("%q got %q, expected %q", sent, got, want)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A connection whose handshake ends after Shutdown has begun does not hold it
// up.
func TestShutdownOvertakesHandshake(t *testing.T) {
	t.Parallel()
	server, connections := start(t, echo)
	raw, err := net.Dial("tcp", server.address)
	if err != nil {
		t.Fatal(err)
	}
	used := dial(t, server) // accepted after the other
	used.get(1)
	used.expect("answer")
	done := make(chan error, 1)
	go func() { done <- connections.Shutdown(context.Background()) }()
	used.expect("close") // Shutdown has begun
	config := server.trust.Clone()
	config.NextProtos, config.ServerName = []string{"h2"}, "127.0.0.1"
	late := tls.Client(raw, config)
	_ = late.SetDeadline(time.Now().Add(30 * time.Second))
	_ = late.Handshake()
	if n, err := late.Read(make([]byte, 1)); err == nil {
		t.Errorf("the late connection is served: %d bytes", n)
	}
	_ = late.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("Shutdown waits")
	}
	if n := connections.count(); n != 0 {
		t.Errorf("%d connections are still known", n)
	}
}
