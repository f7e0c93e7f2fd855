// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// The content types that a gateway may take.
const (
	typeJSON = "application/json"
	typeForm = "application/x-www-form-urlencoded"
)

// The placeholders in what a gateway is sent.
const (
	placeholderTo   = "{to}"
	placeholderText = "{text}"
)

// Gateway sends text messages with an HTTP POST to who delivers them. Its
// fields are as the settings make them; placeholders are filled in once, so
// that a text may hold one.
type Gateway struct {
	// URL may have placeholders in its path and its query.
	URL string
	// Headers are sent as they are.
	Headers http.Header
	// Body may have placeholders: in strings of JSON, anywhere in a form.
	Body        string
	ContentType string         // typeJSON or typeForm
	Roots       *x509.CertPool // who may sign the gateway's certificate; nil: those of the system
}

// String names the gateway, and leaves out what may be secret of it.
func (g Gateway) String() string {
	address, err := url.Parse(g.address("", ""))
	if err != nil {
		return "a gateway without an address"
	}
	return "the gateway " + address.Host
}

// Send implements Sender.
func (g *Gateway) Send(ctx context.Context, message Message) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	request, err := g.request(ctx, message.Recipient, message.write().text)
	if err != nil {
		return err
	}
	client := http.Client{
		Transport:     g.transport(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("sending a text message to the gateway %s: %w", request.URL.Host, httpError(ctx, err))
	}
	_ = response.Body.Close()
	return judge(request.URL.Host, response.StatusCode)
}

// request is the call that sends a text to a number.
func (g *Gateway) request(ctx context.Context, to, text string) (*http.Request, error) {
	body := strings.NewReader(g.body(to, text))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.address(to, text), body)
	if err != nil {
		return nil, errors.New("sending a text message: the address of the gateway is none with the number and the text in it")
	}
	request.Header = g.Headers.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	request.Header.Set("Content-Type", g.ContentType)
	return request, nil
}

// address is the URL with its placeholders filled in.
func (g Gateway) address(to, text string) string {
	path, query, asks := strings.Cut(g.URL, "?")
	address := fill(path, to, text, url.PathEscape)
	if asks {
		address += "?" + fill(query, to, text, url.QueryEscape)
	}
	return address
}

// body is the body with its placeholders filled in.
func (g Gateway) body(to, text string) string {
	if g.ContentType == typeForm {
		return fill(g.Body, to, text, url.QueryEscape)
	}
	return fill(g.Body, to, text, escapeJSON)
}

// fill puts the number and the text into a pattern, at once, so that what is
// filled in is not looked at again.
func fill(pattern, to, text string, escape func(string) string) string {
	return strings.NewReplacer(placeholderTo, escape(to), placeholderText, escape(text)).Replace(pattern)
}

// escapeJSON writes a text as it stands between the quotes of a JSON string. What
// is not UTF-8 becomes U+FFFD.
func escapeJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // of a string there is no error
	}
	return string(quoted[1 : len(quoted)-1])
}

// transport is for one message: it goes straight to the gateway, whatever the
// environment says of proxies.
func (g *Gateway) transport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: sendTimeout}).DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: g.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: sendTimeout,
		ForceAttemptHTTP2:   true,
		DisableKeepAlives:   true,
		// Nobody reads more of an answer than its status.
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// httpError leaves out the address of a call, which may hold the number and the
// text.
func httpError(ctx context.Context, err error) error {
	var call *url.Error
	if errors.As(err, &call) {
		err = call.Err
	}
	var wrong tls.RecordHeaderError
	if errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &wrong) {
		return errors.New("the other side does not speak TLS there")
	}
	return connectionError(ctx, err)
}

// judge says what the status of an answer means.
func judge(host string, status int) error {
	switch {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		return fmt.Errorf("the gateway %s answered %d; redirects are not followed: sms.url has to be where messages are taken", host, status)
	}
	passing := status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
	return temporaryIf(passing, fmt.Errorf("the gateway %s answered %d", host, status))
}
