// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxBody is the most that a body may hold, in bytes.
	maxBody = 1 << 20
	// maxPooled is the most that a buffer may have grown to and still be kept,
	// so that one large body does not stay in memory for ever.
	maxPooled = 64 << 10
)

const (
	typeJSON = "application/json"
	typeForm = "application/x-www-form-urlencoded"
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// ReadBody reads the body of a POST, PUT or PATCH whole, hands it on from
// memory if it is one JSON value in UTF-8 of which no object has a name twice,
// and answers with refuse if not. What decodes it is left with wrong types
// only: a decoder that reads from the connection would not see what follows
// the first value, and would let the fields of one of two lists shine through
// those of the other. On the paths for forms a form is handed on, too.
//
// Half of a surrogate pair in an escape is JSON, and no character: it is handed
// on as U+FFFD. Texts that were cut by UTF-16 units end so.
//
// Content-Type is left without its parameters, in small letters.
func ReadBody(refuse func(w http.ResponseWriter, r *http.Request, status int, problem string), pathsForForms ...string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.Method {
			case http.MethodPost, http.MethodPut, http.MethodPatch:
			default:
				next.ServeHTTP(w, r)
				return
			}
			buffer := buffers.Get().(*bytes.Buffer)
			defer func() {
				if buffer.Cap() <= maxPooled {
					buffers.Put(buffer)
				}
			}()
			buffer.Reset()
			status, problem := fill(buffer, w, r, slices.Contains(pathsForForms, r.URL.Path))
			if status != http.StatusOK {
				refuse(w, r, status, problem)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(buffer.Bytes()))
			next.ServeHTTP(w, r)
		})
	}
}

// fill reads and checks a body. A status other than 200 is to be answered with
// the problem.
func fill(buffer *bytes.Buffer, w http.ResponseWriter, r *http.Request, takesForm bool) (status int, problem string) {
	// What follows the media type does not matter: JSON is UTF-8.
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	form := takesForm && mediaType == typeForm
	if mediaType != typeJSON && !form || err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return http.StatusBadRequest, fmt.Sprintf("Content-Type: expected %s, got %.64q", typeJSON, r.Header.Get("Content-Type"))
	}
	r.Header.Set("Content-Type", mediaType)
	_, err = buffer.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge, "the body: expected at most 1 MiB"
	case err != nil:
		return http.StatusBadRequest, fmt.Sprintf("the body: it broke off after %d bytes", buffer.Len())
	case form || isJSON(buffer.Bytes()):
		return http.StatusOK, ""
	default:
		return http.StatusBadRequest, describeJSON(buffer.Bytes())
	}
}

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
