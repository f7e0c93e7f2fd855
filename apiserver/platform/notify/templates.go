// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"embed"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// templateFiles has the words of each language in a file that is named by its tag.
//
//go:embed words/*.yaml
var templateFiles embed.FS

// templates are the templates of all messages in one language. The placeholders
// {code}, {minutes} and {tenant} are filled in; {n} is the number of minutes.
type templates struct {
	OneTimePassword struct {
		Subject string `yaml:"subject"` // email subject
		Body    string `yaml:"body"`    // email body, plain text
		Text    string `yaml:"text"`    // text message
	} `yaml:"oneTimePassword"`
	// Minutes are the words for a number of minutes, by plural form.
	Minutes struct {
		One   string `yaml:"one"`
		Other string `yaml:"other"`
	} `yaml:"minutes"`
}

// fallbackLanguage is used if none of the requested languages is available.
var fallbackLanguage = language.English

// A templateCatalog holds the templates of all languages.
type templateCatalog struct {
	matcher   language.Matcher
	tags      []language.Tag
	templates []templates
}

// builtinTemplates loads the embedded templates once. Tests verify that they are
// valid.
var builtinTemplates = sync.OnceValue(func() templateCatalog {
	v, err := readTemplateCatalog(templateFiles, "words")
	if err != nil {
		panic(err)
	}
	return v
})

// readTemplateCatalog reads the templates of each language, the fallback first.
func readTemplateCatalog(from embed.FS, directory string) (v templateCatalog, err error) {
	entries, err := from.ReadDir(directory)
	if err != nil {
		return v, err
	}
	for _, entry := range entries {
		tag, one, err := readTemplates(from, path.Join(directory, entry.Name()))
		if err != nil {
			return v, fmt.Errorf("reading message templates in %s: %w", entry.Name(), err)
		}
		v.tags, v.templates = append(v.tags, tag), append(v.templates, one)
		if last := len(v.tags) - 1; tag == fallbackLanguage {
			v.tags[0], v.tags[last] = v.tags[last], v.tags[0]
			v.templates[0], v.templates[last] = v.templates[last], v.templates[0]
		}
	}
	v.matcher = language.NewMatcher(v.tags)
	return v, nil
}

func readTemplates(from embed.FS, file string) (tag language.Tag, one templates, err error) {
	if tag, err = language.Parse(strings.TrimSuffix(path.Base(file), ".yaml")); err != nil {
		return tag, one, err
	}
	content, err := from.ReadFile(file)
	if err != nil {
		return tag, one, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	return tag, one, decoder.Decode(&one)
}

// forLanguage returns the templates for a language tag or a list of tags.
func (v templateCatalog) forLanguage(wanted string) (language.Tag, templates) {
	_, i := language.MatchStrings(v.matcher, wanted)
	return v.tags[i], v.templates[i]
}

// A renderedMessage is the text of a message. Text messages have no subject.
type renderedMessage struct{ subject, text string }

// render returns the text of a message.
func (m Message) render() renderedMessage {
	tag, in := builtinTemplates().forLanguage(m.Language)
	fill := strings.NewReplacer("{code}", m.Code, "{tenant}", m.TenantName, "{minutes}", in.formatMinutes(tag, m.ValidFor)).Replace
	if m.Channel == TextMessage {
		return renderedMessage{text: fill(in.OneTimePassword.Text)}
	}
	return renderedMessage{subject: fill(in.OneTimePassword.Subject), text: fill(in.OneTimePassword.Body)}
}

// formatMinutes formats a validity period in whole minutes, at least one.
func (w templates) formatMinutes(tag language.Tag, valid time.Duration) string {
	n := max(1, int(math.Floor(valid.Minutes())))
	form := w.Minutes.Other
	if plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0) == plural.One {
		form = w.Minutes.One
	}
	return strings.ReplaceAll(form, "{n}", strconv.Itoa(n))
}
