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

// isJSON reports whether a body is one good JSON value, or was but for halves of
// surrogate pairs, which it replaces.
func isJSON(body []byte) bool {
	return jsontext.Value(body).IsValid() || replaceHalfPairs(body) && jsontext.Value(body).IsValid()
}

// escapeLength is that of an escape such as \u00e4.
const escapeLength = 6

// replaceHalfPairs puts the escape of U+FFFD in the place of every escape that
// is half of a surrogate pair, which has the same length. It reports whether
// there were any.
func replaceHalfPairs(body []byte) (replaced bool) {
	for at := 0; at < len(body); {
		switch {
		case body[at] != '\\':
			at++
		case !utf16.IsSurrogate(unitAt(body, at)):
			at += 2 // a backslash and what it escapes, which may be another one
		case utf16.DecodeRune(unitAt(body, at), unitAt(body, at+escapeLength)) != utf8.RuneError:
			at += 2 * escapeLength
		default:
			at += copy(body[at:], `\ufffd`)
			replaced = true
		}
	}
	return replaced
}

// unitAt is the UTF-16 unit whose escape is at a place, 0 where none is.
func unitAt(body []byte, at int) rune {
	if at+escapeLength > len(body) || body[at] != '\\' || body[at+1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(body[at+2:at+escapeLength]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}

// describeJSON says where a body stops being one good JSON value.
func describeJSON(body []byte) string {
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	_, err := decoder.ReadValue()
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Sprintf("the body: not JSON at byte %d: it ends too soon", len(body))
	case !errors.As(err, &syntax):
		return fmt.Sprintf("the body: not JSON at byte %d: more after the first value", decoder.InputOffset())
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("the body: at byte %d: an object has the name %.64q twice", syntax.ByteOffset, syntax.JSONPointer.LastToken())
	default:
		return fmt.Sprintf("the body: not JSON at byte %d: %v", syntax.ByteOffset, syntax.Err)
	}
}
