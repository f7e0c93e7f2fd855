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

// senderSettings are the content of a Secret, read as the server reads it: what it
// would not send by is refused here, where a platform team sees it, and nothing
// else. testdata/senders.yaml holds both to that.
type senderSettings map[string][]byte

// text is a value without the line break that editors and pipes leave at its end.
func (s senderSettings) text(key string) string {
	return strings.TrimSuffix(strings.TrimSuffix(string(s[key]), "\n"), "\r")
}

// word is a value without spaces around it.
func (s senderSettings) word(key string) string { return strings.TrimSpace(s.text(key)) }

// senderHost is the name of a mail server.
var senderHost = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$`)

func checkSMTP(s senderSettings) error {
	host, username, password := s.word("host"), s.text("username"), s.text("password")
	if _, err := netip.ParseAddr(host); err != nil && (len(host) > 253 || !senderHost.MatchString(host)) {
		return errors.New("host is neither the name of a host nor an address: such as smtp.acme.example")
	}
	if !isSenderAddress(s.word("from")) {
		return errors.New("from is no address of e-mail: such as Acme <no-reply@acme.example>")
	}
	if !slices.Contains([]string{"", "starttls", "tls"}, s.word("tls")) {
		return errors.New("tls is neither starttls nor tls")
	}
	if (username == "") != (password == "") {
		return errors.New("of username and password there is only one: give both or none")
	}
	if strings.ContainsAny(username+password, "\x00\r\n") {
		return errors.New("username or password is more than one line")
	}
	if smtpPort(s) == 0 {
		return errors.New("port is no number from 1 to 65535")
	}
	return nil
}

// mostOfAddress is how many bytes an address has at most (RFC 5321, section
// 4.5.3.1.3), and how many characters the name before it.
const mostOfAddress = 254

// isSenderAddress says whether a text is an address, with or without a name.
func isSenderAddress(text string) bool {
	address, err := mail.ParseAddress(text)
	if err != nil || len(address.Address) > mostOfAddress || len([]rune(address.Name)) > mostOfAddress {
		return false
	}
	bare, err := mail.ParseAddress(address.Address)
	invisible := func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }
	return err == nil && bare.Address == address.Address && bare.Name == "" &&
		!strings.ContainsFunc(address.Address, isSpaceOrInvisible) && !strings.ContainsFunc(address.Name, invisible)
}

func isSpaceOrInvisible(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

// smtpPort is 587, or 465 with TLS from the first byte on, where the Secret says
// nothing else; zero for what is no port.
func smtpPort(s senderSettings) int32 {
	standard := "587"
	if s.word("tls") == "tls" {
		standard = "465"
	}
	return portOf(cmp.Or(s.word("port"), standard))
}

func portOf(text string) int32 {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int32(port)
}

const (
	smsJSON = "application/json"
	smsForm = "application/x-www-form-urlencoded"
)

func checkSMS(s senderSettings) error {
	if err := checkGateway(s); err != nil {
		return err
	}
	body, kind := s.text("body"), cmp.Or(s.word("contentType"), smsJSON)
	switch {
	case kind != smsJSON && kind != smsForm:
		return errors.New("contentType is neither application/json nor application/x-www-form-urlencoded")
	case kind == smsJSON && !json.Valid([]byte(body)):
		return errors.New(`body is no JSON with placeholders in strings: such as {"to": "{to}", "text": "{text}"}`)
	case kind == smsForm && !isForm(body):
		return errors.New("body is no form: such as to={to}&text={text}")
	}
	for _, placeholder := range []string{"{to}", "{text}"} {
		if !strings.Contains(body, placeholder) && !strings.Contains(s.word("url"), placeholder) {
			return errors.New("body lacks " + placeholder + ", and so does url: in its place the number or the message is put")
		}
	}
	return checkHeaders(s.text("headers"))
}

func isForm(text string) bool {
	_, err := url.ParseQuery(text)
	return err == nil && !strings.ContainsFunc(text, isSpaceOrInvisible)
}

// gateway is the address with something filled in.
func (s senderSettings) gateway(filling string) (*url.URL, error) {
	return url.Parse(strings.NewReplacer("{to}", filling, "{text}", filling).Replace(s.word("url")))
}

func checkGateway(s senderSettings) error {
	gateway, err := s.gateway("1")
	other, otherErr := s.gateway("2")
	switch {
	case err != nil || otherErr != nil || gateway.Scheme != "https" || gateway.Opaque != "" || gateway.Hostname() == "" || gatewayPort(s) == 0:
		return errors.New("url is no https:// address: codes that let people in would be read along over http")
	case gateway.Host != other.Host:
		return errors.New("url has a placeholder before its path")
	case gateway.User != nil:
		return errors.New("url has a user or a password: put them into headers as Authorization: Basic <base64 of user:password>")
	case strings.Contains(s.word("url"), "#"):
		return errors.New("url has a part after a #, which is never sent")
	}
	return nil
}

func gatewayPort(s senderSettings) int32 {
	gateway, err := s.gateway("1")
	if err != nil {
		return 0
	}
	return portOf(cmp.Or(gateway.Port(), "443"))
}

// ofTheBody are the headers that follow from the rest of the settings.
var ofTheBody = map[string]bool{
	"Content-Type": true, "Content-Length": true, "Content-Encoding": true, "Transfer-Encoding": true, "Host": true,
	"Connection": true, "Te": true, "Trailer": true, "Upgrade": true, "Expect": true,
}

func checkHeaders(text string) error {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name = http.CanonicalHeaderKey(strings.TrimSpace(name))
		switch {
		case !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(strings.TrimSpace(value)):
			return errors.New("headers has a line that is not like Name: value")
		case ofTheBody[name]:
			return errors.New("headers has a line with " + name + ", which follows from the rest")
		}
	}
	return nil
}
