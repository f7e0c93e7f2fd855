// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Channel is a means of delivery, as metrics and logs name it.
type Channel string

// The channels.
const (
	Email       Channel = "email"
	TextMessage Channel = "sms"
)

// allChannels lists all channels.
var allChannels = []Channel{Email, TextMessage}

// Kind is the purpose of a message.
type Kind string

// OneTimePassword is the kind of a message with a sign-in code.
const OneTimePassword Kind = "one-time password"

// Message is a message to a user. Its text form omits the recipient and the code, so
// that neither is logged by mistake.
type Message struct {
	Kind    Kind
	Channel Channel
	// Recipient is an address such as ann@acme.example for email, or an E.164 number such
	// as +4915112345678 for a text message.
	Recipient string
	// Language is a language tag or an Accept-Language header. Defaults to English if none
	// of the languages is available.
	Language string
	// TenantName is the name by which the person knows the tenant: its display name or the
	// instance's ID. At most 64 characters.
	TenantName string
	// Code is the one-time password: up to 16 letters and digits.
	Code string
	// ValidFor is how long the code is valid. A message still unsent after this time is
	// dropped.
	ValidFor time.Duration
}

// String returns the kind and channel of the message, without recipient and code.
func (m Message) String() string { return fmt.Sprintf("%s by %s", m.Kind, m.Channel) }

// GoString returns String.
func (m Message) GoString() string { return m.String() }

// Format writes String for every verb.
func (m Message) Format(state fmt.State, _ rune) { _, _ = state.Write([]byte(m.String())) }

// LogValue returns String.
func (m Message) LogValue() slog.Value { return slog.StringValue(m.String()) }

// MarshalText returns String.
func (m Message) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

const (
	maxAddressLength    = 254 // RFC 5321, section 4.5.3.1.3
	maxTenantNameLength = 64
)

var (
	phonePattern = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	codePattern  = regexp.MustCompile(`^[0-9A-Za-z]{1,16}$`)
)

// validate rejects a message that cannot be delivered, or that could be misinterpreted
// in transit.
func (m Message) validate() error {
	switch {
	case m.Kind != OneTimePassword:
		return fmt.Errorf("unknown message kind %q: expected %q", m.Kind, OneTimePassword)
	case m.Channel != Email && m.Channel != TextMessage:
		return fmt.Errorf("unknown channel %q: expected one of %q", m.Channel, allChannels)
	case m.Channel == Email && !isEmailAddress(m.Recipient):
		return errors.New("invalid recipient: expected an email address such as ann@acme.example")
	case m.Channel == TextMessage && !phonePattern.MatchString(m.Recipient):
		return errors.New("invalid recipient: expected an E.164 phone number such as +4915112345678")
	case !isSingleLine(m.TenantName, maxTenantNameLength):
		return fmt.Errorf("invalid tenant name: expected a single line of 1 to %d characters", maxTenantNameLength)
	case !codePattern.MatchString(m.Code):
		return errors.New("invalid code: expected 1 to 16 letters and digits")
	case m.ValidFor <= 0:
		return errors.New("missing validity period of the code")
	}
	return nil
}

// isEmailAddress reports whether a text is a bare email address.
func isEmailAddress(text string) bool {
	if len(text) > maxAddressLength || strings.ContainsFunc(text, isControlOrSpace) {
		return false
	}
	address, err := mail.ParseAddress(text)
	return err == nil && address.Name == "" && address.Address == text
}

func isSingleLine(text string, maxLength int) bool {
	return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= maxLength && !strings.ContainsFunc(text, isNonPrintable)
}

func isControlOrSpace(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

// isNonPrintable reports whether a character breaks a line or is invisible.
func isNonPrintable(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }
