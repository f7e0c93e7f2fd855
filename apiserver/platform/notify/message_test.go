// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// newEmail returns a valid email after applying edits.
func newEmail(edits ...func(*Message)) Message {
	m := Message{
		Kind: OneTimePassword, Channel: Email, Recipient: "ada@acme.example", Language: "en", TenantName: "acme",
		Code: "493021", ValidFor: 10 * time.Minute,
	}
	for _, edit := range edits {
		edit(&m)
	}
	return m
}

// newTextMessage returns newEmail as a text message.
func newTextMessage(edits ...func(*Message)) Message {
	m := newEmail()
	m.Channel, m.Recipient = TextMessage, "+4930123456789"
	for _, edit := range edits {
		edit(&m)
	}
	return m
}

func TestMessageValidate(t *testing.T) {
	t.Parallel()
	to := func(recipient string) Message { return newEmail(func(m *Message) { m.Recipient = recipient }) }
	call := func(recipient string) Message { return newTextMessage(func(m *Message) { m.Recipient = recipient }) }
	with := func(edit func(*Message)) Message { return newEmail(edit) }
	const badAddress, badNumber = "expected an email address", "expected an E.164 phone number"
	for name, test := range map[string]struct {
		message Message
		problem string
	}{
		"mail":                  {newEmail(), ""},
		"text":                  {newTextMessage(), ""},
		"plus in an address":    {to("ada+x@acme.example"), ""},
		"another script":        {to("ännchen@acme.example"), ""},
		"a header more":         {to("ada@acme.example\r\nBcc: eve@evil.example"), badAddress},
		"a line feed":           {to("ada@acme.example\n"), badAddress},
		"two addresses":         {to("ada@acme.example, eve@evil.example"), badAddress},
		"a name":                {to("Ann <ada@acme.example>"), badAddress},
		"a quoted part":         {to(`"a b"@acme.example`), badAddress},
		"no domain":             {to("ann"), badAddress},
		"no address":            {to(""), badAddress},
		"a long address":        {to(strings.Repeat("a", 250) + "@b.example"), badAddress},
		"a bracket":             {to("ada@acme.example>"), badAddress},
		"no plus":               {call("4930123456789"), badNumber},
		"spaces":                {call("+49 30 123456789"), badNumber},
		"letters":               {call("+493012ABCDE"), badNumber},
		"a long number":         {call("+1234567890123456"), badNumber},
		"a number and a line":   {call("+4930123456789\n"), badNumber},
		"another kind":          {with(func(m *Message) { m.Kind = "advertisement" }), "advertisement"},
		"another channel":       {with(func(m *Message) { m.Channel = "pigeon" }), "pigeon"},
		"no tenant":             {with(func(m *Message) { m.TenantName = "" }), "tenant"},
		"a tenant of two lines": {with(func(m *Message) { m.TenantName = "acme\r\nBcc: x@y" }), "tenant"},
		"a tenant turned round": {with(func(m *Message) { m.TenantName = "acme\u202e" }), "tenant"},
		"a long tenant":         {with(func(m *Message) { m.TenantName = strings.Repeat("a", 65) }), "tenant"},
		"a tenant in bad UTF-8": {with(func(m *Message) { m.TenantName = "\xff" }), "tenant"},
		"no code":               {with(func(m *Message) { m.Code = "" }), "invalid code"},
		"a code of two words":   {with(func(m *Message) { m.Code = "12 34" }), "invalid code"},
		"no time":               {with(func(m *Message) { m.ValidFor = 0 }), "validity period"},
	} {
		err := test.message.validate()
		if (err == nil) != (test.problem == "") || err != nil && !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: got error %v, want it to contain %q", name, err, test.problem)
		}
		if err != nil {
			expectRedacted(t, err.Error(), test.message)
		}
	}
}

// expectRedacted fails if a text contains the recipient or the code.
func expectRedacted(t testing.TB, text string, m Message) {
	t.Helper()
	for _, secret := range []string{m.Recipient, m.Code} {
		if len(secret) > 3 && strings.Contains(text, secret) {
			t.Errorf("text contains a secret: %s", text)
		}
	}
}

// TestMessageFormatIsRedacted checks that formatting a message in any way does not
// reveal its secrets.
func TestMessageFormatIsRedacted(t *testing.T) {
	t.Parallel()
	m := newEmail()
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "message", m)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "message", &m)
	inJSON, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		m.String(), fmt.Sprint(m), fmt.Sprintf("%v %+v %#v %s %q %d", m, m, m, m, m, m), fmt.Sprintf("%+v", &m),
		fmt.Sprintf("%+v", []Message{m}), log.String(), string(inJSON),
	} {
		expectRedacted(t, text, m)
		if !strings.Contains(text, "one-time password by email") {
			t.Errorf("%s does not contain the kind of the message", text)
		}
	}
}
