// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// The content types that a gateway may accept.
const (
	ContentTypeJSON = "application/json"
	ContentTypeForm = "application/x-www-form-urlencoded"
)

// The placeholders in requests to a gateway, for the phone number and the message.
const (
	PlaceholderTo   = "{to}"
	PlaceholderText = "{text}"
)

// SMSGateway holds the settings of an HTTP gateway for text messages, in the format
// SMSGatewayFormat. Body and URL together must contain both placeholders.
type SMSGateway struct {
	// URL may contain placeholders in its path and query. Required.
	URL string
	// Headers are sent unchanged. The key headers holds lines of the form "Name: value".
	Headers http.Header
	// Body may contain placeholders: within strings in JSON, anywhere in a form. Required.
	Body string
	// ContentType is ContentTypeJSON, the default, or ContentTypeForm.
	ContentType string
	// RootCAs are the CAs of the gateway's certificate. If nil, the system's apply.
	RootCAs *x509.CertPool
}

// String omits all settings, so that none is logged by mistake.
func (SMSGateway) String() string { return "SMS gateway settings" }

// ParseSMSGateway parses and validates the content of a Secret. It returns an ErrorList
// that names invalid keys and contains no values. allowHTTP permits a URL without TLS,
// for development.
func ParseSMSGateway(content map[string][]byte, allowHTTP bool) (*SMSGateway, error) {
	var errs ErrorList
	s := senderSettings(content)
	g := &SMSGateway{
		URL: s.trimmed("url"), Body: s.text("body"), ContentType: cmp.Or(s.trimmed("contentType"), ContentTypeJSON),
	}
	validateGatewayURL(&errs, g, allowHTTP)
	g.Headers = s.headers(&errs)
	if g.ContentType != ContentTypeJSON && g.ContentType != ContentTypeForm {
		errs.add("contentType", "expected %s or %s", ContentTypeJSON, ContentTypeForm)
	}
	validateBody(&errs, g)
	g.RootCAs = s.rootCAs(&errs)
	if err := errs.toError(); err != nil {
		return nil, err
	}
	return g, nil
}

// Port returns the port of the URL, or 0 if the URL is invalid.
func (g SMSGateway) Port() int {
	address, err := g.parseURL("1")
	if err != nil {
		return 0
	}
	return parsePort(cmp.Or(address.Port(), map[string]string{"http": "80", "https": "443"}[address.Scheme]))
}

// parseURL parses the URL with a value in place of its placeholders.
func (g SMSGateway) parseURL(value string) (*url.URL, error) {
	return url.Parse(strings.NewReplacer(PlaceholderTo, value, PlaceholderText, value).Replace(g.URL))
}

func validateGatewayURL(errs *ErrorList, g *SMSGateway, allowHTTP bool) {
	address, err := g.parseURL("1")
	changed, changedErr := g.parseURL("2")
	switch {
	case err != nil || changedErr != nil || address.Opaque != "" || address.Hostname() == "" || address.Scheme != "https" && address.Scheme != "http":
		errs.add("url", "expected a gateway URL, such as https://sms.example/send")
	case address.Scheme == "http" && !allowHTTP:
		errs.add("url", "expected an https URL; http is allowed only in development")
	case address.Host != changed.Host:
		errs.add("url", "placeholders are allowed only in the path and the query")
	case g.Port() == 0:
		errs.add("url", "expected a port from 1 to 65535, or none")
	case address.User != nil:
		errs.add("url", "must not contain a user or password; set headers to Authorization: Basic <base64 of user:password> instead")
	case strings.Contains(g.URL, "#"):
		errs.add("url", "must not contain a fragment (#)")
	}
}

// validateBody validates that the body is valid for all values of the placeholders, and
// that the request contains both placeholders. In JSON, placeholders are allowed only
// within strings.
func validateBody(errs *ErrorList, g *SMSGateway) {
	switch {
	case g.ContentType == ContentTypeJSON && !json.Valid([]byte(g.Body)):
		errs.add("body", `expected JSON, with placeholders in strings, such as {"to": "{to}", "text": "{text}"}`)
		return
	case g.ContentType == ContentTypeForm && !isForm(g.Body):
		errs.add("body", "expected a form such as to={to}&text={text}, with other braces and spaces escaped")
		return
	}
	for _, placeholder := range []string{PlaceholderTo, PlaceholderText} {
		if !strings.Contains(g.Body, placeholder) && !strings.Contains(g.URL, placeholder) {
			errs.add("body", "expected the placeholder %s, here or in url", placeholder)
		}
	}
}

func isForm(text string) bool {
	_, err := url.ParseQuery(text)
	return err == nil && !strings.ContainsFunc(text, isSpaceOrInvisible)
}

// reservedHeaders are the headers that determine how the body is sent. Users must not set
// them.
var reservedHeaders = []string{
	"Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Host", "Connection", "Te", "Trailer", "Upgrade", "Expect",
}

// headers parses lines of the form "Name: value".
func (s senderSettings) headers(errs *ErrorList) http.Header {
	headers := http.Header{}
	for i, line := range strings.Split(s.text("headers"), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name, value = http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch {
		case !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value):
			errs.add("headers", "line %d: expected a name, a colon and a value, such as Authorization: Bearer <token>", i+1)
		case slices.Contains(reservedHeaders, name):
			errs.add("headers", "line %d: %s is set automatically and cannot be configured", i+1, name)
		}
		headers.Add(name, value)
	}
	return headers
}
