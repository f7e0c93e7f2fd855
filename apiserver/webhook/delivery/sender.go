// SPDX-License-Identifier: Apache-2.0

package delivery

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

	apiserverevent "github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

// Settings are the tenant's delivery settings. They may change at run time.
type Settings struct {
	AddressPolicy AddressPolicy
	// CABundle holds PEM certificates that are trusted in addition to the system's CAs. May
	// be empty.
	CABundle string
}

// Receiver is the target of a delivery.
type Receiver struct {
	URL     string
	Secrets apiserverevent.Secrets
}

// Sender performs delivery attempts. Settings and Now are required. It is safe for
// concurrent use and must not be copied.
type Sender struct {
	Settings func() Settings
	Now      func() time.Time
	// Resolver looks up host names. Defaults to the system resolver.
	Resolver *net.Resolver
	// Timeout limits an attempt. Defaults to 15 seconds.
	Timeout time.Duration

	mu                sync.Mutex
	transport         *http.Transport
	transportSettings Settings // settings that transport was built with
}

const (
	// defaultTimeout limits an attempt, from DNS lookup to response.
	defaultTimeout = 15 * time.Second
	// maxBodyBytes and bodyReadTimeout limit the draining of a response body, which allows
	// the connection to be reused.
	maxBodyBytes, bodyReadTimeout = 4 << 10, time.Second
	// idleConnTimeout is how long an idle connection stays open.
	idleConnTimeout = 30 * time.Second
	// maxHeaderBytes limits the size of the response headers.
	maxHeaderBytes = 16 << 10
)

// Send performs one attempt. The error of the result does not reveal the receiver's
// address.
func (s *Sender) Send(ctx context.Context, receiver Receiver, event apiserverevent.Event) apiserverevent.DeliveryResult {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.Timeout, defaultTimeout))
	defer cancel()
	request, err := s.newRequest(ctx, receiver, event)
	if err != nil {
		return apiserverevent.DeliveryResult{Err: errInvalidURL}
	}
	transport, err := s.currentTransport()
	if err != nil {
		return apiserverevent.DeliveryResult{Err: err}
	}
	response, err := transport.RoundTrip(request) // does not follow redirects
	if err != nil {
		return apiserverevent.DeliveryResult{Err: publicError(ctx, err)}
	}
	defer response.Body.Close() //nolint:errcheck // the status is already known
	timer := time.AfterFunc(bodyReadTimeout, cancel)
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, response.Body, maxBodyBytes)
	return apiserverevent.DeliveryResult{StatusCode: response.StatusCode, RetryAfter: parseRetryAfter(response.Header.Get("Retry-After"), s.Now())}
}

func (s *Sender) newRequest(ctx context.Context, receiver Receiver, event apiserverevent.Event) (*http.Request, error) {
	now, body := s.Now(), event.Body()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, receiver.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "anamnesis-webhooks")
	request.Header.Set("X-Webhook-Service-Token", receiver.Secrets.Token)
	request.Header.Set("Webhook-Id", event.ID)
	request.Header.Set("Webhook-Timestamp", apiserverevent.Timestamp(now))
	request.Header.Set("Webhook-Signature", receiver.Secrets.Signatures(event.ID, now, body))
	// Marks the request as idempotent so that the transport retries it on a stale
	// connection. Headers without values are not sent.
	request.Header["Idempotency-Key"] = []string{}
	return request, nil
}

// parseRetryAfter parses a Retry-After header: seconds or a date (RFC 9110, section
// 10.2.3). It returns zero for invalid values and past dates.
func parseRetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// currentTransport returns the transport for the current settings. Connections made
// under other settings are never reused.
func (s *Sender) currentTransport() (*http.Transport, error) {
	settings := s.Settings()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.transport != nil && reflect.DeepEqual(s.transportSettings, settings) {
		return s.transport, nil
	}
	roots, err := newRootCAs(settings.CABundle)
	if err != nil {
		return nil, err
	}
	if s.transport != nil {
		s.transport.CloseIdleConnections()
	}
	s.transport, s.transportSettings = s.newTransport(roots, settings.AddressPolicy), settings
	return s.transport, nil
}

// newTransport returns a transport that ignores proxies from the environment, because a
// proxy would bypass the address policy.
func (s *Sender) newTransport(roots *x509.CertPool, policy AddressPolicy) *http.Transport {
	return &http.Transport{
		DialContext:            dialer{policy, s.Resolver}.dial,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		MaxConnsPerHost:        16, // 8 concurrent deliveries per receiver, plus canceled ones that linger
		MaxIdleConnsPerHost:    8,
		MaxIdleConns:           64,
		IdleConnTimeout:        idleConnTimeout,
		TLSHandshakeTimeout:    dialTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true,
	}
}

// Close closes idle connections.
func (s *Sender) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.transport != nil {
		s.transport.CloseIdleConnections()
	}
}
