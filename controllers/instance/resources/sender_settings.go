// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/http/httpguts"
)

// senderSettings are the content of a Secret, interpreted as the server does. Exactly
// the settings that the server would reject are rejected here, where the platform team
// sees the error. testdata/senders.yaml tests both implementations against the same
// cases.
type senderSettings map[string][]byte

// text returns a value without the trailing line break that editors and pipes add.
func (s senderSettings) text(key string) string {
	return strings.TrimSuffix(strings.TrimSuffix(string(s[key]), "\n"), "\r")
}

// trimmed returns a value without surrounding spaces.
func (s senderSettings) trimmed(key string) string { return strings.TrimSpace(s.text(key)) }

// hostNamePattern matches the host name of a mail server.
var hostNamePattern = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$`)

func validateSMTP(s senderSettings) error {
	host, username, password := s.trimmed("host"), s.text("username"), s.text("password")
	if _, err := netip.ParseAddr(host); err != nil && (len(host) > 253 || !hostNamePattern.MatchString(host)) {
		return errors.New("host is neither a hostname nor an IP address: use one such as smtp.acme.example")
	}
	if !isSenderAddress(s.trimmed("from")) {
		return errors.New("from is not an email address: use one such as Acme <no-reply@acme.example>")
	}
	if !slices.Contains([]string{"", "starttls", "tls"}, s.trimmed("tls")) {
		return errors.New("tls must be starttls or tls")
	}
	if (username == "") != (password == "") {
		return errors.New("only one of username and password is set: set both or neither")
	}
	if strings.ContainsAny(username+password, "\x00\r\n") {
		return errors.New("username or password contains a line break")
	}
	if smtpPort(s) == 0 {
		return errors.New("port must be a number from 1 to 65535")
	}
	return nil
}

// maxAddressLength is the maximum length of an address in bytes (RFC 5321, section
// 4.5.3.1.3), and of the name before it in characters.
const maxAddressLength = 254

// isSenderAddress reports whether a text is an address, with or without a name.
func isSenderAddress(text string) bool {
	address, err := mail.ParseAddress(text)
	if err != nil || len(address.Address) > maxAddressLength || len([]rune(address.Name)) > maxAddressLength {
		return false
	}
	bare, err := mail.ParseAddress(address.Address)
	invisible := func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }
	return err == nil && bare.Address == address.Address && bare.Name == "" &&
		!strings.ContainsFunc(address.Address, isSpaceOrInvisible) && !strings.ContainsFunc(address.Name, invisible)
}

func isSpaceOrInvisible(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

// smtpPort returns the SMTP port. It defaults to 587, or to 465 with implicit TLS. It
// returns zero for an invalid port.
func smtpPort(s senderSettings) int32 {
	standard := "587"
	if s.trimmed("tls") == "tls" {
		standard = "465"
	}
	return parsePort(cmp.Or(s.trimmed("port"), standard))
}

func parsePort(text string) int32 {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int32(port)
}

const (
	contentTypeJSON = "application/json"
	contentTypeForm = "application/x-www-form-urlencoded"
)

func validateSMS(s senderSettings) error {
	if err := validateGateway(s); err != nil {
		return err
	}
	body, kind := s.text("body"), cmp.Or(s.trimmed("contentType"), contentTypeJSON)
	switch {
	case kind != contentTypeJSON && kind != contentTypeForm:
		return errors.New("contentType must be application/json or application/x-www-form-urlencoded")
	case kind == contentTypeJSON && !json.Valid([]byte(body)):
		return errors.New(`body must be JSON with placeholders inside strings, such as {"to": "{to}", "text": "{text}"}`)
	case kind == contentTypeForm && !isForm(body):
		return errors.New("body must be a form, such as to={to}&text={text}")
	}
	for _, placeholder := range []string{"{to}", "{text}"} {
		if !strings.Contains(body, placeholder) && !strings.Contains(s.trimmed("url"), placeholder) {
			return errors.New("body and url lack the placeholder " + placeholder + ": add it where the number or the message goes")
		}
	}
	return validateHeaders(s.text("headers"))
}

func isForm(text string) bool {
	_, err := url.ParseQuery(text)
	return err == nil && !strings.ContainsFunc(text, isSpaceOrInvisible)
}

// gatewayURL returns the gateway's URL with filling in place of its placeholders.
func (s senderSettings) gatewayURL(filling string) (*url.URL, error) {
	return url.Parse(strings.NewReplacer("{to}", filling, "{text}", filling).Replace(s.trimmed("url")))
}

func validateGateway(s senderSettings) error {
	gateway, err := s.gatewayURL("1")
	other, otherErr := s.gatewayURL("2")
	switch {
	case err != nil || otherErr != nil || gateway.Scheme != "https" || gateway.Opaque != "" || gateway.Hostname() == "" || gatewayPort(s) == 0:
		return errors.New("url is not a valid https:// URL: sign-in codes must not be sent unencrypted")
	case gateway.Host != other.Host:
		return errors.New("url has a placeholder before its path: use placeholders in the path or query only")
	case gateway.User != nil:
		return errors.New("url contains a username or password: set them in headers as Authorization: Basic <base64 of user:password>")
	case strings.Contains(s.trimmed("url"), "#"):
		return errors.New("url has a fragment after #, which is never sent: remove it")
	}
	return nil
}

func gatewayPort(s senderSettings) int32 {
	gateway, err := s.gatewayURL("1")
	if err != nil {
		return 0
	}
	return parsePort(cmp.Or(gateway.Port(), "443"))
}

// reservedHeaders are the headers that other settings determine.
var reservedHeaders = map[string]bool{
	"Content-Type": true, "Content-Length": true, "Content-Encoding": true, "Transfer-Encoding": true, "Host": true,
	"Connection": true, "Te": true, "Trailer": true, "Upgrade": true, "Expect": true,
}

func validateHeaders(text string) error {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name = http.CanonicalHeaderKey(strings.TrimSpace(name))
		switch {
		case !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(strings.TrimSpace(value)):
			return errors.New("headers has a line that does not match Name: value")
		case reservedHeaders[name]:
			return errors.New("headers sets " + name + ", which the server sets itself: remove it")
		}
	}
	return nil
}
