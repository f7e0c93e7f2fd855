// SPDX-License-Identifier: Apache-2.0

package pattern

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// special are the characters with a meaning of their own.
const special = "~<>[]{}|@"

const dots = "..."

// parser is a wording being read.
type parser struct{ rest string }

// take skips what the rest begins with, if it does.
func (p *parser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

// sequence reads steps up to a bar, a closing bracket or the end.
func (p *parser) sequence(depth int) ([]step, error) {
	var steps []step
	for {
		spaced := len(p.rest)
		p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
		if p.rest == "" || p.rest[0] == '|' || p.rest[0] == ']' {
			return steps, nil
		}
		if len(steps) > 0 && spaced == len(p.rest) {
			return nil, fmt.Errorf("no space before %q", firstOf(p.rest))
		}
		next, err := p.step(depth)
		if err != nil {
			return nil, err
		}
		steps = append(steps, next...)
	}
}

func firstOf(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// step reads what begins here. Written words may hold several, as "x-ray" does.
func (p *parser) step(depth int) ([]step, error) {
	switch {
	case p.take(dots), p.take("…"):
		return []step{{dots: true}}, nil
	case p.take("<"):
		return p.class()
	case p.take("{"):
		return p.slot()
	case p.take("@"):
		return p.reference()
	case p.take("["):
		return p.choices(depth + 1)
	case strings.ContainsRune(special, rune(p.rest[0])):
		return nil, fmt.Errorf("a %q where a word should begin", p.rest[:1])
	}
	return p.words()
}

func (p *parser) class() ([]step, error) {
	name, rest, ok := strings.Cut(p.rest, ">")
	if !ok {
		return nil, errors.New("a < without a > behind it")
	}
	if !isName(name) {
		return nil, fmt.Errorf("<%s> is no class: expected a name of letters, digits and underscores", name)
	}
	p.rest = rest
	return []step{{element: Element{Kind: Class, Text: name}}}, nil
}

func isName(name string) bool {
	other := func(c rune) bool { return c != '_' && c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }
	return name != "" && utf8.ValidString(name) && !strings.ContainsFunc(name, other)
}

func (p *parser) slot() ([]step, error) {
	slot, rest, ok := strings.Cut(p.rest, "}")
	if !ok {
		return nil, errors.New("a { without a } behind it")
	}
	p.rest = rest
	if slot == "time" {
		return []step{{element: Element{Kind: Time}}}, nil
	}
	low, high, ok := strings.Cut(slot, "..")
	from, errFrom := strconv.ParseFloat(low, 64)
	to, errTo := strconv.ParseFloat(high, 64)
	if !ok || errFrom != nil || errTo != nil || math.IsNaN(from-to) || math.IsInf(from-to, 0) {
		return nil, fmt.Errorf("{%s} is no slot: expected two numbers, as in {38..43}, or {time}", slot)
	}
	if from > to {
		return nil, fmt.Errorf("{%s} goes from the greater number to the smaller one", slot)
	}
	return []step{{element: Element{Kind: Number, From: from, To: to}}}, nil
}

func (p *parser) reference() ([]step, error) {
	end := strings.IndexFunc(p.rest, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(special, c) })
	if end < 0 {
		end = len(p.rest)
	}
	slug := p.rest[:end]
	if !isName(slug) {
		return nil, fmt.Errorf("@%s refers to nothing: expected the slug of an observation", slug)
	}
	p.rest = p.rest[end:]
	return []step{{element: Element{Kind: Reference, Text: slug}}}, nil
}

func (p *parser) choices(depth int) ([]step, error) {
	if depth > mostDepth {
		return nil, fmt.Errorf("brackets in one another more than %d deep", mostDepth)
	}
	s := step{choices: [][]step{}}
	for {
		choice, err := p.sequence(depth)
		if err != nil {
			return nil, err
		}
		s.choices = append(s.choices, choice)
		switch {
		case p.take("|"):
		case p.take("]"):
			return []step{s}, nil
		default:
			return nil, errors.New("a [ without a ] behind it")
		}
	}
}

// words reads up to a space or a special character: several words, as of
// "x-ray", or none, as of a comma. The first carries what was written.
func (p *parser) words() ([]step, error) {
	end := strings.IndexFunc(p.rest, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(special, c) })
	if end < 0 {
		end = len(p.rest)
	}
	if at := strings.Index(p.rest[:end], dots); at > 0 {
		return nil, fmt.Errorf("no space before the three dots of %q", p.rest[:end])
	}
	written := p.rest[:end]
	p.rest = p.rest[end:]
	var steps []step
	for _, word := range Words(written) {
		steps = append(steps, step{element: Element{Text: word}, written: written})
		written = ""
	}
	return steps, nil
}
