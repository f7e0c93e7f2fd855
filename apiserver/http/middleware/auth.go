// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/throttle"
)

// An ApplicationAuthenticator authenticates applications. It compares keys in constant
// time.
type ApplicationAuthenticator interface {
	Authenticate(id, key string) (identity.Application, bool)
}

// ApplicationAuth authenticates applications by App-Id and App-Key.
type ApplicationAuth struct {
	Applications      ApplicationAuthenticator
	Throttle          *throttle.Throttle // throttles key guessing; nil disables it
	OnUnauthenticated http.HandlerFunc   // responds to requests without a valid application ID and key
	OnThrottled       http.HandlerFunc   // responds to clients throttled after failed attempts
}

// Authenticate implements Authenticator. It also records whether the request is in
// development mode.
func (a ApplicationAuth) Authenticate(w http.ResponseWriter, r *http.Request) (ctx context.Context, principal identity.Principal, ok bool) {
	application, reject := a.authenticate(w, r)
	if reject != nil {
		reject(w, r)
		return nil, identity.Principal{}, false
	}
	RequestInfoFrom(r.Context()).DevMode = application.DevMode && r.Header.Get("Dev-Mode") == "true"
	return r.Context(), application.Principal(), true
}

// authenticate returns the application of a request, or the handler that rejects it. A
// request without credentials does not count as a failed attempt.
func (a ApplicationAuth) authenticate(w http.ResponseWriter, r *http.Request) (identity.Application, http.HandlerFunc) {
	attempt := throttle.Attempt{
		Client: RequestInfoFrom(r.Context()).ClientAddr, Name: r.Header.Get("App-Id"), Secret: r.Header.Get("App-Key"),
	}
	if attempt.Name == "" || attempt.Secret == "" {
		return identity.Application{}, a.OnUnauthenticated
	}
	if wait := a.Throttle.Wait(attempt); wait > 0 {
		SetRetryAfter(w, wait)
		return identity.Application{}, a.OnThrottled
	}
	application, ok := a.Applications.Authenticate(attempt.Name, attempt.Secret)
	if !ok {
		a.Throttle.RecordFailure(attempt)
		return identity.Application{}, a.OnUnauthenticated
	}
	a.Throttle.RecordSuccess(attempt)
	return application, nil
}

// SetRetryAfter sets Retry-After on the response to a throttled call.
func SetRetryAfter(w http.ResponseWriter, wait time.Duration) {
	seconds := int64(math.Ceil(wait.Seconds()))
	w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
}

// OnAuthenticated calls callback, after the response, for each request that was authenticated
// as an application or an end user.
func OnAuthenticated(callback func(ctx context.Context)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if RequestInfoFrom(r.Context()).isAuthenticated() {
				callback(r.Context())
			}
		})
	}
}
