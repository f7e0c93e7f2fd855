// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/cors"
)

// Routes are those of an API: what its contract has. Every chi router has them.
type Routes interface {
	Match(context *chi.Context, method, path string) bool
}

// AllowOrigins answers browsers that ask whether a page of an origin may call,
// and lets the pages of allowed origins read the answers. A page may call what
// the API has at the address, and nothing else.
func AllowOrigins(allowed func(origin string) bool, routes Routes) func(http.Handler) http.Handler {
	return cors.Handler(cors.Options{
		AllowOriginFunc: func(r *http.Request, origin string) bool { return allowed(origin) && mayBeAsked(r, routes) },
		AllowedMethods:  methods,
		AllowedHeaders: []string{
			"App-Id", "App-Key", "Authorization", "Content-Type", "Dev-Mode",
			"Instance-Id", "Interview-Id", "Interview-Token", "Model", "X-Request-Id",
		},
		ExposedHeaders: []string{"X-Request-Id", "Retry-After"},
		MaxAge:         int((10 * time.Minute).Seconds()),
	})
}

// mayBeAsked says whether a browser that asks before it calls asks for something
// that there is.
func mayBeAsked(r *http.Request, routes Routes) bool {
	method := r.Header.Get("Access-Control-Request-Method")
	return r.Method != http.MethodOptions || method == "" || routes.Match(chi.NewRouteContext(), method, r.URL.Path)
}
