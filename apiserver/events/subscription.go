// SPDX-License-Identifier: Apache-2.0

package events

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
)

// What a configuration may hold at most.
const (
	longestURL       = 2048 // bytes
	longestToken     = 512
	longestReference = 128
)

// ReadURL checks the address of a receiver, which may be plain HTTP in development alone.
func ReadURL(field, text string, plain bool) (string, error) {
	problem := func(text string) (string, error) {
		return "", &assessment.FieldError{Field: field, Problem: text}
	}
	if text == "" {
		return problem("missing, expected an address such as https://portal.example/events")
	}
	address, err := url.Parse(text)
	switch {
	case err != nil || !visible(text) || strings.HasSuffix(address.Host, ":") || address.Hostname() == "" || address.Opaque != "" || len(text) > longestURL:
		return problem("expected an address such as https://portal.example/events, of at most " + strconv.Itoa(longestURL) + " bytes")
	case address.Scheme != "https" && (address.Scheme != "http" || !plain):
		return problem("expected an address that begins with https://")
	case address.User != nil:
		return problem("expected an address without a user and a password; deliveries carry authorization_token")
	case address.Fragment != "" || strings.Contains(text, "#"):
		return problem("expected an address without a fragment")
	case !validPort(address):
		return problem("expected a port from 1 to 65535")
	}
	return text, nil
}

func validPort(address *url.URL) bool {
	if address.Port() == "" {
		return true
	}
	port, err := strconv.ParseUint(address.Port(), 10, 16)
	return err == nil && port > 0
}

// ReadToken checks what each delivery to a receiver carries.
func ReadToken(field, text string) (string, error) {
	if text == "" {
		return "", &assessment.FieldError{Field: field, Problem: "missing, expected 1 to " + strconv.Itoa(longestToken) + " visible ASCII characters"}
	}
	if len(text) > longestToken || !visible(text) {
		return "", &assessment.FieldError{Field: field, Problem: "expected 1 to " + strconv.Itoa(longestToken) + " visible ASCII characters"}
	}
	return text, nil
}

// ReadReference checks what a client knows a configuration by. Empty is none.
func ReadReference(field, text string) (string, error) {
	if len(text) > longestReference || !visible(text) {
		return "", &assessment.FieldError{Field: field, Problem: "expected at most " + strconv.Itoa(longestReference) + " visible ASCII characters"}
	}
	return text, nil
}

func visible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' })
}

// ReadTypes checks what a receiver subscribes to, and says each once, in the order of
// Types.
func ReadTypes(field string, texts []string) ([]Type, error) {
	for i, text := range texts {
		if !slices.Contains(Types(), Type(text)) {
			return nil, &assessment.FieldError{Field: field + "[" + strconv.Itoa(i) + "]", Problem: "expected survey_finished or notification"}
		}
	}
	subscribed := []Type{}
	for _, kind := range Types() {
		if slices.Contains(texts, string(kind)) {
			subscribed = append(subscribed, kind)
		}
	}
	return subscribed, nil
}
