// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"strconv"

	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
)

// Admit has calls pass a gate, and answers those that are turned away with
// refuse and when to come back. It stands behind what judges the caller and
// what reads the body, so that neither strangers nor slow lines keep anybody
// waiting.
func Admit(gate *guard.Gate, refuse http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if gate.Enter(r.Context()) != nil {
				ComeBackLater(w)
				refuse(w, r)
				return
			}
			defer gate.Leave()
			next.ServeHTTP(w, r)
		})
	}
}

// ComeBackLater says when, in the answer of a busy server.
func ComeBackLater(w http.ResponseWriter) {
	w.Header().Set("Retry-After", strconv.Itoa(int(guard.RetryAfter.Seconds())))
}
