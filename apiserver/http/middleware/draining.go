// SPDX-License-Identifier: Apache-2.0

package middleware

import "net/http"

// CloseWhenDraining asks HTTP/1.1 clients to reconnect once the server is draining. HTTP/2
// signals draining on the connection, where the header would abort concurrent requests.
func CloseWhenDraining(draining func() bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor == 1 && draining() {
				w.Header().Set("Connection", "close")
			}
			next.ServeHTTP(w, r)
		})
	}
}
