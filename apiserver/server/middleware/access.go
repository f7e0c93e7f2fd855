// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	chimiddleware "github.com/go-chi/chi/v5/middleware"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/throttle"
)

// Applications knows who may call. It compares keys in constant time.
type Applications interface {
	Authenticate(id, key string) (identity.Application, bool)
}

// Credentials are what calls have to carry.
type Credentials struct {
	Applications Applications
	Throttle     *throttle.Throttle // slows down those who guess; nil: nobody
	Needed       identity.Scope
	Refuse       http.HandlerFunc // answers calls without the id and key of an application
	Lacks        http.HandlerFunc // answers those of an application without the scope
	SlowDown     http.HandlerFunc // answers those that come too often after others failed
}

// Check lets calls through that carry the App-Id and App-Key of an application
// that has the scope.
func (c Credentials) Check(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		application, refuse := c.judge(w, r)
		if refuse != nil {
			refuse(w, r)
			return
		}
		call := CallOf(r.Context())
		call.Application = application.ID
		call.DevMode = application.DevMode && r.Header.Get("Dev-Mode") == "true"
		if !application.May(c.Needed) {
			c.Lacks(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// judge returns the application of a call, or what answers the call. A call
// that does not try to prove anything is no guess.
func (c Credentials) judge(w http.ResponseWriter, r *http.Request) (identity.Application, http.HandlerFunc) {
	try := throttle.Try{
		Client: CallOf(r.Context()).Client, Name: r.Header.Get("App-Id"), Secret: r.Header.Get("App-Key"),
	}
	if try.Name == "" || try.Secret == "" {
		return identity.Application{}, c.Refuse
	}
	if wait := c.Throttle.Wait(try); wait > 0 {
		ComeBackIn(w, wait)
		return identity.Application{}, c.SlowDown
	}
	application, ok := c.Applications.Authenticate(try.Name, try.Secret)
	if !ok {
		c.Throttle.Failed(try)
		return identity.Application{}, c.Refuse
	}
	c.Throttle.Succeeded(try)
	return application, nil
}

// ComeBackIn says, in the answer of a call that has to wait, how long.
func ComeBackIn(w http.ResponseWriter, wait time.Duration) {
	seconds := int64(math.Ceil(wait.Seconds()))
	w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
}

// Introduce tells of a call, once it is answered, whose caller proved to be an
// application or an end user.
func Introduce(known func(ctx context.Context)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if CallOf(r.Context()).proven() {
				known(r.Context())
			}
		})
	}
}

// A Meter admits calls by the limits of their applications, and counts them.
// *quota.Ledger is one.
type Meter interface {
	// Begin admits a call, or says how long the limit stays reached. The end of
	// an admitted call must be told whether the call counts as usage; one that
	// begins as not counting is admitted by the same limits.
	Begin(application, endpoint string, counts bool) (end func(counted bool), wait time.Duration)
}

// EndUsers stands in usage counts where an application does, for the calls of end
// users who came without one. No application may be called so.
const EndUsers = "(end users)"

// Metered lets calls through that the meter admits, and answers the others with
// refuse and when to come back. It counts each call that was answered, whatever
// the answer said; not those that failed by a fault of the server, nor those in
// development, nor those of nobody who is known.
func Metered(meter Meter, refuse http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			call := CallOf(r.Context())
			if !call.proven() {
				next.ServeHTTP(w, r)
				return
			}
			counts := !call.DevMode
			end, wait := meter.Begin(call.countedFor(), call.Endpoint, counts)
			if end == nil {
				ComeBackIn(w, wait)
				refuse(w, r)
				return
			}
			counted := false // as it stays when the handler panics
			defer func() { end(counted) }()
			wrapped, ok := w.(chimiddleware.WrapResponseWriter)
			if !ok {
				wrapped = chimiddleware.NewWrapResponseWriter(w, r.ProtoMajor)
			}
			next.ServeHTTP(wrapped, r)
			counted = counts && wrapped.Status() < http.StatusInternalServerError
		})
	}
}

// Leave asks clients to open another connection, once the server is about to
// stop. Over HTTP/2 that is the connection's business, not the answer's: there
// this header would cut off requests that are on their way.
func Leave(leaving func() bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor == 1 && leaving() {
				w.Header().Set("Connection", "close")
			}
			next.ServeHTTP(w, r)
		})
	}
}
