// SPDX-License-Identifier: Apache-2.0

package event

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
)

// Limits of a webhook configuration.
const (
	maxURLLength       = 2048 // bytes
	maxTokenLength     = 512
	maxReferenceLength = 128
)

// ValidateURL validates the URL of a receiver. Plain HTTP is allowed only in
// development.
func ValidateURL(field, text string, allowHTTP bool) (string, error) {
	reject := func(problem string) (string, error) {
		return "", &assessment.FieldError{Field: field, Problem: problem}
	}
	if text == "" {
		return reject("missing, expected a URL such as https://portal.example/events")
	}
	address, err := url.Parse(text)
	switch {
	case err != nil || !identifier.IsVisibleASCII(text, maxURLLength) || strings.HasSuffix(address.Host, ":") || address.Hostname() == "" || address.Opaque != "":
		return reject("expected a URL such as https://portal.example/events, of at most " + strconv.Itoa(maxURLLength) + " bytes")
	case address.Scheme != "https" && (address.Scheme != "http" || !allowHTTP):
		return reject("expected a URL that begins with https://")
	case address.User != nil:
		return reject("expected a URL without user name and password; deliveries carry authorization_token")
	case address.Fragment != "" || strings.Contains(text, "#"):
		return reject("expected a URL without a fragment")
	case !hasValidPort(address):
		return reject("expected a port from 1 to 65535")
	}
	return text, nil
}

func hasValidPort(address *url.URL) bool {
	if address.Port() == "" {
		return true
	}
	port, err := strconv.ParseUint(address.Port(), 10, 16)
	return err == nil && port > 0
}

// ValidateToken validates the token sent with each delivery.
func ValidateToken(field, text string) (string, error) {
	if text == "" {
		return "", &assessment.FieldError{Field: field, Problem: "missing, expected 1 to " + strconv.Itoa(maxTokenLength) + " visible ASCII characters"}
	}
	if !identifier.IsVisibleASCII(text, maxTokenLength) {
		return "", &assessment.FieldError{Field: field, Problem: "expected 1 to " + strconv.Itoa(maxTokenLength) + " visible ASCII characters"}
	}
	return text, nil
}

// ValidateReference validates the client's own reference for a webhook. It may be empty.
func ValidateReference(field, text string) (string, error) {
	if !identifier.IsVisibleASCII(text, maxReferenceLength) {
		return "", &assessment.FieldError{Field: field, Problem: "expected at most " + strconv.Itoa(maxReferenceLength) + " visible ASCII characters"}
	}
	return text, nil
}

// ParseTypes parses the subscribed event types and returns them deduplicated, in the
// order of SubscribableTypes.
func ParseTypes(field string, texts []string) ([]Type, error) {
	for i, text := range texts {
		if !slices.Contains(SubscribableTypes(), Type(text)) {
			return nil, &assessment.FieldError{Field: field + "[" + strconv.Itoa(i) + "]", Problem: "expected survey_finished or notification"}
		}
	}
	subscribed := []Type{}
	for _, kind := range SubscribableTypes() {
		if slices.Contains(texts, string(kind)) {
			subscribed = append(subscribed, kind)
		}
	}
	return subscribed, nil
}
