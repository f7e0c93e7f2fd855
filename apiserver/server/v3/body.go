// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// maxBody is the most that a body may hold, in bytes.
const maxBody = 1 << 20

// maxPooled is the most that a buffer may have grown to and still be kept, so
// that one large body does not stay in memory for ever.
const maxPooled = 64 << 10

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// readJSON reads the bodies of POST requests and refuses those that are not
// JSON as a whole, so that decoding is left with wrong types only. A decoder
// that reads from the connection would not see what follows the first value.
func (a *API) readJSON(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
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
		if err := readBody(buffer, w, r); err != nil {
			a.fail(w, r, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(buffer.Bytes()))
		next.ServeHTTP(w, r)
	})
}

func readBody(buffer *bytes.Buffer, w http.ResponseWriter, r *http.Request) error {
	// What follows the media type does not matter: JSON is UTF-8.
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType != "application/json" || err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return badRequest("Content-Type: expected application/json, got %s", quote(r.Header.Get("Content-Type")))
	}
	_, err = buffer.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &requestError{http.StatusRequestEntityTooLarge, "the body: expected at most 1 MiB"}
	case err != nil:
		return badRequest("the body: it broke off after %d bytes", buffer.Len())
	}
	return checkJSON(buffer.Bytes())
}

// checkJSON says where a body stops being one JSON value in UTF-8, of which no
// object has a name twice.
func checkJSON(body []byte) error {
	if jsontext.Value(body).IsValid() {
		return nil
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(body))
	_, err := decoder.ReadValue()
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		errors.As(err, &syntax)
		return badRequest("the body: at byte %d: an object has the name %s twice", syntax.ByteOffset, quote(syntax.JSONPointer.LastToken()))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return badRequest("the body: not JSON at byte %d: it ends too soon", len(body))
	case errors.As(err, &syntax):
		return badRequest("the body: not JSON at byte %d: %v", syntax.ByteOffset, syntax.Err)
	default:
		return badRequest("the body: not JSON at byte %d: more after the first value", decoder.InputOffset())
	}
}
