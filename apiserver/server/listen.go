// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/limiter"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/connlimit"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/drain"
)

// Limits on the size and duration of requests. Responses take milliseconds; the timeouts
// allow for slow connections. A body must arrive within readTimeout, so that no client
// holds a share of the body budget for long.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 8 << 10
)

// Buffers for unread bodies of an HTTP/2 connection: 64 KiB per stream, which is more
// than any interview needs, and twice that for all streams together.
const (
	maxStreamBuffer     = 64 << 10
	maxConnectionBuffer = 128 << 10
)

// A listeningServer is an HTTP server with its bound listener.
type listeningServer struct {
	server      *http.Server
	listener    net.Listener
	connections *drain.Connections // nil over plain HTTP
}

// newHTTPServer returns a server with these limits. It logs client errors such as
// failed handshakes at debug level only.
func newHTTPServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream:     maxStreamBuffer,
			MaxReceiveBufferPerConnection: maxConnectionBuffer,
			WriteByteTimeout:              writeTimeout,
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// listenAll binds both addresses.
func (p *process) listenAll(ctx context.Context) (tenant, admin *listeningServer, err error) {
	tenant = &listeningServer{server: newHTTPServer(p.newTenantHandler(), p.log)}
	admin = &listeningServer{server: newHTTPServer(p.newAdminHandler(), p.log)}
	admin.server.WriteTimeout = 0 // the client chooses the duration of a profile
	if err := tenant.listen(ctx, "--listen", p.Listen); err != nil {
		return nil, nil, err
	}
	if err := admin.listen(ctx, "--admin-listen", p.AdminListen); err != nil {
		return nil, nil, errors.Join(err, tenant.listener.Close())
	}
	tenant.server.HTTP2.MaxConcurrentStreams = p.limits.StreamsPerConnection
	tenant.listener = connlimit.WrapListener(tenant.server, tenant.listener, p.limits.Connections,
		func() { p.metrics.RecordRejection(string(limiter.TooManyConnections)) })
	if p.settings.certificate != nil {
		tenant.listener, tenant.connections = drain.WrapListener(tenant.server, tenant.listener, p.settings.certificate.tlsConfig())
	}
	return tenant, admin, nil
}

func (l *listeningServer) listen(ctx context.Context, flag, address string) (err error) {
	l.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("%s: %w; choose another address", flag, err)
	}
	return nil
}

func (l *listeningServer) address() string { return l.listener.Addr().String() }

// serve serves until the server is stopped.
func (l *listeningServer) serve() error {
	if err := l.server.Serve(l.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", l.address(), err)
	}
	return nil
}

// stop waits for requests in flight, up to shutdownTimeout.
func (l *listeningServer) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	shutdown := l.server.Shutdown
	if l.connections != nil {
		shutdown = l.connections.Shutdown
	}
	err := shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("shutting down %s: requests still in flight after %s", l.address(), shutdownTimeout), l.server.Close())
	}
	return err
}

// tlsConfig returns a TLS 1.2+ configuration that serves the current certificate.
func (c *reloadableCertificate) tlsConfig() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}
