// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	apiserverevent "github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	secrets       = apiserverevent.Secrets{Token: "the-token", SigningSecret: apiserverevent.EncodeSigningSecret([32]byte{1})}
	event         = apiserverevent.NewSurveyFinished("e1", "s1")
	localSettings = Settings{AddressPolicy: AddressPolicy{AllowLoopback: true, AllowAnyPort: true}}
)

// newSender returns a Sender that is closed after the test.
func newSender(t testing.TB, settings Settings) *Sender {
	t.Helper()
	s := &Sender{Settings: func() Settings { return settings }, Now: time.Now, Timeout: 2 * time.Second}
	t.Cleanup(s.Close)
	return s
}

func send(t testing.TB, s *Sender, url string) apiserverevent.DeliveryResult {
	t.Helper()
	return s.Send(t.Context(), Receiver{URL: url, Secrets: secrets}, event)
}

// startReceiver starts a plain HTTP receiver and returns its URL.
func startReceiver(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // otherwise the server does not notice that the client disconnected
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestSend(t *testing.T) {
	var got *http.Request
	var body string
	url := startReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r, string(text)
		w.WriteHeader(http.StatusNoContent)
	})
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	if result := send(t, newSender(t, localSettings), url+"/events?a=b"); !result.Succeeded() || result.StatusCode != http.StatusNoContent {
		t.Fatalf("got %+v", result)
	}
	if body != string(event.Body()) || got.Method != http.MethodPost || got.URL.String() != "/events?a=b" {
		t.Errorf("receiver got %s %s with body %s", got.Method, got.URL, body)
	}
	for header, want := range map[string]string{"Content-Type": "application/json", "X-Webhook-Service-Token": "the-token", "Webhook-Id": "e1"} {
		if got.Header.Get(header) != want {
			t.Errorf("header %s is %q, want %q", header, got.Header.Get(header), want)
		}
	}
	if !strings.HasPrefix(got.Header.Get("Webhook-Signature"), "v1,") || got.Header.Get("Webhook-Timestamp") == "" {
		t.Errorf("headers are %v", got.Header)
	}
}

// TestSendReportsReceiverErrors checks the results for misbehaving receivers.
func TestSendReportsReceiverErrors(t *testing.T) {
	t.Parallel()
	redirectTarget := startReceiver(t, func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") })
	reset := func(w http.ResponseWriter, _ *http.Request) {
		connection, _, _ := http.NewResponseController(w).Hijack()
		_ = connection.(*net.TCPConn).SetLinger(0) //nolint:forcetypeassert // always TCP
		_ = connection.Close()
	}
	status := func(status int, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
		}
	}
	for name, test := range map[string]struct {
		receiver   http.HandlerFunc
		want       int
		err        error
		retryAfter time.Duration
	}{
		"server error":                 {receiver: status(500), want: 500},
		"Retry-After in seconds":       {receiver: status(429, "Retry-After", "120"), want: 429, retryAfter: 2 * time.Minute},
		"Retry-After in the future":    {receiver: status(503, "Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)), want: 503, retryAfter: time.Hour},
		"Retry-After in the past":      {receiver: status(503, "Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"), want: 503},
		"invalid Retry-After":          {receiver: status(503, "Retry-After", "-5 soon"), want: 503},
		"gone":                         {receiver: status(410), want: 410},
		"redirect":                     {receiver: status(307, "Location", redirectTarget), want: 307},
		"redirect to metadata address": {receiver: status(302, "Location", "http://169.254.169.254/latest"), want: 302},
		"connection reset":             {receiver: reset, err: errConnectionReset},
		"no response":                  {receiver: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, err: errTimeout},
		"endless slow body": {receiver: func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte("."))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(20 * time.Millisecond)
			}
		}, want: 200},
		"endless header": {receiver: func(w http.ResponseWriter, r *http.Request) {
			connection, _, _ := http.NewResponseController(w).Hijack()
			defer connection.Close() //nolint:errcheck // test server
			_, _ = connection.Write([]byte("HTTP/1.1 200 OK\r\n"))
			for {
				if _, err := connection.Write([]byte("A: b\r\n")); err != nil {
					return
				}
			}
		}, err: errInvalidResponse},
		"no HTTP": {receiver: func(w http.ResponseWriter, _ *http.Request) {
			connection, _, _ := http.NewResponseController(w).Hijack()
			_, _ = connection.Write([]byte("hello\r\n\r\n"))
			_ = connection.Close()
		}, err: errInvalidResponse},
		"large body": {receiver: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 10<<20)) }, want: 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			got := send(t, newSender(t, localSettings), startReceiver(t, test.receiver))
			if got.StatusCode != test.want || !errors.Is(got.Err, test.err) {
				t.Errorf("got %+v, want status %d, error %v", got, test.want, test.err)
			}
			if off := (got.RetryAfter - test.retryAfter).Abs(); off > 5*time.Second {
				t.Errorf("RetryAfter is %v, want %v", got.RetryAfter, test.retryAfter)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("Send took %v, want at most 10s", took)
			}
		})
	}
}

func TestSendReportsUnreachableReceivers(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	down := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]error{
		down:                          errConnectionRefused,
		"http://nowhere.invalid":      errNameNotResolved,
		"http://127.0.0.1:1\x7f":      errInvalidURL,
		"http://169.254.169.254:8080": errAddressNotAllowed,
		"http://10.0.0.1:8080":        errAddressNotAllowed,
		"http://[fe80::1]:8080":       errAddressNotAllowed,
		"http://0.0.0.0:8080":         errAddressNotAllowed,
		"http://[64:ff9b::a00:1]":     errAddressNotAllowed,
	} {
		if got := send(t, newSender(t, localSettings), url); !errors.Is(got.Err, want) {
			t.Errorf("%s: got %v, want %v", url, got.Err, want)
		}
	}
	if got := send(t, newSender(t, Settings{AddressPolicy: AddressPolicy{AllowLoopback: true}}), down); !errors.Is(got.Err, errAddressNotAllowed) {
		t.Errorf("port that is not allowed: got %v, want errAddressNotAllowed", got.Err)
	}
	// Every spelling of the loopback address is blocked.
	for _, host := range []string{"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]"} {
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(down, "http://"))
		if got := send(t, newSender(t, Settings{AddressPolicy: AddressPolicy{AllowAnyPort: true, AllowPrivate: true}}), "http://"+host+":"+port); !errors.Is(got.Err, errAddressNotAllowed) && !errors.Is(got.Err, errNameNotResolved) {
			t.Errorf("%s: got %v, want errAddressNotAllowed", host, got.Err)
		}
	}
}

// TestSendReconnectsAfterIdleClose checks that a stale connection does not fail the
// attempt.
func TestSendReconnectsAfterIdleClose(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	url := startReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if connections.Add(1) == 2 { // the first request on a reused connection
			connection, _, _ := http.NewResponseController(w).Hijack()
			_ = connection.Close()
		}
	})
	s := newSender(t, localSettings)
	for i := range 2 {
		if got := send(t, s, url); !got.Succeeded() {
			t.Errorf("delivery %d: got %+v", i, got)
		}
	}
}

// TestSendReturnsCanceledOnShutdown checks that shutdown cancels an attempt without
// counting a failure of the receiver.
func TestSendReturnsCanceledOnShutdown(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url := startReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if got := newSender(t, localSettings).Send(ctx, Receiver{URL: url, Secrets: secrets}, event); !errors.Is(got.Err, context.Canceled) {
		t.Errorf("got %+v", got)
	}
}

func TestSendVerifiesCertificates(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	old := httptest.NewUnstartedServer(receiver.Config.Handler)
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11}
	old.StartTLS()
	t.Cleanup(old.Close)
	trusting := localSettings
	trusting.CABundle = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw}))
	otherName := strings.Replace(receiver.URL, "127.0.0.1", "localhost", 1)
	for name, test := range map[string]struct {
		settings Settings
		url      string
		fails    bool
	}{
		"untrusted CA":     {localSettings, receiver.URL, true},
		"CA of the tenant": {trusting, receiver.URL, false},
		"other host name":  {trusting, otherName, true},
		"old TLS version":  {trusting, old.URL, true},
		"plain HTTP":       {trusting, strings.Replace(startReceiver(t, receiver.Config.Handler.ServeHTTP), "http:", "https:", 1), true},
	} {
		if got := send(t, newSender(t, test.settings), test.url); got.Succeeded() == test.fails || test.fails && got.Err == nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	// A changed CA bundle applies from the next attempt on.
	settings := trusting
	s := newSender(t, Settings{})
	s.Settings = func() Settings { return settings }
	if got := send(t, s, receiver.URL); !got.Succeeded() {
		t.Errorf("got %+v", got)
	}
	settings = localSettings
	if got := send(t, s, receiver.URL); !errors.Is(got.Err, errCertificateNotTrusted) {
		t.Errorf("after removing the CA: got %+v, want errCertificateNotTrusted", got)
	}
	settings.CABundle = "invalid"
	if got := send(t, s, receiver.URL); !errors.Is(got.Err, errInvalidCABundle) {
		t.Errorf("invalid CA bundle: got %+v, want errInvalidCABundle", got)
	}
}

// TestSendBlocksDNSRebinding checks that a name that resolves first to a public address
// and then to loopback is blocked, because the dialed address is checked.
func TestSendBlocksDNSRebinding(t *testing.T) {
	t.Parallel()
	var reached, queries atomic.Int64
	url := startReceiver(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	s := newSender(t, Settings{AddressPolicy: AddressPolicy{AllowAnyPort: true}})
	s.Resolver = newResolver(t, func() [4]byte {
		if queries.Add(1) == 1 {
			return [4]byte{192, 0, 2, 1}
		}
		return [4]byte{127, 0, 0, 1}
	})
	for range 3 {
		if got := send(t, s, "http://rebound.example:"+port); !errors.Is(got.Err, errAddressNotAllowed) {
			t.Errorf("got %+v", got)
		}
	}
	if reached.Load() != 0 || queries.Load() < 2 {
		t.Errorf("loopback was reached %d times after %d DNS queries, want none after at least 2", reached.Load(), queries.Load())
	}
}

// newResolver returns a resolver whose DNS server returns one address per query.
func newResolver(t *testing.T, address func() [4]byte) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	go func() {
		defer close(done)
		buffer := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(buffer)
			if err != nil {
				return
			}
			if response, err := dnsResponse(buffer[:n], address); err == nil {
				_, _ = server.WriteTo(response, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func dnsResponse(query []byte, address func() [4]byte) ([]byte, error) {
	var message dnsmessage.Message
	if err := message.Unpack(query); err != nil {
		return nil, err
	}
	message.Response, message.Authoritative = true, true
	message.Additionals = nil
	question := message.Questions[0]
	if question.Type == dnsmessage.TypeA {
		message.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
			Body:   &dnsmessage.AResource{A: address()},
		}}
	}
	return message.Pack()
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, text := range []string{"120", "Mon, 02 Jan 2006 15:04:05 GMT", "-1", "99999999999999999999", "1e9", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if after := parseRetryAfter(text, time.Now()); after < 0 {
			t.Errorf("parseRetryAfter(%q) = %v, want at least 0", text, after)
		}
	})
}

func BenchmarkSend(b *testing.B) {
	url := startReceiver(b, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	s := newSender(b, localSettings)
	for b.Loop() {
		if result := send(b, s, url); !result.Succeeded() {
			b.Fatal(result)
		}
	}
}
