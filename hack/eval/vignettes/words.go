// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// A client asks the server as one application.
type client struct{ url, appID, appKey string }

// unknownWords are the words of a patient's text that are in no mention.
func (c *client) unknownWords(ctx context.Context, of result, text string) ([]string, error) {
	yes := true
	parsed, err := c.parse(ctx, enginev3.ParseRequest{Text: &text, Age: of.Age, Sex: &of.Sex, IncludeTokens: &yes})
	if err != nil {
		return nil, err
	}
	return unmentioned(parsed), nil
}

func unmentioned(parsed enginev3.Parsed) []string {
	var words []string
	for position, token := range *parsed.Tokens {
		mentioned := slices.ContainsFunc(parsed.Mentions, func(m enginev3.Mention) bool { return slices.Contains(m.Positions, position) })
		if !mentioned && strings.ContainsFunc(token, unicode.IsLetter) {
			words = append(words, token)
		}
	}
	return words
}

func (c *client) parse(ctx context.Context, body enginev3.ParseRequest) (parsed enginev3.Parsed, err error) {
	content, err := json.Marshal(body)
	if err != nil {
		return parsed, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v3/parse", bytes.NewReader(content))
	if err != nil {
		return parsed, err
	}
	request.Header.Set("App-Id", c.appID)
	request.Header.Set("App-Key", c.appKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Dev-Mode", "true")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return parsed, fmt.Errorf("asking what was understood: %w", err)
	}
	answer, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return parsed, fmt.Errorf("asking what was understood: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return parsed, fmt.Errorf("asking what was understood: answered %d: %s", response.StatusCode, answer)
	}
	return parsed, json.Unmarshal(answer, &parsed)
}
