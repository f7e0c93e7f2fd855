// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"crypto/x509"
	"net/mail"
	"net/netip"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Encryption is how a connection to a mail server is encrypted. Unencrypted connections
// are not supported.
type Encryption string

// The encryption modes.
const (
	STARTTLS    Encryption = "starttls" // upgrades a plaintext connection before sending anything else
	ImplicitTLS Encryption = "tls"      // TLS from the first byte
)

// SMTP holds the settings of a mail server, in the format SMTPFormat.
type SMTP struct {
	// Host is a host name or an IP address. Required.
	Host string
	// Port defaults to 587, or to 465 with ImplicitTLS.
	Port int
	// Username and Password are both empty for a server without authentication.
	Username, Password string
	// From is the sender of all messages. Required.
	From mail.Address
	// Encryption is the key tls. Defaults to STARTTLS.
	Encryption Encryption
	// RootCAs are the CAs of the server's certificate. If nil, the system's apply.
	RootCAs *x509.CertPool
}

// String omits all settings, so that none is logged by mistake.
func (SMTP) String() string { return "SMTP settings" }

// ParseSMTP parses and validates the content of a Secret. It returns an ErrorList that
// names invalid keys and contains no values.
func ParseSMTP(content map[string][]byte) (*SMTP, error) {
	var errs ErrorList
	s := senderSettings(content)
	m := &SMTP{Host: s.trimmed("host"), Username: s.text("username"), Password: s.text("password")}
	if !isHostname(m.Host) {
		errs.add("host", "expected the host name of a mail server, such as smtp.acme.example, without a port")
	}
	m.Encryption = s.encryption(&errs)
	m.Port = s.smtpPort(&errs, m.Encryption)
	m.From = s.fromAddress(&errs)
	m.RootCAs = s.rootCAs(&errs)
	validateLogin(&errs, m)
	if err := errs.toError(); err != nil {
		return nil, err
	}
	return m, nil
}

var hostnamePattern = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$`)

func isHostname(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil || len(text) <= 253 && hostnamePattern.MatchString(text)
}

func (s senderSettings) encryption(errs *ErrorList) Encryption {
	switch e := Encryption(s.trimmed("tls")); e {
	case "":
		return STARTTLS
	case STARTTLS, ImplicitTLS:
		return e
	default:
		errs.add("tls", "expected starttls, or tls for implicit TLS")
		return ""
	}
}

// Well-known ports of mail servers.
const (
	portSTARTTLS    = 587
	portImplicitTLS = 465
)

func (s senderSettings) smtpPort(errs *ErrorList, e Encryption) int {
	text := s.trimmed("port")
	switch {
	case text == "" && e == ImplicitTLS:
		return portImplicitTLS
	case text == "":
		return portSTARTTLS
	}
	port := parsePort(text)
	if port == 0 {
		errs.add("port", "expected a number from 1 to 65535")
	}
	return port
}

// maxAddressLength is the maximum length of an address in bytes (RFC 5321, section
// 4.5.3.1.3), and of a display name in characters.
const maxAddressLength = 254

func (s senderSettings) fromAddress(errs *ErrorList) mail.Address {
	address, err := mail.ParseAddress(s.trimmed("from"))
	if err != nil || !isBareAddress(address.Address) || !isDisplayName(address.Name) {
		errs.add("from", "expected an address such as no-reply@acme.example or Acme <no-reply@acme.example>")
		return mail.Address{}
	}
	return *address
}

// isBareAddress reports whether text is an email address without a display name.
func isBareAddress(text string) bool {
	if len(text) > maxAddressLength || strings.ContainsFunc(text, isSpaceOrInvisible) {
		return false
	}
	address, err := mail.ParseAddress(text)
	return err == nil && address.Name == "" && address.Address == text
}

// isDisplayName reports whether text is a valid display name or empty.
func isDisplayName(text string) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= maxAddressLength && !strings.ContainsFunc(text, isInvisible)
}

func validateLogin(errs *ErrorList, m *SMTP) {
	if (m.Username == "") != (m.Password == "") {
		errs.add("password", "expected username and password, or neither for a server without authentication")
	}
	if strings.ContainsAny(m.Username+m.Password, "\x00\r\n") {
		errs.add("password", "expected username and password to be one line each")
	}
}
