// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// specialChars are the characters with syntactic meaning in wordings.
const specialChars = "~<>[]{}|@"

const ellipsis = "..."

// A parser holds the unparsed rest of a wording.
type parser struct{ rest string }

// accept consumes prefix if the rest starts with it, and reports whether it did.
func (p *parser) accept(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

// parseSequence parses nodes up to a "|", a "]" or the end of the wording.
func (p *parser) parseSequence(depth int) ([]node, error) {
	var steps []node
	for {
		before := len(p.rest)
		p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
		if p.rest == "" || p.rest[0] == '|' || p.rest[0] == ']' {
			return steps, nil
		}
		if len(steps) > 0 && before == len(p.rest) {
			return nil, fmt.Errorf("missing space before %q", firstWord(p.rest))
		}
		next, err := p.parseNode(depth)
		if err != nil {
			return nil, err
		}
		steps = append(steps, next...)
	}
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// parseNode parses the next node. It returns several nodes for text that folds to
// several words, such as "x-ray".
func (p *parser) parseNode(depth int) ([]node, error) {
	switch {
	case p.accept(ellipsis), p.accept("…"):
		return []node{{gap: true}}, nil
	case p.accept("<"):
		return p.parseClass()
	case p.accept("{"):
		return p.parseSlot()
	case p.accept("@"):
		return p.parseReference()
	case p.accept("["):
		return p.parseAlternatives(depth + 1)
	case strings.ContainsRune(specialChars, rune(p.rest[0])):
		return nil, fmt.Errorf("unexpected %q at the start of a word", p.rest[:1])
	}
	return p.parseWords()
}

func (p *parser) parseClass() ([]node, error) {
	name, rest, ok := strings.Cut(p.rest, ">")
	if !ok {
		return nil, errors.New("missing > after <")
	}
	if !isName(name) {
		return nil, fmt.Errorf("invalid class <%s>: expected a name of letters, digits and underscores", name)
	}
	p.rest = rest
	return []node{{element: Element{Kind: Class, Text: name}}}, nil
}

func isName(name string) bool {
	isInvalid := func(c rune) bool { return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }
	return name != "" && utf8.ValidString(name) && !strings.ContainsFunc(name, isInvalid)
}

func (p *parser) parseSlot() ([]node, error) {
	slot, rest, ok := strings.Cut(p.rest, "}")
	if !ok {
		return nil, errors.New("missing } after {")
	}
	p.rest = rest
	if slot == "time" {
		return []node{{element: Element{Kind: Time}}}, nil
	}
	low, high, ok := strings.Cut(slot, "..")
	from, errFrom := strconv.ParseFloat(low, 64)
	to, errTo := strconv.ParseFloat(high, 64)
	if !ok || errFrom != nil || errTo != nil || math.IsNaN(from-to) || math.IsInf(from-to, 0) {
		return nil, fmt.Errorf("invalid slot {%s}: expected two numbers, as in {38..43}, or {time}", slot)
	}
	if from > to {
		return nil, fmt.Errorf("invalid slot {%s}: the first number is greater than the second", slot)
	}
	return []node{{element: Element{Kind: Number, From: from, To: to}}}, nil
}

func (p *parser) parseReference() ([]node, error) {
	end := strings.IndexFunc(p.rest, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(specialChars, c) })
	if end < 0 {
		end = len(p.rest)
	}
	slug := p.rest[:end]
	if !isName(slug) {
		return nil, fmt.Errorf("invalid reference @%s: expected the slug of an observation", slug)
	}
	p.rest = p.rest[end:]
	return []node{{element: Element{Kind: Reference, Text: slug}}}, nil
}

func (p *parser) parseAlternatives(depth int) ([]node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("brackets are nested more than %d levels deep", maxDepth)
	}
	s := node{alternatives: [][]node{}}
	for {
		choice, err := p.parseSequence(depth)
		if err != nil {
			return nil, err
		}
		s.alternatives = append(s.alternatives, choice)
		switch {
		case p.accept("|"):
		case p.accept("]"):
			return []node{s}, nil
		default:
			return nil, errors.New("missing ] after [")
		}
	}
}

// parseWords parses text up to a space or a special character. The text may fold to
// several words, such as "x-ray", or to none, such as a comma. The first node keeps the
// source text.
func (p *parser) parseWords() ([]node, error) {
	end := strings.IndexFunc(p.rest, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(specialChars, c) })
	if end < 0 {
		end = len(p.rest)
	}
	if at := strings.Index(p.rest[:end], ellipsis); at > 0 {
		return nil, fmt.Errorf("missing space before ... in %q", p.rest[:end])
	}
	written := p.rest[:end]
	p.rest = p.rest[end:]
	var steps []node
	for _, word := range Words(written) {
		steps = append(steps, node{element: Element{Text: word}, source: written})
		written = ""
	}
	return steps, nil
}
