// SPDX-License-Identifier: Apache-2.0

// Package pattern reads wordings, the small language in which a lexicon says
// how people put things:
//
//	belly pain            words, each where the one before it is near
//	<pain>                a class of words
//	[a|b c|]              one of these, the empty one for none
//	temperature ... high  up to six words may stand in between
//	{38..43}              a number from one to another
//	{time}                how long ago
//	@headache             any wording of that observation
//	~<pain> <belly>       in any order
//
// Words are folded as package token does; a symbol such as ° is a word of its
// own, and other punctuation is none. What classes hold and what observations are
// called is not known here.
package pattern

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/anamnesis-dev/anamnesis/apiserver/language/token"
)

// MostExpansions is how many forms a wording has at most.
const MostExpansions = 256

// The other bounds of a wording.
const (
	mostBytes = 1000
	mostDepth = 8  // of brackets in one another
	mostWords = 64 // of a form
)

// Kind is what an element is.
type Kind uint8

// The kinds of elements.
const (
	Word Kind = iota
	Class
	Number
	Time
	Reference
	Choice // one of several words
)

// An Element is one step of a wording.
type Element struct {
	Kind Kind
	// Text is the folded word, the name of the class, or the slug of the
	// observation referred to.
	Text string
	// Words are the words of a Choice, folded, two or more.
	Words []string
	// From and To are the bounds of a Number, both inclusive.
	From, To float64
	// Wide says that there are three dots before the element.
	Wide bool
}

// A Wording is one, parsed.
type Wording struct {
	AnyOrder bool
	steps    []step
}

// step is what a wording has between two spaces: an element with its text as
// it was written, three dots, or alternatives.
type step struct {
	element Element
	written string
	dots    bool
	choices [][]step
}

// Parse reads a wording. The error says what is wrong with it.
func Parse(text string) (Wording, error) {
	if len(text) > mostBytes {
		return Wording{}, fmt.Errorf("a wording of %d bytes: expected %d at most", len(text), mostBytes)
	}
	p := parser{rest: strings.TrimSpace(text)}
	w := Wording{AnyOrder: p.take("~")}
	steps, err := p.sequence(0)
	if err != nil {
		return Wording{}, err
	}
	if p.rest != "" {
		return Wording{}, fmt.Errorf("a %q without a [ before it", p.rest[:1])
	}
	if len(steps) == 0 {
		return Wording{}, errors.New("an empty wording")
	}
	if steps[0].dots || steps[len(steps)-1].dots {
		return Wording{}, errors.New("three dots stand between two words, not at an end")
	}
	w.steps = steps
	return w, nil
}

// Name is the wording that a plain text is, without a grammar: its words in
// any order. A text without words has none.
func Name(text string) Wording {
	w := Wording{AnyOrder: true}
	for _, word := range Words(text) {
		w.steps = append(w.steps, step{element: Element{Text: word}})
	}
	return w
}

// Words are the folded words of a text, symbols among them.
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

// isSymbol reports whether a character is a word of its own.
func isSymbol(c rune) bool { return c == '%' || unicode.IsSymbol(c) && c != unicode.ReplacementChar }

// Expand gives the forms of a wording, each with an element at least and none
// twice, in the order in which the alternatives stand. Alternatives of one word
// each are no forms of their own, but a Choice.
func (w Wording) Expand() ([][]Element, error) {
	forms, err := expand(w.steps)
	if err != nil {
		return nil, err
	}
	var distinct [][]Element
	seen := map[string]bool{}
	for _, f := range forms {
		if len(f.elements) == 0 {
			return nil, errors.New("every word of it may be left out")
		}
		if key := fmt.Sprint(f.elements); !seen[key] {
			seen[key] = true
			distinct = append(distinct, f.elements)
		}
	}
	return distinct, nil
}

// form is a wording with some of its alternatives chosen.
type form struct {
	elements []Element
	wide     bool // three dots behind the last element
}

func (f form) with(elements []Element, wide bool) form {
	joined := slices.Concat(f.elements, elements)
	if f.wide && len(elements) > 0 {
		joined[len(f.elements)].Wide = len(f.elements) > 0
	}
	return form{elements: joined, wide: wide || f.wide && len(elements) == 0}
}

func expand(steps []step) ([]form, error) {
	forms := []form{{}}
	for _, s := range steps {
		options, err := s.options()
		if err != nil {
			return nil, err
		}
		if len(forms)*len(options) > MostExpansions {
			return nil, fmt.Errorf("more than %d forms: write two wordings, or a class in place of alternatives", MostExpansions)
		}
		var longer []form
		for _, f := range forms {
			for _, option := range options {
				if len(f.elements)+len(option.elements) > mostWords {
					return nil, fmt.Errorf("more than %d words in one of its forms", mostWords)
				}
				longer = append(longer, f.with(option.elements, option.wide))
			}
		}
		forms = longer
	}
	return forms, nil
}

// options are what may stand for a step.
func (s step) options() ([]form, error) {
	switch {
	case s.dots:
		return []form{{wide: true}}, nil
	case s.choices == nil:
		return []form{{elements: []Element{s.element}}}, nil
	}
	var words []string
	var options []form
	optional := false // by an empty alternative before
	for _, choice := range s.choices {
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

func (s step) isWord() bool { return !s.dots && s.choices == nil && s.element.Kind == Word }

// anyOf is one of some words.
func anyOf(words []string) []form {
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	switch len(words) {
	case 0:
		return nil
	case 1:
		return []form{{elements: []Element{{Text: words[0]}}}}
	}
	return []form{{elements: []Element{{Kind: Choice, Words: words}}}}
}

// Spoken is the wording as somebody might say it: the first of alternatives,
// a class by what called makes of its name, without dots. ok is false when it
// holds what cannot be said, a number, a time or a reference.
func (w Wording) Spoken(called func(class string) string) (text string, ok bool) {
	words, ok := spoken(w.steps, called)
	return strings.Join(words, " "), ok && len(words) > 0
}

func spoken(steps []step, called func(class string) string) (words []string, ok bool) {
	for _, s := range steps {
		switch {
		case s.dots:
		case s.choices != nil:
			chosen, ok := spoken(s.choices[0], called)
			if !ok {
				return nil, false
			}
			words = append(words, chosen...)
		case s.element.Kind == Word:
			words = appendWord(words, s.written)
		case s.element.Kind == Class:
			words = append(words, called(s.element.Text))
		default:
			return nil, false
		}
	}
	return words, true
}

// appendWord appends what was written, once for all the words in it.
func appendWord(words []string, written string) []string {
	if written == "" {
		return words
	}
	return append(words, written)
}
