// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/enginev3"
	"github.com/anamnesis-dev/anamnesis/hack/devserver"
)

// A parser has texts understood by a server.
type parser struct{ engine *enginev3.API }

// dial makes a parser of the server at an address.
func dial(address string) (parser, error) {
	c, err := client.New(address, devserver.Credentials(), client.WithEditors(client.DevMode()))
	if err != nil {
		return parser{}, err
	}
	return parser{c.Engine}, nil
}

// unknownWords are the words of a patient's text that are in no mention.
func (p parser) unknownWords(ctx context.Context, of result, text string) ([]string, error) {
	parsed, err := p.engine.Parse(ctx, enginev3.ParseRequest{Text: text, Age: of.Age, Sex: &of.Sex, IncludeTokens: new(true)})
	if err != nil {
		return nil, fmt.Errorf("asking what was understood: %w", err)
	}
	return unmentioned(parsed), nil
}

func unmentioned(parsed enginev3.Parsed) []string {
	var words []string
	for position, token := range parsed.Tokens {
		mentioned := slices.ContainsFunc(parsed.Mentions, func(m enginev3.Mention) bool { return slices.Contains(m.Positions, position) })
		if !mentioned && strings.ContainsFunc(token, unicode.IsLetter) {
			words = append(words, token)
		}
	}
	return words
}
