// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// methods are those that any address may have.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

// MethodNotAllowed answers with refuse, which is told the methods that the
// address has, after naming them in the header Allow. A router asks it about
// methods that HTTP does not know as well, whatever the address: where there is
// nothing, it answers with nothing.
func MethodNotAllowed(routes chi.Routes, refuse func(w http.ResponseWriter, allowed string), nothing http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range methods {
			if routes.Match(chi.NewRouteContext(), method, r.URL.Path) {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			nothing(w, r)
			return
		}
		list := strings.Join(allowed, ", ")
		w.Header().Set("Allow", list)
		refuse(w, list)
	}
}
