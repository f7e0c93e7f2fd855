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

	"github.com/anamnesis-dev/anamnesis/apiserver/reload"
)

// The files of a directory of settings: how to reach a mail server and a
// gateway for text messages. What is left out, or empty, has its default.
var (
	smtpFiles = []string{
		"smtp.host", "smtp.port", "smtp.username", "smtp.password", "smtp.from", "smtp.tls", "smtp.ca.crt",
	}
	smsFiles = []string{"sms.url", "sms.headers", "sms.body", "sms.contentType", "sms.ca.crt"}
)

// settings are the contents of the files of one channel, by name.
type settings map[string]string

// newSettings takes the named files of a directory. One line break at the end
// is not part of a value: editors and pipes leave one.
func newSettings(files reload.Files, directory string, names []string) settings {
	s := settings{}
	for _, name := range names {
		value := strings.TrimSuffix(strings.TrimSuffix(string(files[filepath.Join(directory, name)]), "\n"), "\r")
		if value != "" {
			s[name] = value
		}
	}
	return s
}

// word is a value that has no spaces around it.
func (s settings) word(name string) string { return strings.TrimSpace(s[name]) }

// parseMailer reads how to send e-mail. It is nil when no file says anything.
// Errors name the file and what would be right, and no value.
func parseMailer(s settings) (*Mailer, error) {
	if len(s) == 0 {
		return nil, nil
	}
	m := &Mailer{Host: s.word("smtp.host"), Username: s["smtp.username"], Password: s["smtp.password"]}
	var wrong [5]error
	if !isHost(m.Host) {
		wrong[0] = errors.New("smtp.host: expected the name of a mail server, such as smtp.acme.example, without a port")
	}
	m.Encryption, wrong[1] = parseEncryption(s.word("smtp.tls"))
	m.Port, wrong[2] = parsePort(s.word("smtp.port"), m.Encryption)
	m.From, wrong[3] = parseFrom(s.word("smtp.from"))
	m.Roots, wrong[4] = parseRoots("smtp.ca.crt", s)
	if err := errors.Join(append(wrong[:], checkSignIn(m))...); err != nil {
		return nil, err
	}
	return m, nil
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$`)

func isHost(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil || len(text) <= 253 && hostName.MatchString(text)
}

func parseEncryption(text string) (Encryption, error) {
	switch e := Encryption(text); e {
	case "":
		return STARTTLS, nil
	case STARTTLS, ImplicitTLS:
		return e, nil
	default:
		return "", errors.New("smtp.tls: expected starttls, or tls for a connection that is encrypted from the beginning")
	}
}

// The usual ports of mail servers.
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

// isPort says whether a text is a port, or empty.
func isPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && port > 0
}

func parseFrom(text string) (mail.Address, error) {
	wrong := errors.New("smtp.from: expected an address such as no-reply@acme.example or Acme <no-reply@acme.example>")
	address, err := mail.ParseAddress(text)
	if err != nil || !isAddress(address.Address) || address.Name != "" && !isLine(address.Name, mostOfAddress) {
		return mail.Address{}, wrong
	}
	return *address, nil
}

func checkSignIn(m *Mailer) error {
	if (m.Username == "") != (m.Password == "") {
		return errors.New("smtp.username, smtp.password: expected both, or none for a server that asks for none")
	}
	if strings.ContainsAny(m.Username+m.Password, "\x00\r\n") {
		return errors.New("smtp.username, smtp.password: expected one line each")
	}
	return nil
}

// parseRoots reads who may sign the certificate of a server, nil when that is
// left to the system.
func parseRoots(name string, s settings) (*x509.CertPool, error) {
	if s[name] == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(s[name])) {
		return nil, fmt.Errorf("%s: expected certificates in PEM", name)
	}
	return pool, nil
}

// parseGateway reads how to send text messages. It is nil when no file says
// anything. Errors name the file and what would be right, and no value.
func parseGateway(s settings, development bool) (*Gateway, error) {
	if len(s) == 0 {
		return nil, nil
	}
	g := &Gateway{URL: s.word("sms.url"), Body: s["sms.body"]}
	var wrong [5]error
	wrong[0] = checkURL(g.URL, development)
	g.Headers, wrong[1] = parseHeaders(s["sms.headers"])
	g.ContentType, wrong[2] = parseContentType(s.word("sms.contentType"))
	wrong[3] = checkBody(g)
	g.Roots, wrong[4] = parseRoots("sms.ca.crt", s)
	if err := errors.Join(wrong[:]...); err != nil {
		return nil, err
	}
	return g, nil
}

// checkURL judges an address by what it is with something filled in.
func checkURL(text string, development bool) error {
	g := Gateway{URL: text}
	address, err := url.Parse(g.address("1", "x"))
	other, otherErr := url.Parse(g.address("2", "y"))
	switch {
	case err != nil || otherErr != nil || address.Opaque != "" || address.Host == "" || address.Scheme != "https" && address.Scheme != "http":
		return errors.New("sms.url: expected the address of a gateway, such as https://sms.example/send")
	case address.Scheme == "http" && !development:
		return errors.New("sms.url: expected https; http is for development alone")
	case address.Host != other.Host || address.Scheme != other.Scheme:
		return errors.New("sms.url: expected placeholders in the path and the query only")
	case !isPort(address.Port()):
		return errors.New("sms.url: expected a port from 1 to 65535, or none")
	case address.User != nil:
		return errors.New("sms.url: expected no user and password in it; put them into sms.headers as Authorization: Basic <base64 of user:password>")
	case address.Fragment != "" || strings.Contains(text, "#"):
		return errors.New("sms.url: expected nothing after a #, which is never sent")
	}
	return nil
}

func parseContentType(text string) (string, error) {
	switch text {
	case "":
		return typeJSON, nil
	case typeJSON, typeForm:
		return text, nil
	default:
		return "", fmt.Errorf("sms.contentType: expected %s or %s", typeJSON, typeForm)
	}
}

// checkBody sees that a body is one whatever is filled in, and that number and
// text are sent at all. A placeholder outside of a string is no JSON.
func checkBody(g *Gateway) error {
	switch {
	case g.ContentType == typeJSON && !json.Valid([]byte(g.Body)):
		return errors.New(`sms.body: expected JSON, with placeholders in strings, such as {"to": "{to}", "text": "{text}"}`)
	case g.ContentType == typeForm && !isForm(g.Body):
		return errors.New("sms.body: expected a form such as to={to}&text={text}, in which other braces and spaces are escaped")
	}
	for _, placeholder := range []string{placeholderTo, placeholderText} {
		if !strings.Contains(g.Body, placeholder) && !strings.Contains(g.URL, placeholder) {
			return fmt.Errorf("sms.body: expected the placeholder %s, there or in sms.url", placeholder)
		}
	}
	return nil
}

func isForm(text string) bool {
	_, err := url.ParseQuery(text)
	return err == nil && !strings.ContainsFunc(text, isControlOrSpace)
}

// ours are the headers that say how a body is sent, which is not for settings
// to say.
var ours = map[string]bool{
	"Content-Type": true, "Content-Length": true, "Content-Encoding": true, "Transfer-Encoding": true, "Host": true,
	"Connection": true, "Te": true, "Trailer": true, "Upgrade": true, "Expect": true,
}

// parseHeaders reads lines of a name, a colon and a value.
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
		case ours[name]:
			return nil, fmt.Errorf("sms.headers: line %d: expected another header than %s, which follows from the rest", i+1, name)
		}
		headers.Add(name, value)
	}
	return headers, nil
}
