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
	for offset := 0; offset < len(body); {
		switch {
		case body[offset] != '\\':
			offset++
		case !utf16.IsSurrogate(utf16UnitAt(body, offset)):
			offset += 2 // skip the backslash and the escaped character, which may be another backslash
		case utf16.DecodeRune(utf16UnitAt(body, offset), utf16UnitAt(body, offset+escapeLen)) != utf8.RuneError:
			offset += 2 * escapeLen
		default:
			offset += copy(body[offset:], `\ufffd`)
			replaced = true
		}
	}
	return replaced
}

// utf16UnitAt returns the UTF-16 code unit escaped at an offset, or 0 if there is no
// escape.
func utf16UnitAt(body []byte, offset int) rune {
	if offset+escapeLen > len(body) || body[offset] != '\\' || body[offset+1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(body[offset+2:offset+escapeLen]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}

// describeJSONError describes where a body stops being a single valid JSON value.
func describeJSONError(body []byte) string {
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	_, err := decoder.ReadValue()
	var syntaxErr *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Sprintf("the body: invalid JSON at byte %d: unexpected end", len(body))
	case !errors.As(err, &syntaxErr):
		return fmt.Sprintf("the body: invalid JSON at byte %d: unexpected data after the first value", decoder.InputOffset())
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("the body: at byte %d: duplicate object name %.64q", syntaxErr.ByteOffset, syntaxErr.JSONPointer.LastToken())
	default:
		return fmt.Sprintf("the body: invalid JSON at byte %d: %v", syntaxErr.ByteOffset, syntaxErr.Err)
	}
}
