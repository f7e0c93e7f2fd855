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

	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
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

// A BodyRule says which bodies an address takes.
type BodyRule struct {
	Most int64 // in bytes
	Form bool  // that it takes a form, too
	None bool  // that it takes none, and looks at none
}

// ordinaryBody is the rule of an address without one of its own.
var ordinaryBody = BodyRule{Most: maxBody}

// Bodies says how bodies are read.
type Bodies struct {
	// Held bounds what is held of the bodies of all calls.
	Held *guard.Bytes
	// Rules are those of routes that take other bodies than JSON of at most 1 MiB.
	Rules map[string]BodyRule
	// Refuse answers a call whose body is not taken.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, problem string)
}

// Read reads the body of a POST, PUT or PATCH whole, hands it on from memory if
// it is one JSON value in UTF-8 of which no object has a name twice, and
// refuses it if not. What decodes it is left with wrong types only: a decoder
// that reads from the connection would not see what follows the first value,
// and would let the fields of one of two lists shine through those of the
// other. Where the rule allows a form, one is handed on, too.
//
// A body that says beforehand that it is too long is refused before anything of
// it is read. How long a client may take to send one is the server's
// ReadTimeout.
//
// Half of a surrogate pair in an escape is JSON, and no character: it is handed
// on as U+FFFD. Texts that were cut by UTF-16 units end so.
//
// Content-Type is left without its parameters, in small letters.
func (b Bodies) Read(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost, http.MethodPut, http.MethodPatch:
		default:
			next.ServeHTTP(w, r)
			return
		}
		rule := b.ruleOf(r)
		if rule.None {
			r.Body = http.NoBody
			next.ServeHTTP(w, r)
			return
		}
		if status, problem := rule.judge(r); status != http.StatusOK {
			b.Refuse(w, r, status, problem)
			return
		}
		b.hold(w, r, rule, next)
	})
}

func (b Bodies) ruleOf(r *http.Request) BodyRule {
	route := r.URL.Path
	if context := chi.RouteContext(r.Context()); context != nil {
		route = context.RoutePattern()
	}
	if rule, special := b.Rules[route]; special {
		return rule
	}
	return ordinaryBody
}

// hold reads a body and keeps it until the call is answered.
func (b Bodies) hold(w http.ResponseWriter, r *http.Request, rule BodyRule, next http.Handler) {
	buffer, body := buffers.Get().(*bytes.Buffer), b.Held.Reader(http.MaxBytesReader(w, r.Body, rule.Most))
	defer func() {
		body.Release()
		if buffer.Cap() <= maxPooled {
			buffers.Put(buffer)
		}
	}()
	buffer.Reset()
	_, err := buffer.ReadFrom(body)
	status, problem := rule.judgeRead(r, buffer, err)
	switch status {
	case http.StatusOK:
		r.Body = io.NopCloser(bytes.NewReader(buffer.Bytes()))
		next.ServeHTTP(w, r)
		return
	case http.StatusServiceUnavailable:
		ComeBackLater(w)
	}
	b.Refuse(w, r, status, problem)
}

// judge judges what the headers say of a body. A status other than 200 is to be
// answered with the problem.
func (rule BodyRule) judge(r *http.Request) (status int, problem string) {
	// What follows the media type does not matter: JSON is UTF-8.
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	taken := mediaType == typeJSON || rule.Form && mediaType == typeForm
	if !taken || err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return http.StatusBadRequest, fmt.Sprintf("Content-Type: expected %s, got %.64q", typeJSON, r.Header.Get("Content-Type"))
	}
	if r.ContentLength > rule.Most {
		return rule.tooLarge()
	}
	r.Header.Set("Content-Type", mediaType)
	return http.StatusOK, ""
}

// judgeRead judges a body that was read, as far as it could be.
func (rule BodyRule) judgeRead(r *http.Request, body *bytes.Buffer, err error) (status int, problem string) {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return rule.tooLarge()
	case errors.Is(err, guard.ErrBusy):
		return http.StatusServiceUnavailable, "the server has too many bodies to read at the moment; send the call again later"
	case err != nil:
		return http.StatusBadRequest, fmt.Sprintf("the body: it broke off after %d bytes", body.Len())
	case r.Header.Get("Content-Type") == typeForm || isJSON(body.Bytes()):
		return http.StatusOK, ""
	default:
		return http.StatusBadRequest, describeJSON(body.Bytes())
	}
}

func (rule BodyRule) tooLarge() (status int, problem string) {
	size := fmt.Sprintf("%d KiB", rule.Most>>10)
	if rule.Most >= 1<<20 {
		size = fmt.Sprintf("%d MiB", rule.Most>>20)
	}
	return http.StatusRequestEntityTooLarge, "the body: expected at most " + size
}
