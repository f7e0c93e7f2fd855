// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
)

const (
	// maxBodyBytes is the default body size limit, in bytes.
	maxBodyBytes = 1 << 20
	// maxPooledBytes is the maximum size, in bytes, of buffers that are returned to the pool,
	// so that a large body does not occupy memory permanently.
	maxPooledBytes = 64 << 10
)

const (
	contentTypeJSON = "application/json"
	contentTypeForm = "application/x-www-form-urlencoded"
)

var bufferPool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// A BodyRule defines which request bodies a route accepts.
type BodyRule struct {
	MaxBytes  int64 // size limit in bytes
	AllowForm bool  // also accept a form
	Discard   bool  // accept no body, and do not read one
}

// defaultBodyRule applies to routes without a rule of their own.
var defaultBodyRule = BodyRule{MaxBytes: maxBodyBytes}

// BodyReader configures how request bodies are read.
type BodyReader struct {
	// Budget limits the total size of the bodies that all requests hold in memory.
	Budget *limiter.ByteBudget
	// Rules contains rules by route. Other routes accept JSON of at most 1 MiB.
	Rules map[string]BodyRule
	// Reject responds to a request whose body is not accepted.
	Reject func(w http.ResponseWriter, r *http.Request, status int, problem string)
}

// Middleware reads the whole body of a POST, PUT or PATCH request and passes it on from
// memory if it is a single JSON value in UTF-8 without duplicate object keys; otherwise, it
// rejects the request. Decoders then only need to handle type mismatches: a decoder that
// reads from the connection would not notice data after the first value, and would merge two
// lists with the same key. Forms are passed on as well if the rule allows them.
//
// A body whose Content-Length exceeds the limit is rejected without being read. The server's
// ReadTimeout limits the time that a client may take to send a body.
//
// An escaped lone surrogate is valid JSON but not a character, so it is replaced with U+FFFD.
// Such surrogates occur in texts that were truncated by UTF-16 code units.
//
// Content-Type is passed on in lower case without parameters.
func (b BodyReader) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost, http.MethodPut, http.MethodPatch:
		default:
			next.ServeHTTP(w, r)
			return
		}
		rule := b.ruleFor(r)
		if rule.Discard {
			r.Body = http.NoBody
			next.ServeHTTP(w, r)
			return
		}
		if status, problem := rule.validateHeader(r); status != http.StatusOK {
			b.Reject(w, r, status, problem)
			return
		}
		b.readBody(w, r, rule, next)
	})
}

func (b BodyReader) ruleFor(r *http.Request) BodyRule {
	route := r.URL.Path
	if context := chi.RouteContext(r.Context()); context != nil {
		route = context.RoutePattern()
	}
	if rule, exists := b.Rules[route]; exists {
		return rule
	}
	return defaultBodyRule
}

// readBody reads a body and keeps it in memory until the request has been handled.
func (b BodyReader) readBody(w http.ResponseWriter, r *http.Request, rule BodyRule, next http.Handler) {
	buffer, body := bufferPool.Get().(*bytes.Buffer), b.Budget.Reader(http.MaxBytesReader(w, r.Body, rule.MaxBytes))
	defer func() {
		body.Release()
		if buffer.Cap() <= maxPooledBytes {
			bufferPool.Put(buffer)
		}
	}()
	buffer.Reset()
	_, err := buffer.ReadFrom(body)
	status, problem := rule.validateBody(r, buffer, err)
	switch status {
	case http.StatusOK:
		r.Body = io.NopCloser(bytes.NewReader(buffer.Bytes()))
		next.ServeHTTP(w, r)
		return
	case http.StatusServiceUnavailable:
		SetBusyRetryAfter(w)
	}
	b.Reject(w, r, status, problem)
}

// validateHeader checks the headers that describe the body. If the status is not 200, the
// request must be rejected with the given problem.
func (rule BodyRule) validateHeader(r *http.Request) (status int, problem string) {
	// Media type parameters are ignored: JSON is UTF-8.
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	accepted := mediaType == contentTypeJSON || rule.AllowForm && mediaType == contentTypeForm
	if !accepted || err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return http.StatusBadRequest, fmt.Sprintf("Content-Type: expected %s, got %.64q", contentTypeJSON, r.Header.Get("Content-Type"))
	}
	if r.ContentLength > rule.MaxBytes {
		return rule.tooLarge()
	}
	r.Header.Set("Content-Type", mediaType)
	return http.StatusOK, ""
}

// validateBody checks a body after reading; err is the read error, if any.
func (rule BodyRule) validateBody(r *http.Request, body *bytes.Buffer, err error) (status int, problem string) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return rule.tooLarge()
	case errors.Is(err, limiter.ErrBusy):
		return http.StatusServiceUnavailable, "too many request bodies in flight; retry later"
	case err != nil:
		return http.StatusBadRequest, fmt.Sprintf("the body: truncated after %d bytes", body.Len())
	case r.Header.Get("Content-Type") == contentTypeForm || ensureValidJSON(body.Bytes()):
		return http.StatusOK, ""
	default:
		return http.StatusBadRequest, describeJSONError(body.Bytes())
	}
}

func (rule BodyRule) tooLarge() (status int, problem string) {
	size := fmt.Sprintf("%d KiB", rule.MaxBytes>>10)
	if rule.MaxBytes >= 1<<20 {
		size = fmt.Sprintf("%d MiB", rule.MaxBytes>>20)
	}
	return http.StatusRequestEntityTooLarge, "the body: expected at most " + size
}
