// SPDX-License-Identifier: Apache-2.0

// Package relay leads connections from a port of the machine to an address in
// the node's network. It copies bytes and knows no protocol. Its listener was
// opened on the machine, its process lives in the node's namespaces and ends
// with them; how it gets there is the business of package node.
package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"
)

// Resolver returns the address to lead the next connection to.
type Resolver func(context.Context) (string, error)

// patience is how long a connection waits for its other half.
const patience = 10 * time.Second

// Serve leads every connection of the listener to where resolve says, until
// the listener is closed.
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
			if err := lead(ctx, client, resolve); err != nil {
				slog.Warn("a connection was not relayed", "error", err)
			}
		}()
	}
}

func lead(ctx context.Context, client net.Conn, resolve Resolver) error {
	defer func() { _ = client.Close() }()
	server, err := dial(ctx, resolve)
	if err != nil {
		refuse(client)
		return err
	}
	defer func() { _ = server.Close() }()
	done := make(chan struct{}, 2)
	for _, way := range []struct{ to, from net.Conn }{{server, client}, {client, server}} {
		go func() {
			copyAll(way.to, way.from)
			done <- struct{}{}
		}()
	}
	<-done
	<-done
	return nil
}

// refuse resets a connection that leads nowhere. Its client got through to the
// relay and cannot be refused any more; an orderly end, which the kernel makes of
// it or not by what was read, would be taken for an answer.
func refuse(client net.Conn) {
	if connection, ok := client.(*net.TCPConn); ok {
		_ = connection.SetLinger(0)
	}
}

func dial(ctx context.Context, resolve Resolver) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	address, err := resolve(ctx)
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, "tcp", address)
}

// copyAll copies one direction. When it ends in order the other side hears
// that no more will come and may go on answering; when it breaks, nothing that
// was said is worth more and both sides end.
func copyAll(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
	_ = from.Close()
}
