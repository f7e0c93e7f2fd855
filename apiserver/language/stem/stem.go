// SPDX-License-Identifier: Apache-2.0

// Package stem takes the endings off words, so that the forms of a word meet:
// "vomits" and "vomiting" are both "vomit". The stemmers are those of the
// Snowball family; a language names the one it uses. Nothing else is known of
// languages here, and what is done with stems is up to those who ask.
package stem

import (
	"maps"
	"slices"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// A Stemmer is the stem of a word folded as package token does. It is safe for
// concurrent use, and never empty for a word that is not.
type Stemmer func(folded string) string

// None is the name of the stemmer that leaves words as they are.
const None = "none"

// snowball are the stemmers by name.
var snowball = map[string]func(*snowballstem.Env) bool{
	"danish":     danish.Stem,
	"dutch":      dutch.Stem,
	"english":    english.Stem,
	"finnish":    finnish.Stem,
	"french":     french.Stem,
	"german":     german.Stem,
	"hungarian":  hungarian.Stem,
	"italian":    italian.Stem,
	"norwegian":  norwegian.Stem,
	"portuguese": portuguese.Stem,
	"romanian":   romanian.Stem,
	"russian":    russian.Stem,
	"spanish":    spanish.Stem,
	"swedish":    swedish.Stem,
	"turkish":    turkish.Stem,
}

// Names are the names that For knows, None among them.
func Names() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(snowball)), None)))
}

// Exact is what stands for the stem of a word that is taken as it is: no word has
// it for its stem.
func Exact(folded string) string { return "=" + folded }

// But is a stemmer that takes some words as they are.
func (s Stemmer) But(exact []string) Stemmer {
	if len(exact) == 0 {
		return s
	}
	taken := make(map[string]bool, len(exact))
	for _, word := range exact {
		taken[word] = true
	}
	return func(folded string) string {
		if taken[folded] {
			return Exact(folded)
		}
		return s(folded)
	}
}

// Remembering is a stemmer that stems each word once. It is for one goroutine.
func (s Stemmer) Remembering() Stemmer {
	stems := map[string]string{}
	return func(folded string) string {
		known, ok := stems[folded]
		if !ok {
			known = s(folded)
			stems[folded] = known
		}
		return known
	}
}

// For is the stemmer of a name; ok is whether there is one.
func For(name string) (stemmer Stemmer, ok bool) {
	if name == None {
		return func(folded string) string { return folded }, true
	}
	algorithm, ok := snowball[name]
	if !ok {
		return nil, false
	}
	adjectives := comparatives[name]
	return func(folded string) string {
		if adjective, ok := adjectives[folded]; ok {
			folded = adjective
		}
		env := snowballstem.NewEnv(folded)
		algorithm(env)
		if env.Current() == "" {
			return folded
		}
		return env.Current()
	}, true
}
