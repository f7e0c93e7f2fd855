// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"strconv"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
)

// LimitConcurrency admits requests through the semaphore and rejects the others with
// Retry-After. It must be mounted inside authentication and body reading, so that neither
// unauthenticated nor slow clients occupy a slot.
func LimitConcurrency(gate *limiter.Semaphore, reject http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if gate.Acquire(r.Context()) != nil {
				SetBusyRetryAfter(w)
				reject(w, r)
				return
			}
			defer gate.Release()
			next.ServeHTTP(w, r)
		})
	}
}

// SetBusyRetryAfter sets Retry-After on the response of an overloaded server.
func SetBusyRetryAfter(w http.ResponseWriter) {
	w.Header().Set("Retry-After", strconv.Itoa(int(limiter.RetryAfter.Seconds())))
}
