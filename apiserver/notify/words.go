// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"embed"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// files has the words of each language in a file that is named by its tag.
//
//go:embed words/*.yaml
var files embed.FS

// words are those of all messages in one language. The placeholders {code},
// {minutes} and {tenant} stand for what is filled in, {n} for the number of
// minutes.
type words struct {
	OneTimePassword struct {
		Subject string `yaml:"subject"` // of an e-mail
		Body    string `yaml:"body"`    // of an e-mail, in plain text
		Text    string `yaml:"text"`    // of a text message
	} `yaml:"oneTimePassword"`
	// Minutes are the words for a number of minutes by plural form.
	Minutes struct {
		One   string `yaml:"one"`
		Other string `yaml:"other"`
	} `yaml:"minutes"`
}

// fallback is the language of those who speak none of the others.
var fallback = language.English

// A vocabulary is the words in all languages.
type vocabulary struct {
	matcher language.Matcher
	tags    []language.Tag
	words   []words
}

// spoken reads the words of this program, of which tests see that they are
// right, once.
var spoken = sync.OnceValue(func() vocabulary {
	v, err := readVocabulary(files, "words")
	if err != nil {
		panic(err)
	}
	return v
})

// readVocabulary reads the words of each language; the fallback comes first.
func readVocabulary(from embed.FS, directory string) (v vocabulary, err error) {
	entries, err := from.ReadDir(directory)
	if err != nil {
		return v, err
	}
	for _, entry := range entries {
		tag, one, err := readWords(from, path.Join(directory, entry.Name()))
		if err != nil {
			return v, fmt.Errorf("reading the words of messages in %s: %w", entry.Name(), err)
		}
		v.tags, v.words = append(v.tags, tag), append(v.words, one)
		if last := len(v.tags) - 1; tag == fallback {
			v.tags[0], v.tags[last] = v.tags[last], v.tags[0]
			v.words[0], v.words[last] = v.words[last], v.words[0]
		}
	}
	v.matcher = language.NewMatcher(v.tags)
	return v, nil
}

func readWords(from embed.FS, file string) (tag language.Tag, one words, err error) {
	if tag, err = language.Parse(strings.TrimSuffix(path.Base(file), ".yaml")); err != nil {
		return tag, one, err
	}
	content, err := from.ReadFile(file)
	if err != nil {
		return tag, one, err
	}
	return tag, one, yaml.UnmarshalWithOptions(content, &one, yaml.Strict())
}

// in returns the words for a language tag or a list of them.
func (v vocabulary) in(wanted string) (language.Tag, words) {
	_, i := language.MatchStrings(v.matcher, wanted)
	return v.tags[i], v.words[i]
}

// A letter is a message in words. Text messages have no subject.
type letter struct{ subject, text string }

// write puts a message into words.
func (m Message) write() letter {
	tag, in := spoken().in(m.Language)
	fill := strings.NewReplacer("{code}", m.Code, "{tenant}", m.Tenant, "{minutes}", in.minutes(tag, m.Valid)).Replace
	if m.Channel == TextMessage {
		return letter{text: fill(in.OneTimePassword.Text)}
	}
	return letter{subject: fill(in.OneTimePassword.Subject), text: fill(in.OneTimePassword.Body)}
}

// minutes says how long something is good, in whole minutes, at least one.
func (w words) minutes(tag language.Tag, valid time.Duration) string {
	n := max(1, int(math.Floor(valid.Minutes())))
	form := w.Minutes.Other
	if plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0) == plural.One {
		form = w.Minutes.One
	}
	return strings.ReplaceAll(form, "{n}", strconv.Itoa(n))
}
