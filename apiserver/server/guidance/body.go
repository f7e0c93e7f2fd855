// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// maxBody is how large a body may be, in bytes.
const maxBody = 1 << 20

const (
	typeJSON = "application/json"
	typeForm = "application/x-www-form-urlencoded"
)

// readBody reads a body whole, so that all of it is checked and not only what
// the generated code comes to.
func readBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		body, status, problem := checkBody(w, r)
		if status != http.StatusOK {
			refuse(w, r, status, problem)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// checkBody returns the body when its type and form are right, with the type
// in the spelling that the generated code looks for, or else the status to
// answer with and why.
func checkBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, problem string) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	form := mediaType == typeForm && r.URL.Path == oauthPath
	if err != nil || mediaType != typeJSON && !form {
		return nil, http.StatusBadRequest, "the header Content-Type has to be " + typeJSON
	}
	r.Header.Set("Content-Type", mediaType)
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is over %d bytes", maxBody)
	case err != nil:
		return nil, http.StatusBadRequest, "the body broke off"
	case form:
		return body, http.StatusOK, ""
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(body, new(json.RawMessage)); errors.As(err, &syntax) {
		return nil, http.StatusBadRequest, fmt.Sprintf("the body is not JSON at byte %d", syntax.Offset)
	}
	return body, http.StatusOK, ""
}
