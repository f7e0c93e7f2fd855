// SPDX-License-Identifier: Apache-2.0

// Package match parses wordings, the small language in which a lexicon describes how
// people phrase an observation:
//
//	belly pain            words, each near the previous one
//	<pain>                a class of words
//	[a|b c|]              alternatives; an empty alternative makes the group optional
//	temperature ... high  a gap of up to six words
//	{38..43}              a number within an inclusive range
//	{time}                a time span
//	@headache             any wording of that observation
//	~<pain> <belly>       any order
//
// Words are folded as in package token. A symbol such as ° is a word, and other
// punctuation is ignored. This package parses only the names of classes and references,
// and does not resolve them to words or observations.
package match

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/text/token"
)

// MaxExpansions is the maximum number of expanded forms of one wording.
const MaxExpansions = 256

// Further limits on the size of a wording.
const (
	maxBytes = 1000
	maxDepth = 8  // nesting depth of brackets
	maxWords = 64 // per expanded form
)

// Kind is the kind of an Element.
type Kind uint8

// Element kinds.
const (
	Word Kind = iota
	Class
	Number
	Time
	Reference
	Choice // one of several words
)

// An Element is a single element of an expanded wording.
type Element struct {
	Kind Kind
	// Text is the folded word, the name of the class or the slug of the referenced
	// observation.
	Text string
	// Words are the two or more folded words of a Choice.
	Words []string
	// From and To are the inclusive bounds of a Number.
	From, To float64
	// GapBefore is true if "..." precedes the element.
	GapBefore bool
}

// A Wording is a parsed wording.
type Wording struct {
	AnyOrder bool
	nodes    []node
}

// A node is one space-separated part of a wording: an element with its source text, a
// gap, or a group of alternatives.
type node struct {
	element      Element
	source       string
	gap          bool
	alternatives [][]node
}

// Parse parses a wording. The error describes the first syntax error.
func Parse(text string) (Wording, error) {
	if len(text) > maxBytes {
		return Wording{}, fmt.Errorf("wording of %d bytes is too long: expected at most %d", len(text), maxBytes)
	}
	p := parser{rest: strings.TrimSpace(text)}
	w := Wording{AnyOrder: p.accept("~")}
	steps, err := p.parseSequence(0)
	if err != nil {
		return Wording{}, err
	}
	if p.rest != "" {
		return Wording{}, fmt.Errorf("unexpected %q without a preceding [", p.rest[:1])
	}
	if len(steps) == 0 {
		return Wording{}, errors.New("empty wording")
	}
	if steps[0].gap || steps[len(steps)-1].gap {
		return Wording{}, errors.New("unexpected ... at the start or end: expected it only between two words")
	}
	w.nodes = steps
	return w, nil
}

// FromPlainText returns a Wording that matches the words of text in any order. Special
// characters have no meaning in it. If text has no words, the Wording is empty.
func FromPlainText(text string) Wording {
	w := Wording{AnyOrder: true}
	for _, word := range Words(text) {
		w.nodes = append(w.nodes, node{element: Element{Text: word}})
	}
	return w
}

// Words returns the folded words of a text, including symbols, in order.
func Words(text string) []string {
	var words []string
	addWords := func(text string) {
		for word := range token.Words(text) {
			words = append(words, word)
		}
	}
	text = token.Fold(text)
	from := 0
	for at, c := range text {
		if isSymbol(c) {
			addWords(text[from:at])
			words = append(words, string(c))
			from = at + len(string(c))
		}
	}
	addWords(text[from:])
	return words
}

// isSymbol reports whether c is a word of its own.
func isSymbol(c rune) bool { return c == '%' || unicode.IsSymbol(c) && c != unicode.ReplacementChar }

// Expand returns the distinct forms of a wording, in the order of its alternatives. It
// fails if a form has no elements. Single-word alternatives do not multiply the forms:
// they become one Choice.
func (w Wording) Expand() ([][]Element, error) {
	forms, err := expand(w.nodes)
	if err != nil {
		return nil, err
	}
	var distinct [][]Element
	seen := map[string]bool{}
	for _, f := range forms {
		if len(f.elements) == 0 {
			return nil, errors.New("all words are optional: expected at least one required word")
		}
		if key := fmt.Sprint(f.elements); !seen[key] {
			seen[key] = true
			distinct = append(distinct, f.elements)
		}
	}
	return distinct, nil
}

// An expansion is a sequence of elements with some alternatives already chosen.
type expansion struct {
	elements []Element
	gapAfter bool // whether "..." follows the last element
}

func (e expansion) extend(elements []Element, gapAfter bool) expansion {
	joined := slices.Concat(e.elements, elements)
	if e.gapAfter && len(elements) > 0 {
		joined[len(e.elements)].GapBefore = len(e.elements) > 0
	}
	return expansion{elements: joined, gapAfter: gapAfter || e.gapAfter && len(elements) == 0}
}

func expand(steps []node) ([]expansion, error) {
	forms := []expansion{{}}
	for _, n := range steps {
		options, err := n.options()
		if err != nil {
			return nil, err
		}
		if len(forms)*len(options) > MaxExpansions {
			return nil, fmt.Errorf("wording expands to more than %d forms: split it into two wordings, or replace alternatives with a class", MaxExpansions)
		}
		var longer []expansion
		for _, f := range forms {
			for _, option := range options {
				if len(f.elements)+len(option.elements) > maxWords {
					return nil, fmt.Errorf("wording has a form with more than %d words", maxWords)
				}
				longer = append(longer, f.extend(option.elements, option.gapAfter))
			}
		}
		forms = longer
	}
	return forms, nil
}

// options returns the possible expansions of a node.
func (n node) options() ([]expansion, error) {
	switch {
	case n.gap:
		return []expansion{{gapAfter: true}}, nil
	case n.alternatives == nil:
		return []expansion{{elements: []Element{n.element}}}, nil
	}
	var words []string
	var options []expansion
	optional := false // whether an empty alternative was seen
	for _, choice := range n.alternatives {
		if len(choice) == 1 && choice[0].isWord() {
			words = append(words, choice[0].element.Text)
			continue
		}
		forms, err := expand(choice)
		if err != nil {
			return nil, err
		}
		if len(choice) > 0 || !optional {
			options = append(options, forms...)
		}
		optional = optional || len(choice) == 0
	}
	return append(anyOf(words), options...), nil
}

func (n node) isWord() bool { return !n.gap && n.alternatives == nil && n.element.Kind == Word }

// anyOf returns an expansion that matches any of the given words, or none if words is
// empty.
func anyOf(words []string) []expansion {
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	switch len(words) {
	case 0:
		return nil
	case 1:
		return []expansion{{elements: []Element{{Text: words[0]}}}}
	}
	return []expansion{{elements: []Element{{Kind: Choice, Words: words}}}}
}

// SampleText returns the wording as a person might phrase it. It uses the first of
// several alternatives, obtains the text of a class from classText, and skips gaps. ok
// is false if the wording contains a number, a time or a reference, which have no
// sample text.
func (w Wording) SampleText(classText func(class string) string) (text string, ok bool) {
	words, ok := sampleWords(w.nodes, classText)
	return strings.Join(words, " "), ok && len(words) > 0
}

func sampleWords(steps []node, classText func(class string) string) (words []string, ok bool) {
	for _, n := range steps {
		switch {
		case n.gap:
		case n.alternatives != nil:
			chosen, ok := sampleWords(n.alternatives[0], classText)
			if !ok {
				return nil, false
			}
			words = append(words, chosen...)
		case n.element.Kind == Word:
			words = appendNonEmpty(words, n.source)
		case n.element.Kind == Class:
			words = append(words, classText(n.element.Text))
		default:
			return nil, false
		}
	}
	return words, true
}

// appendNonEmpty appends source unless it is empty. Only the first word of a source
// text carries the text, so each text is appended once.
func appendNonEmpty(words []string, source string) []string {
	if source == "" {
		return words
	}
	return append(words, source)
}
