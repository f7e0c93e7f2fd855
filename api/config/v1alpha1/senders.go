// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"crypto/x509"
	"strconv"
	"strings"
	"unicode"
)

// A SenderFormat describes the settings of one kind of message sender. Users store the
// settings in a Secret. The server reads each setting from a file in the directory of
// --notifications-dir. The file name consists of the sender's name, a dot and the key, such
// as smtp.host.
type SenderFormat struct {
	// Name is the prefix of the files, without the dot.
	Name string
	// Keys are the keys of the Secret.
	Keys []string
}

// senderCAKey is the Secret key for a PEM CA bundle that is used instead of the system
// roots to verify the server that the sender connects to.
const senderCAKey = "ca.crt"

// The formats of message senders. They must not be modified.
var (
	SMTPFormat       = SenderFormat{"smtp", []string{"host", "port", "username", "password", "from", "tls", senderCAKey}}
	SMSGatewayFormat = SenderFormat{"sms", []string{"url", "headers", "body", "contentType", senderCAKey}}
)

// FileName returns the name of the file that holds a setting.
func (f SenderFormat) FileName(key string) string { return f.Name + "." + key }

// FileNames returns the names of all files.
func (f SenderFormat) FileNames() []string {
	names := make([]string, len(f.Keys))
	for i, key := range f.Keys {
		names[i] = f.FileName(key)
	}
	return names
}

// Files returns the files for the content of a Secret, by name. It omits unknown keys.
func (f SenderFormat) Files(content map[string][]byte) map[string][]byte {
	files := map[string][]byte{}
	for _, key := range f.Keys {
		if value, ok := content[key]; ok {
			files[f.FileName(key)] = value
		}
	}
	return files
}

// Content is the inverse of Files. It ignores the files of other senders.
func (f SenderFormat) Content(files map[string][]byte) map[string][]byte {
	content := map[string][]byte{}
	for _, key := range f.Keys {
		if value, ok := files[f.FileName(key)]; ok {
			content[key] = value
		}
	}
	return content
}

// IsEmpty reports whether the content of a Secret has no setting of this format.
func (f SenderFormat) IsEmpty(content map[string][]byte) bool {
	for _, key := range f.Keys {
		if senderSettings(content).text(key) != "" {
			return false
		}
	}
	return true
}

// senderSettings is the content of a sender's Secret. Error messages contain keys and
// expected formats, but never values, which may be secret.
type senderSettings map[string][]byte

// text returns a value without the trailing line break that editors and pipes add.
func (s senderSettings) text(key string) string {
	return strings.TrimSuffix(strings.TrimSuffix(string(s[key]), "\n"), "\r")
}

// trimmed returns a value without surrounding whitespace.
func (s senderSettings) trimmed(key string) string { return strings.TrimSpace(s.text(key)) }

// rootCAs parses the CA bundle. It returns nil if the system's CAs apply.
func (s senderSettings) rootCAs(errs *ErrorList) *x509.CertPool {
	bundle := s.text(senderCAKey)
	if bundle == "" {
		return nil
	}
	pool, err := parseRootCAs([]byte(bundle))
	errs.addError(senderCAKey, err)
	return pool
}

// parsePort parses a port number. It returns 0 for an invalid port.
func parsePort(text string) int {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int(port)
}

func isSpaceOrInvisible(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

func isInvisible(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }
