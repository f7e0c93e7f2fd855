// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
)

// listen opens a loopback listener and closes it when the test ends.
func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// startRelay starts a relay to the target that resolve returns, and returns the address
// to dial.
func startRelay(t *testing.T, resolve Resolver) string {
	t.Helper()
	listener := listen(t)
	ended := make(chan error, 1)
	go func() { ended <- Serve(context.Background(), listener, resolve) }()
	t.Cleanup(func() {
		_ = listener.Close()
		if err := <-ended; err != nil {
			t.Errorf("relay returned %v", err)
		}
	})
	return listener.Addr().String()
}

// startServer starts a server that handles each connection with handle, and returns a
// resolver for its address.
func startServer(t *testing.T, handle func(*net.TCPConn)) Resolver {
	t.Helper()
	listener := listen(t)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go handle(connection.(*net.TCPConn))
		}
	}()
	return func(context.Context) (string, error) { return listener.Addr().String(), nil }
}

func dialRelay(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection.(*net.TCPConn)
}

func TestHalfCloseIsRelayed(t *testing.T) {
	t.Parallel()
	// A server that responds only after it has read the whole request.
	address := startRelay(t, startServer(t, func(connection *net.TCPConn) {
		defer func() { _ = connection.Close() }()
		if heard, err := io.ReadAll(connection); err == nil {
			_, _ = connection.Write(bytes.ToUpper(heard))
		}
	}))
	sent := bytes.Repeat([]byte("question "), 100_000)
	connection := dialRelay(t, address)
	if _, err := connection.Write(sent); err != nil {
		t.Fatal(err)
	}
	if err := connection.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(connection)
	if err != nil || !bytes.Equal(answer, bytes.ToUpper(sent)) {
		t.Errorf("received %d of %d bytes, error %v", len(answer), len(sent), err)
	}
}

func TestServerSpeaksFirst(t *testing.T) {
	t.Parallel()
	address := startRelay(t, startServer(t, func(connection *net.TCPConn) {
		_, _ = connection.Write([]byte("welcome"))
		_ = connection.Close()
	}))
	heard, err := io.ReadAll(dialRelay(t, address))
	if err != nil || string(heard) != "welcome" {
		t.Errorf("received %q, error %v", heard, err)
	}
}

func TestUnreachableTargetResetsConnection(t *testing.T) {
	t.Parallel()
	closed := listen(t)
	_ = closed.Close()
	for name, resolve := range map[string]Resolver{
		"no such target": func(context.Context) (string, error) { return "", errors.New("no such Service") },
		"no listener":    func(context.Context) (string, error) { return closed.Addr().String(), nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The reset may arrive before Dial returns.
			var heard []byte
			connection, err := net.Dial("tcp", startRelay(t, resolve))
			if err == nil {
				defer func() { _ = connection.Close() }()
				heard, err = io.ReadAll(connection)
			}
			if len(heard) > 0 || !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("received %q, error %v; want a reset", heard, err)
			}
		})
	}
}

func TestEachConnectionIsResolved(t *testing.T) {
	t.Parallel()
	says := func(words string) Resolver {
		return startServer(t, func(connection *net.TCPConn) {
			_, _ = connection.Write([]byte(words))
			_ = connection.Close()
		})
	}
	first, second := says("first"), says("second")
	var asked atomic.Int32
	address := startRelay(t, func(ctx context.Context) (string, error) {
		if asked.Add(1) == 1 {
			return first(ctx)
		}
		return second(ctx)
	})
	for _, want := range []string{"first", "second", "second"} {
		if heard, err := io.ReadAll(dialRelay(t, address)); err != nil || string(heard) != want {
			t.Errorf("received %q, error %v; want %q", heard, err, want)
		}
	}
}
