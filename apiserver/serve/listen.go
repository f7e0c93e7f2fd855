// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits on how long a client may take and how much it may send before its
// request is looked at. Answers take milliseconds; the rest is the client's
// line.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// newServer is a server with these limits. Broken handshakes and the like are
// the clients' doing and no news.
func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// newAdminServer is a server of /livez, /metrics and profiles, one of which
// takes as long as it is asked to.
func newAdminServer(handler http.Handler, log *slog.Logger) *http.Server {
	server := newServer(handler, log)
	server.WriteTimeout = 0
	return server
}

// tlsConfig offers the certificate in use, over TLS 1.2 or later.
func tlsConfig(certificate *certificate) *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate.current.Load(), nil },
	}
}

// onLoopback reports whether an address to listen at is reached from this
// machine only.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
