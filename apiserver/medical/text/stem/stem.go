// SPDX-License-Identifier: Apache-2.0

// Package stem reduces words to their stems, so that the forms of a word match each
// other: both "vomits" and "vomiting" become "vomit". It wraps the Snowball stemmers,
// which languages select by name. All other properties of a language are part of its
// content.
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

// A Stemmer returns the stem of a word folded by package token. It is safe for
// concurrent use. The stem of a non-empty word is never empty.
type Stemmer func(folded string) string

// None is the name of the stemmer that returns words unchanged.
const None = "none"

// snowball maps names to Snowball stemmers.
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

// Names returns the names that ByName accepts, including None.
func Names() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(snowball)), None)))
}

// Exact returns the pseudo-stem of a word that is not stemmed. It differs from all
// real stems.
func Exact(folded string) string { return "=" + folded }

// Except returns a Stemmer that returns Exact for the given words instead of stemming
// them.
func (s Stemmer) Except(exact []string) Stemmer {
	if len(exact) == 0 {
		return s
	}
	isExact := make(map[string]bool, len(exact))
	for _, word := range exact {
		isExact[word] = true
	}
	return func(folded string) string {
		if isExact[folded] {
			return Exact(folded)
		}
		return s(folded)
	}
}

// Cached returns a Stemmer that stems each word only once. Unlike other Stemmers, it is
// not safe for concurrent use.
func (s Stemmer) Cached() Stemmer {
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

// ByName returns the stemmer with the given name. ok is false if there is no such
// stemmer.
func ByName(name string) (stemmer Stemmer, ok bool) {
	if name == None {
		return func(folded string) string { return folded }, true
	}
	algorithm, ok := snowball[name]
	if !ok {
		return nil, false
	}
	adjectives := adjectivesByComparative[name]
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
