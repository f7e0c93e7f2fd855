// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/language"
)

func TestMessageRender(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ language, subject, begins string }{
		{"en", "Your code for acme", "Your code to sign in to acme: 493021\n"},
		{"de", "Ihr Code für acme", "Ihr Code für die Anmeldung bei acme: 493021\n"},
		{"de-AT", "Ihr Code für acme", "Ihr Code"},
		{"fr, de;q=0.7, en;q=0.3", "Ihr Code für acme", "Ihr Code"},
		{"fr", "Your code for acme", "Your code"},
		{"", "Your code for acme", "Your code"},
		{"!", "Your code for acme", "Your code"},
		{"en-GB", "Your code for acme", "Your code"},
	} {
		got := newEmail(func(m *Message) { m.Language = test.language }).render()
		if got.subject != test.subject || !strings.HasPrefix(got.text, test.begins) {
			t.Errorf("%s: got %+v", test.language, got)
		}
	}
	got := newTextMessage(func(m *Message) { m.Language = "de" }).render()
	const want = "493021 ist Ihr Code für die Anmeldung bei acme. Er ist 10 Minuten gültig. Geben Sie ihn nicht weiter."
	if got != (renderedMessage{text: want}) {
		t.Errorf("got text message %+v", got)
	}
}

func TestFormatMinutes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		language string
		valid    time.Duration
		want     string
	}{
		{"en", time.Minute, "1 minute"}, {"en", 10 * time.Minute, "10 minutes"}, {"en", time.Second, "1 minute"},
		{"en", 119 * time.Second, "1 minute"}, {"de", time.Minute, "1 Minute"}, {"de", 2 * time.Minute, "2 Minuten"},
	} {
		if got := formatMinutes(builtinTemplates().Match(test.language), test.valid); got != test.want {
			t.Errorf("formatMinutes(%s) in %s = %q, want %q", test.valid, test.language, got, test.want)
		}
	}
}

// TestPlaceholdersAreExpandedOnce checks that placeholders in a tenant's name are not
// expanded.
func TestPlaceholdersAreExpandedOnce(t *testing.T) {
	t.Parallel()
	got := newTextMessage(func(m *Message) { m.TenantName = "{code}{n}" }).render().text
	if !strings.Contains(got, "{code}{n}") || strings.Count(got, "493021") != 1 {
		t.Errorf("got %q", got)
	}
}

// gsmCharacters are the characters of a 160-character text message (3GPP TS 23.038),
// as far as our templates need them.
var gsmCharacters = regexp.MustCompile(`^[A-Za-z0-9äöüÄÖÜßéàñ .,:;!?'"()+/-]*$`)

// TestTemplatesAreComplete checks that every language is complete, and every text
// message fits into one segment.
func TestTemplatesAreComplete(t *testing.T) {
	t.Parallel()
	v := builtinTemplates()
	if err := v.RequireIDs([]string{"oneTimePassword.subject", "oneTimePassword.body", "oneTimePassword.text", "minutes.one", "minutes.other"}); err != nil {
		t.Error(err)
	}
	if len(v.Languages()) != 3 || v.Languages()[0].Tag != language.English {
		t.Errorf("got templates in %d languages, %s first", len(v.Languages()), v.Languages()[0].Tag)
	}
	for _, templates := range v.Languages() {
		tag := templates.Tag
		for _, valid := range []time.Duration{time.Minute, 10 * time.Minute} {
			inLanguage := func(m *Message) { m.Language, m.ValidFor = tag.String(), valid }
			for _, m := range []Message{newEmail(inLanguage), newTextMessage(inLanguage)} {
				got := m.render()
				if strings.ContainsAny(got.subject+got.text, "{}") {
					t.Errorf("%s: placeholder was not expanded: %+v", tag, got)
				}
				for _, needed := range []string{m.Code, m.TenantName} {
					if !strings.Contains(got.text, needed) {
						t.Errorf("%s: %s is missing: %+v", tag, needed, got)
					}
				}
				if (got.subject == "") != (m.Channel == TextMessage) || strings.Contains(got.subject, m.Code) {
					t.Errorf("%s by %s: the subject is %q", tag, m.Channel, got.subject)
				}
				if m.Channel == TextMessage && (len([]rune(got.text)) > 160 || !gsmCharacters.MatchString(got.text)) {
					t.Errorf("%s: the text message has %d characters: %s", tag, len([]rune(got.text)), got.text)
				}
			}
		}
	}
}
