// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/cors"
)

// Routes matches the routes of an API. Every chi router implements it.
type Routes interface {
	Match(context *chi.Context, method, path string) bool
}

// AllowCORS responds to preflight requests and allows pages of the given origins to read
// responses. Pages may call only routes of the API.
func AllowCORS(allowed func(origin string) bool, routes Routes) func(http.Handler) http.Handler {
	return cors.Handler(cors.Options{
		AllowOriginFunc: func(r *http.Request, origin string) bool { return allowed(origin) && isRoutable(r, routes) },
		AllowedMethods:  knownMethods,
		AllowedHeaders: []string{
			"App-Id", "App-Key", "Authorization", "Content-Type", "Dev-Mode",
			"Instance-Id", "Interview-Id", "Interview-Token", "Model", "X-Request-Id",
		},
		ExposedHeaders: []string{"X-Request-Id", "Retry-After"},
		MaxAge:         int((10 * time.Minute).Seconds()),
	})
}

// isRoutable reports whether a request is either not a preflight request or asks for an
// existing route.
func isRoutable(r *http.Request, routes Routes) bool {
	method := r.Header.Get("Access-Control-Request-Method")
	return r.Method != http.MethodOptions || method == "" || routes.Match(chi.NewRouteContext(), method, r.URL.Path)
}
