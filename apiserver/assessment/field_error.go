// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A FieldError says which field of what a client sent cannot be used.
type FieldError struct {
	// Field as clients know it, such as evidence[1].choice_id.
	Field string
	// Problem says what was expected and what was there instead.
	Problem string
}

// Error says both.
func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// WrongWord is a FieldError about a word that is none of those expected.
func WrongWord(field, got, expected string) *FieldError {
	if got == "" {
		return &FieldError{field, "missing, expected " + expected}
	}
	return &FieldError{field, "expected " + expected + ", got " + Quote(got)}
}

func wrong(field, format string, arguments ...any) *FieldError {
	return &FieldError{field, fmt.Sprintf(format, arguments...)}
}

// Quote repeats what a client sent, but no novel.
func Quote(text string) string { return strconv.Quote(Shorten(text)) }

// Shorten keeps the first 64 characters of a text.
func Shorten(text string) string {
	const limit = 64
	if utf8.RuneCountInString(text) > limit {
		text = string([]rune(text)[:limit]) + "…"
	}
	return text
}
