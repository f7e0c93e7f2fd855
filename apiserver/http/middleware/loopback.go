// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// AllowLoopbackHosts rejects requests whose Host header is not a loopback name. This prevents
// DNS rebinding, where a web page resolves its own hostname to 127.0.0.1 to call an
// unprotected local server as same-origin.
func AllowLoopbackHosts(reject http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !isLoopbackHost(r.Host) {
				reject(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// isLoopbackHost reports whether a Host header, with or without a port, names the
// loopback interface.
func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	address, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && address.IsLoopback()
}
