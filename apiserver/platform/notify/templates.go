// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"math"
	"strconv"
	"sync"
	"time"

	"golang.org/x/text/feature/plural"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/i18n"
)

// builtinTemplates loads the embedded templates once. Tests verify that they are
// valid.
var builtinTemplates = sync.OnceValue(func() *i18n.Catalog {
	templates, err := i18n.Load(content.Texts, "messages")
	if err != nil {
		panic(err)
	}
	return templates
})

// A renderedMessage is the text of a message. Text messages have no subject.
type renderedMessage struct{ subject, text string }

// render returns the text of a message.
func (m Message) render() renderedMessage {
	templates := builtinTemplates().Match(m.Language)
	fill := func(id string) string {
		return templates.Text(id, "code", m.Code, "tenant", m.TenantName, "minutes", formatMinutes(templates, m.ValidFor))
	}
	if m.Channel == TextMessage {
		return renderedMessage{text: fill("oneTimePassword.text")}
	}
	return renderedMessage{subject: fill("oneTimePassword.subject"), text: fill("oneTimePassword.body")}
}

// formatMinutes formats a validity period in whole minutes, at least one.
func formatMinutes(templates *i18n.Texts, valid time.Duration) string {
	n, form := max(1, int(math.Floor(valid.Minutes()))), "minutes.other"
	if plural.Cardinal.MatchPlural(templates.Tag, n, 0, 0, 0, 0) == plural.One {
		form = "minutes.one"
	}
	return templates.Text(form, "n", strconv.Itoa(n))
}
