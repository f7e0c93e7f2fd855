// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A FieldError reports a field of a request that is invalid.
type FieldError struct {
	// Field is the name of the field in the request, such as evidence[1].choice_id.
	Field string
	// Problem describes what was expected and what was received.
	Problem string
}

// Error returns the field and the problem.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// NotSupported returns a FieldError for a value that is not one of the expected values.
func NotSupported(field, got, expected string) *FieldError {
	if got == "" {
		return &FieldError{field, "missing, expected " + expected}
	}
	return &FieldError{field, "expected " + expected + ", got " + Quote(got)}
}

func newFieldError(field, format string, arguments ...any) *FieldError {
	return &FieldError{field, fmt.Sprintf(format, arguments...)}
}

// Quote returns client input quoted and truncated, for use in error messages.
func Quote(text string) string { return strconv.Quote(Truncate(text)) }

// Truncate returns the first 64 characters of text.
func Truncate(text string) string {
	const limit = 64
	if utf8.RuneCountInString(text) > limit {
		text = string([]rune(text)[:limit]) + "…"
	}
	return text
}
