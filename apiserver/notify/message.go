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

// Channel is a way on which messages travel, as metrics and logs call it.
type Channel string

// The channels.
const (
	Email       Channel = "email"
	TextMessage Channel = "sms"
)

// channels are all that there are.
var channels = []Channel{Email, TextMessage}

// Kind says what a message is about.
type Kind string

// OneTimePassword is the kind of a message with a code to sign in.
const OneTimePassword Kind = "one-time password"

// Message is what a person is to be told. Its text form names neither the
// recipient nor the code, so that none reaches a log by mistake.
type Message struct {
	Kind    Kind
	Channel Channel
	// Recipient is an address such as ann@acme.example by e-mail, a number in
	// E.164 such as +4915112345678 by text message.
	Recipient string
	// Language is a language tag, or a list as in the header Accept-Language.
	// English where none of it is spoken.
	Language string
	// Tenant is what the person knows the tenant by: its name, or the id of the
	// instance. At most 64 characters.
	Tenant string
	// Code is the one-time password: up to 16 letters and digits.
	Code string
	// Valid is how long the code is good. Where a message could not be sent
	// before, it is not sent any more.
	Valid time.Duration
}

// String says what the message is, and neither to whom nor with which code.
func (m Message) String() string { return fmt.Sprintf("%s by %s", m.Kind, m.Channel) }

// GoString is String.
func (m Message) GoString() string { return m.String() }

// Format writes String whatever the verb.
func (m Message) Format(state fmt.State, _ rune) { _, _ = state.Write([]byte(m.String())) }

// LogValue is String.
func (m Message) LogValue() slog.Value { return slog.StringValue(m.String()) }

// MarshalText is String.
func (m Message) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

const (
	mostOfAddress = 254 // RFC 5321, section 4.5.3.1.3
	mostOfTenant  = 64
)

var (
	number = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	code   = regexp.MustCompile(`^[0-9A-Za-z]{1,16}$`)
)

// check refuses what cannot be sent to anybody, or would be read as something
// else on the way.
func (m Message) check() error {
	switch {
	case m.Kind != OneTimePassword:
		return fmt.Errorf("a message of the kind %q is not known; there is %q", m.Kind, OneTimePassword)
	case m.Channel != Email && m.Channel != TextMessage:
		return fmt.Errorf("the channel %q is not known; there are %q", m.Channel, channels)
	case m.Channel == Email && !isAddress(m.Recipient):
		return errors.New("the recipient is not an address such as ann@acme.example")
	case m.Channel == TextMessage && !number.MatchString(m.Recipient):
		return errors.New("the recipient is not a number in E.164 such as +4915112345678")
	case !isLine(m.Tenant, mostOfTenant):
		return fmt.Errorf("the name of the tenant is not one line of 1 to %d characters", mostOfTenant)
	case !code.MatchString(m.Code):
		return errors.New("the code is not 1 to 16 letters and digits")
	case m.Valid <= 0:
		return errors.New("the code is not good for any time")
	}
	return nil
}

// isAddress says whether a text is an address and nothing else.
func isAddress(text string) bool {
	if len(text) > mostOfAddress || strings.ContainsFunc(text, isControlOrSpace) {
		return false
	}
	address, err := mail.ParseAddress(text)
	return err == nil && address.Name == "" && address.Address == text
}

func isLine(text string, most int) bool {
	return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= most && !strings.ContainsFunc(text, isBreak)
}

func isControlOrSpace(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

// isBreak says whether a character ends a line or has none to see.
func isBreak(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }
