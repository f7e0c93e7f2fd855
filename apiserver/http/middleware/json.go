// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// ensureValidJSON reports whether a body is a single valid JSON value, replacing lone
// surrogates first if that makes it valid.
func ensureValidJSON(body []byte) bool {
	return jsontext.Value(body).IsValid() || replaceLoneSurrogates(body) && jsontext.Value(body).IsValid()
}

// escapeLen is the length of an escape such as \u00e4.
const escapeLen = 6

// replaceLoneSurrogates replaces every escaped lone surrogate with the escape of U+FFFD,
// which has the same length. It reports whether it replaced any.
func replaceLoneSurrogates(body []byte) (replaced bool) {
	for at := 0; at < len(body); {
		switch {
		case body[at] != '\\':
			at++
		case !utf16.IsSurrogate(utf16UnitAt(body, at)):
			at += 2 // skip the backslash and the escaped character, which may be another backslash
		case utf16.DecodeRune(utf16UnitAt(body, at), utf16UnitAt(body, at+escapeLen)) != utf8.RuneError:
			at += 2 * escapeLen
		default:
			at += copy(body[at:], `\ufffd`)
			replaced = true
		}
	}
	return replaced
}

// utf16UnitAt returns the UTF-16 code unit escaped at an offset, or 0 if there is no
// escape.
func utf16UnitAt(body []byte, at int) rune {
	if at+escapeLen > len(body) || body[at] != '\\' || body[at+1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(body[at+2:at+escapeLen]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}

// describeJSONError describes where a body stops being a single valid JSON value.
func describeJSONError(body []byte) string {
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	_, err := decoder.ReadValue()
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Sprintf("the body: invalid JSON at byte %d: unexpected end", len(body))
	case !errors.As(err, &syntax):
		return fmt.Sprintf("the body: invalid JSON at byte %d: unexpected data after the first value", decoder.InputOffset())
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("the body: at byte %d: duplicate object name %.64q", syntax.ByteOffset, syntax.JSONPointer.LastToken())
	default:
		return fmt.Sprintf("the body: invalid JSON at byte %d: %v", syntax.ByteOffset, syntax.Err)
	}
}
