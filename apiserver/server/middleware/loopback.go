// SPDX-License-Identifier: Apache-2.0

package middleware

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// LoopbackNamesOnly answers calls to other names than those of this machine with
// refuse. A page of anywhere can have its own name lead to 127.0.0.1, and would
// then call a server that is open to whoever is on the machine as if it were its
// own.
func LoopbackNamesOnly(refuse http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !isLoopbackName(r.Host) {
				refuse(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// isLoopbackName says whether the value of a header Host is this machine's, with
// or without a port.
func isLoopbackName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	address, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && address.IsLoopback()
}
