// SPDX-License-Identifier: Apache-2.0

// Package relay forwards connections from a port of the machine to an address in the
// node's network. It copies bytes and is independent of protocols. Its listener was
// opened on the machine; its process runs in the node's namespaces and ends with them.
// Package node starts that process.
package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"
)

// Resolver returns the target address of the next connection.
type Resolver func(context.Context) (string, error)

// dialTimeout is the timeout for connecting to the target.
const dialTimeout = 10 * time.Second

// Serve forwards every connection of the listener to the address that resolve returns,
// until the listener is closed.
func Serve(ctx context.Context, listener net.Listener, resolve Resolver) error {
	for {
		client, err := listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		go func() {
			if err := handle(ctx, client, resolve); err != nil {
				slog.Warn("failed to relay a connection", "error", err)
			}
		}()
	}
}

func handle(ctx context.Context, client net.Conn, resolve Resolver) error {
	defer func() { _ = client.Close() }()
	server, err := dial(ctx, resolve)
	if err != nil {
		reset(client)
		return err
	}
	defer func() { _ = server.Close() }()
	done := make(chan struct{}, 2)
	for _, way := range []struct{ to, from net.Conn }{{server, client}, {client, server}} {
		go func() {
			copyStream(way.to, way.from)
			done <- struct{}{}
		}()
	}
	<-done
	<-done
	return nil
}

// reset resets a connection without a target. The client is already connected to the
// relay, so the connection can no longer be refused, and the client might take an
// orderly close for a response.
func reset(client net.Conn) {
	if connection, ok := client.(*net.TCPConn); ok {
		_ = connection.SetLinger(0)
	}
}

func dial(ctx context.Context, resolve Resolver) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	address, err := resolve(ctx)
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, "tcp", address)
}

// copyStream copies one direction. At an orderly end it closes only that direction, so
// that the other side can still respond. On an error it closes both connections.
func copyStream(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
	_ = from.Close()
}
