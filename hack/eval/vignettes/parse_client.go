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

// A parseClient sends texts to a server for parsing.
type parseClient struct{ engine *enginev3.API }

// newParseClient returns a client for the server at an address.
func newParseClient(address string) (parseClient, error) {
	c, err := client.New(address, devserver.Credentials(), client.WithEditors(client.DevMode()))
	if err != nil {
		return parseClient{}, err
	}
	return parseClient{c.Engine}, nil
}

// unknownWords returns the words of a patient's text that no mention covers.
func (p parseClient) unknownWords(ctx context.Context, r result, text string) ([]string, error) {
	parsed, err := p.engine.Parse(ctx, enginev3.ParseRequest{Text: text, Age: r.Age, Sex: &r.Sex, IncludeTokens: new(true)})
	if err != nil {
		return nil, fmt.Errorf("parsing the complaint: %w", err)
	}
	return unmentionedTokens(parsed), nil
}

func unmentionedTokens(parsed enginev3.Parsed) []string {
	var words []string
	for position, token := range parsed.Tokens {
		mentioned := slices.ContainsFunc(parsed.Mentions, func(m enginev3.Mention) bool { return slices.Contains(m.Positions, position) })
		if !mentioned && strings.ContainsFunc(token, unicode.IsLetter) {
			words = append(words, token)
		}
	}
	return words
}
