// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/serve/connlimit"
	"github.com/anamnesis-dev/anamnesis/apiserver/serve/drain"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/guard"
)

// Limits on how long a client may take and how much it may send before its
// request is looked at. Answers take milliseconds; the rest is the client's
// line. A body comes within readTimeout or not at all, so that nobody holds for
// long what he was given room for.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 8 << 10
)

// What an HTTP/2 connection holds of bodies that nobody has read yet: 64 KiB of
// each stream, which is more than any interview needs, and twice that of all.
const (
	streamBuffer     = 64 << 10
	connectionBuffer = 128 << 10
)

// A listening server has its address already.
type listening struct {
	server      *http.Server
	listener    net.Listener
	connections *drain.Connections // nil over plain HTTP
}

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
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream:     streamBuffer,
			MaxReceiveBufferPerConnection: connectionBuffer,
			WriteByteTimeout:              writeTimeout,
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// listen takes both addresses.
func (p *process) listen(ctx context.Context) (tenant, admin *listening, err error) {
	tenant = &listening{server: newServer(p.tenantHandler(), p.log)}
	admin = &listening{server: newServer(p.adminHandler(), p.log)}
	admin.server.WriteTimeout = 0 // a profile takes as long as it is asked to
	if err := tenant.listen(ctx, "--listen", p.Listen); err != nil {
		return nil, nil, err
	}
	if err := admin.listen(ctx, "--admin-listen", p.AdminListen); err != nil {
		return nil, nil, errors.Join(err, tenant.listener.Close())
	}
	tenant.server.HTTP2.MaxConcurrentStreams = p.limits.StreamsPerConnection
	tenant.listener = connlimit.Serve(tenant.server, tenant.listener, p.limits.Connections,
		func() { p.metrics.TurnedAway(guard.TooManyConnections) })
	if p.settings.certificate != nil {
		tenant.listener, tenant.connections = drain.Serve(tenant.server, tenant.listener, p.settings.certificate.config())
	}
	return tenant, admin, nil
}

func (l *listening) listen(ctx context.Context, flag, address string) (err error) {
	l.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("%s: %w; another address may be free", flag, err)
	}
	return nil
}

func (l *listening) address() string { return l.listener.Addr().String() }

// serve answers until the server is stopped.
func (l *listening) serve() error {
	if err := l.server.Serve(l.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving at %s: %w", l.address(), err)
	}
	return nil
}

// stop waits for the requests under way, but not for ever.
func (l *listening) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	shutdown := l.server.Shutdown
	if l.connections != nil {
		shutdown = l.connections.Shutdown
	}
	err := shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(fmt.Errorf("requests at %s were still under way after %s", l.address(), stopTimeout), l.server.Close())
	}
	return err
}

// config offers the certificate in use, over TLS 1.2 or later.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}
