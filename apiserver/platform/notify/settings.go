// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
)

// The files in a settings directory, which configure a mail server and an SMS gateway.
// A missing or empty file means the default.
var (
	smtpFiles = []string{
		"smtp.host", "smtp.port", "smtp.username", "smtp.password", "smtp.from", "smtp.tls", "smtp.ca.crt",
	}
	smsFiles = []string{"sms.url", "sms.headers", "sms.body", "sms.contentType", "sms.ca.crt"}
)

// channelSettings are the contents of the files of one channel, by name.
type channelSettings map[string]string

// newSettings returns the named files of a directory. It strips one trailing line
// break, which editors and pipes add.
func newSettings(files reload.Files, directory string, names []string) channelSettings {
	s := channelSettings{}
	for _, name := range names {
		value := strings.TrimSuffix(strings.TrimSuffix(string(files[filepath.Join(directory, name)]), "\n"), "\r")
		if value != "" {
			s[name] = value
		}
	}
	return s
}

// trimmed returns a value without surrounding white space.
func (s channelSettings) trimmed(name string) string { return strings.TrimSpace(s[name]) }

// parseMailer parses the email settings. It returns nil if they are all empty. Errors
// name the file and the expected format, never the value.
func parseMailer(s channelSettings) (*Mailer, error) {
	if len(s) == 0 {
		return nil, nil
	}
	m := &Mailer{Host: s.trimmed("smtp.host"), Username: s["smtp.username"], Password: s["smtp.password"]}
	var wrong [5]error
	if !isHostname(m.Host) {
		wrong[0] = errors.New("smtp.host: expected the host name of a mail server, such as smtp.acme.example, without a port")
	}
	m.Encryption, wrong[1] = parseEncryption(s.trimmed("smtp.tls"))
	m.Port, wrong[2] = parsePort(s.trimmed("smtp.port"), m.Encryption)
	m.From, wrong[3] = parseFromAddress(s.trimmed("smtp.from"))
	m.RootCAs, wrong[4] = parseRootCAs("smtp.ca.crt", s)
	if err := errors.Join(append(wrong[:], checkCredentials(m))...); err != nil {
		return nil, err
	}
	return m, nil
}

var hostnamePattern = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$`)

func isHostname(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil || len(text) <= 253 && hostnamePattern.MatchString(text)
}

func parseEncryption(text string) (Encryption, error) {
	switch e := Encryption(text); e {
	case "":
		return STARTTLS, nil
	case STARTTLS, ImplicitTLS:
		return e, nil
	default:
		return "", errors.New("smtp.tls: expected starttls, or tls for implicit TLS")
	}
}

// Well-known ports of mail servers.
const (
	portSTARTTLS    = 587
	portImplicitTLS = 465
)

func parsePort(text string, e Encryption) (int, error) {
	if text == "" {
		return map[Encryption]int{STARTTLS: portSTARTTLS, ImplicitTLS: portImplicitTLS}[e], nil
	}
	if !isPort(text) {
		return 0, errors.New("smtp.port: expected a number from 1 to 65535")
	}
	return strconv.Atoi(text)
}

// isPort reports whether a text is a port number or empty.
func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && port > 0
}

func parseFromAddress(text string) (mail.Address, error) {
	wrong := errors.New("smtp.from: expected an address such as no-reply@acme.example or Acme <no-reply@acme.example>")
	address, err := mail.ParseAddress(text)
	if err != nil || !isEmailAddress(address.Address) || address.Name != "" && !isSingleLine(address.Name, maxAddressLength) {
		return mail.Address{}, wrong
	}
	return *address, nil
}

func checkCredentials(m *Mailer) error {
	if (m.Username == "") != (m.Password == "") {
		return errors.New("smtp.username, smtp.password: expected both, or neither for a server without authentication")
	}
	if strings.ContainsAny(m.Username+m.Password, "\x00\r\n") {
		return errors.New("smtp.username, smtp.password: expected one line each")
	}
	return nil
}

// parseRootCAs parses the CA bundle for a server's certificate. It returns nil if the
// system's CAs apply.
func parseRootCAs(name string, s channelSettings) (*x509.CertPool, error) {
	if s[name] == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(s[name])) {
		return nil, fmt.Errorf("%s: expected certificates in PEM", name)
	}
	return pool, nil
}

// parseGateway parses the SMS gateway settings. It returns nil if they are all empty.
// Errors name the file and the expected format, never the value.
func parseGateway(s channelSettings, development bool) (*SMSGateway, error) {
	if len(s) == 0 {
		return nil, nil
	}
	g := &SMSGateway{URL: s.trimmed("sms.url"), Body: s["sms.body"]}
	var wrong [5]error
	wrong[0] = checkURL(g.URL, development)
	g.Headers, wrong[1] = parseHeaders(s["sms.headers"])
	g.ContentType, wrong[2] = parseContentType(s.trimmed("sms.contentType"))
	wrong[3] = checkBody(g)
	g.RootCAs, wrong[4] = parseRootCAs("sms.ca.crt", s)
	if err := errors.Join(wrong[:]...); err != nil {
		return nil, err
	}
	return g, nil
}

// checkURL validates a URL with its placeholders filled in.
func checkURL(text string, development bool) error {
	g := SMSGateway{URL: text}
	address, err := url.Parse(g.expandURL("1", "x"))
	other, otherErr := url.Parse(g.expandURL("2", "y"))
	switch {
	case err != nil || otherErr != nil || address.Opaque != "" || address.Host == "" || address.Scheme != "https" && address.Scheme != "http":
		return errors.New("sms.url: expected a gateway URL, such as https://sms.example/send")
	case address.Scheme == "http" && !development:
		return errors.New("sms.url: expected https; http is allowed in development only")
	case address.Host != other.Host || address.Scheme != other.Scheme:
		return errors.New("sms.url: expected placeholders in the path and the query only")
	case !isPort(address.Port()):
		return errors.New("sms.url: expected a port from 1 to 65535, or none")
	case address.User != nil:
		return errors.New("sms.url: expected no user and password in it; put them into sms.headers as Authorization: Basic <base64 of user:password>")
	case address.Fragment != "" || strings.Contains(text, "#"):
		return errors.New("sms.url: expected no fragment (#), which is never sent")
	}
	return nil
}

func parseContentType(text string) (string, error) {
	switch text {
	case "":
		return contentTypeJSON, nil
	case contentTypeJSON, contentTypeForm:
		return text, nil
	default:
		return "", fmt.Errorf("sms.contentType: expected %s or %s", contentTypeJSON, contentTypeForm)
	}
}

// checkBody verifies that the body stays valid whatever is filled in, and that it
// contains the number and the text. A placeholder outside a JSON string is invalid.
func checkBody(g *SMSGateway) error {
	switch {
	case g.ContentType == contentTypeJSON && !json.Valid([]byte(g.Body)):
		return errors.New(`sms.body: expected JSON, with placeholders in strings, such as {"to": "{to}", "text": "{text}"}`)
	case g.ContentType == contentTypeForm && !isForm(g.Body):
		return errors.New("sms.body: expected a form such as to={to}&text={text}, with other braces and spaces escaped")
	}
	for _, placeholder := range []string{placeholderTo, placeholderText} {
		if !strings.Contains(g.Body, placeholder) && !strings.Contains(g.URL, placeholder) {
			return fmt.Errorf("sms.body: expected the placeholder %s, here or in sms.url", placeholder)
		}
	}
	return nil
}

func isForm(text string) bool {
	_, err := url.ParseQuery(text)
	return err == nil && !strings.ContainsFunc(text, isControlOrSpace)
}

// reservedHeaders are the headers that determine how the body is sent. Settings must
// not set them.
var reservedHeaders = map[string]bool{
	"Content-Type": true, "Content-Length": true, "Content-Encoding": true, "Transfer-Encoding": true, "Host": true,
	"Connection": true, "Te": true, "Trailer": true, "Upgrade": true, "Expect": true,
}

// parseHeaders parses lines of the form "name: value".
func parseHeaders(text string) (http.Header, error) {
	headers := http.Header{}
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, cut := strings.Cut(line, ":")
		name, value = http.CanonicalHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch {
		case !cut || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value):
			return nil, fmt.Errorf("sms.headers: line %d: expected a name, a colon and a value, such as Authorization: Bearer <token>", i+1)
		case reservedHeaders[name]:
			return nil, fmt.Errorf("sms.headers: line %d: %s is set automatically and cannot be configured", i+1, name)
		}
		headers.Add(name, value)
	}
	return headers, nil
}
