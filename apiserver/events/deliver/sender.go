// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
)

// Settings are what a tenant says of deliveries. They may change while a server runs.
type Settings struct {
	Reach Reach
	// Authorities are certificates, in PEM, of authorities that are believed beside those
	// of the system; empty for none.
	Authorities string
}

// Receiver is whom a delivery goes to.
type Receiver struct {
	URL     string
	Secrets events.Secrets
}

// Sender makes attempts. Settings and Now are required. It may be used for several at a
// time, and is not to be copied.
type Sender struct {
	Settings func() Settings
	Now      func() time.Time
	// Resolver looks up names; nil for that of the system.
	Resolver *net.Resolver
	// Patience is how long a receiver has to take an event; zero for 15 seconds.
	Patience time.Duration

	mu        sync.Mutex
	transport *http.Transport
	made      Settings // for which the transport was made
}

const (
	// attemptTimeout is how long a receiver has to take an event, from the look at its
	// name to its answer.
	attemptTimeout = 15 * time.Second
	// mostRead is how much of an answer is read, and thrown away, and readFor for how
	// long, so that the connection can be used again.
	mostRead, readFor = 4 << 10, time.Second
	// idleTimeout is how long a connection is kept for the next event.
	idleTimeout = 30 * time.Second
	// mostHeaders is how much the headers of an answer may hold, in bytes.
	mostHeaders = 16 << 10
)

// Send makes an attempt. The error of the result says nothing of where the receiver is.
func (s *Sender) Send(ctx context.Context, receiver Receiver, event events.Event) events.Result {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.Patience, attemptTimeout))
	defer cancel()
	request, err := s.request(ctx, receiver, event)
	if err != nil {
		return events.Result{Err: errRequest}
	}
	transport, err := s.transportNow()
	if err != nil {
		return events.Result{Err: err}
	}
	answer, err := transport.RoundTrip(request) // which follows no redirect
	if err != nil {
		return events.Result{Err: reason(ctx, err)}
	}
	defer answer.Body.Close() //nolint:errcheck // the event was taken, or not
	patience := time.AfterFunc(readFor, cancel)
	defer patience.Stop()
	_, _ = io.CopyN(io.Discard, answer.Body, mostRead)
	return events.Result{Status: answer.StatusCode, RetryAfter: retryAfter(answer.Header.Get("Retry-After"), s.Now())}
}

func (s *Sender) request(ctx context.Context, receiver Receiver, event events.Event) (*http.Request, error) {
	now, body := s.Now(), event.Body()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, receiver.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "anamnesis-webhooks")
	request.Header.Set("X-Webhook-Service-Token", receiver.Secrets.Token)
	request.Header.Set("Webhook-Id", event.ID)
	request.Header.Set("Webhook-Timestamp", events.Timestamp(now))
	request.Header.Set("Webhook-Signature", receiver.Secrets.Signatures(event.ID, now, body))
	// Tells the transport alone, which sends no header without values, that the request
	// may go again where a connection that was kept turns out to be closed.
	request.Header["Idempotency-Key"] = []string{}
	return request, nil
}

// retryAfter reads the header of that name: seconds, or a date (RFC 9110, section
// 10.2.3). It is zero for one that says neither, and for a date that is past.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// transportNow is the transport for the settings of now. No connection that one for
// others made is used again.
func (s *Sender) transportNow() (*http.Transport, error) {
	settings := s.Settings()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.transport != nil && reflect.DeepEqual(s.made, settings) {
		return s.transport, nil
	}
	roots, err := Roots(settings.Authorities)
	if err != nil {
		return nil, err
	}
	if s.transport != nil {
		s.transport.CloseIdleConnections()
	}
	s.transport, s.made = s.newTransport(roots, settings.Reach), settings
	return s.transport, nil
}

// newTransport takes no proxy from the environment: it would dial in our place.
func (s *Sender) newTransport(roots *x509.CertPool, reach Reach) *http.Transport {
	return &http.Transport{
		DialContext:            dialer{reach, s.Resolver}.dial,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		MaxConnsPerHost:        16, // a receiver gets eight deliveries at a time, and those cut off may linger
		MaxIdleConnsPerHost:    8,
		MaxIdleConns:           64,
		IdleConnTimeout:        idleTimeout,
		TLSHandshakeTimeout:    dialTimeout,
		MaxResponseHeaderBytes: mostHeaders,
		DisableCompression:     true,
	}
}

// Close lets go of connections that are kept for later.
func (s *Sender) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.transport != nil {
		s.transport.CloseIdleConnections()
	}
}
