// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
)

// SMSGateway sends text messages with an HTTP POST to a delivery service. Placeholders
// are expanded once, so that a text may itself contain one.
type SMSGateway configv1alpha1.SMSGateway

// String returns the gateway's host and omits parts of the URL that may be secret.
func (g SMSGateway) String() string {
	address, err := url.Parse(g.expandURL("", ""))
	if err != nil {
		return "SMS gateway without a valid URL"
	}
	return "SMS gateway " + address.Host
}

// Send implements Sender.
func (g *SMSGateway) Send(ctx context.Context, message Message) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	request, err := g.newRequest(ctx, message.Recipient, message.render().text)
	if err != nil {
		return err
	}
	client := http.Client{
		Transport:     g.newTransport(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("sending a text message to SMS gateway %s: %w", request.URL.Host, safeHTTPError(ctx, err))
	}
	_ = response.Body.Close()
	return checkStatus(request.URL.Host, response.StatusCode)
}

// newRequest returns the request that sends a text to a number.
func (g *SMSGateway) newRequest(ctx context.Context, to, text string) (*http.Request, error) {
	body := strings.NewReader(g.expandBody(to, text))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.expandURL(to, text), body)
	if err != nil {
		return nil, errors.New("sending a text message: invalid sms.url after expanding placeholders")
	}
	request.Header = g.Headers.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	request.Header.Set("Content-Type", g.ContentType)
	return request, nil
}

// expandURL returns the URL with its placeholders expanded.
func (g SMSGateway) expandURL(to, text string) string {
	path, query, hasQuery := strings.Cut(g.URL, "?")
	address := expandPlaceholders(path, to, text, url.PathEscape)
	if hasQuery {
		address += "?" + expandPlaceholders(query, to, text, url.QueryEscape)
	}
	return address
}

// expandBody returns the body with its placeholders expanded.
func (g SMSGateway) expandBody(to, text string) string {
	if g.ContentType == configv1alpha1.ContentTypeForm {
		return expandPlaceholders(g.Body, to, text, url.QueryEscape)
	}
	return expandPlaceholders(g.Body, to, text, escapeJSONString)
}

// expandPlaceholders replaces the number and the text in a pattern in one pass, so
// that inserted values are not expanded again.
func expandPlaceholders(pattern, to, text string, escape func(string) string) string {
	return strings.NewReplacer(configv1alpha1.PlaceholderTo, escape(to), configv1alpha1.PlaceholderText, escape(text)).Replace(pattern)
}

// escapeJSONString escapes a text for use between the quotes of a JSON string. Invalid
// UTF-8 becomes U+FFFD.
func escapeJSONString(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // marshaling a string cannot fail
	}
	return string(quoted[1 : len(quoted)-1])
}

// newTransport returns the transport for one message. It connects directly to the
// gateway and ignores proxy settings in the environment.
func (g *SMSGateway) newTransport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: sendTimeout}).DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: g.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: sendTimeout,
		ForceAttemptHTTP2:   true,
		DisableKeepAlives:   true,
		// Only the status of the response is used.
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// safeHTTPError removes the URL from an error, because it may contain the number and
// the text.
func safeHTTPError(ctx context.Context, err error) error {
	var call *url.Error
	if errors.As(err, &call) {
		err = call.Err
	}
	var headerErr tls.RecordHeaderError
	if errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &headerErr) {
		return errors.New("server does not use TLS on this port")
	}
	return safeConnectionError(ctx, err)
}

// checkStatus converts a response status to an error.
func checkStatus(host string, status int) error {
	switch {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		return fmt.Errorf("SMS gateway %s responded with status %d; redirects are not followed: set sms.url to the final URL", host, status)
	}
	temporary := status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
	return markTemporary(temporary, fmt.Errorf("SMS gateway %s responded with status %d", host, status))
}
