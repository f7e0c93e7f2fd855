// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// knownMethods lists the methods that a route can support.
var knownMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

// MethodNotAllowed sets Allow to the methods that the path supports and passes them to
// reject, which responds. The router also calls it for methods unknown to HTTP on any path;
// if the path supports no method, notFound responds.
func MethodNotAllowed(routes chi.Routes, reject func(w http.ResponseWriter, allowed string), notFound http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range knownMethods {
			if routes.Match(chi.NewRouteContext(), method, r.URL.Path) {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			notFound(w, r)
			return
		}
		list := strings.Join(allowed, ", ")
		w.Header().Set("Allow", list)
		reject(w, list)
	}
}
