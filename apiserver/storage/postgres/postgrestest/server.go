// SPDX-License-Identifier: Apache-2.0

package postgrestest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
)

// serverTimeout limits how long a server may take to start, and to stop.
const serverTimeout = time.Minute

// Options configures a server. The zero value is a temporary server on a free loopback
// port.
type Options struct {
	// Listen is the host:port to listen on. Defaults to 127.0.0.1:0. Port 0 selects a free
	// port.
	Listen string

	// Dir holds the data, password and log. It is created if it does not exist, and reused
	// otherwise. If unset, a temporary directory is used and deleted on Stop.
	Dir string
}

// Server is a running PostgreSQL server.
type Server struct {
	url     string
	cluster *cluster
	cancel  context.CancelFunc
	done    chan struct{} // closed when the process has exited
	err     error         // exit error; read only after done is closed
}

// Start starts a server and returns when it accepts connections. It runs until Stop is
// called, ctx ends or this process exits; only Stop deletes its files. Committed data
// survives a server crash but not a machine crash, because fsync is off.
func Start(ctx context.Context, options Options) (*Server, error) {
	binDir, err := FindBinDir(ctx)
	if err != nil {
		return nil, err
	}
	cluster, err := newCluster(ctx, binDir, options.Dir)
	if err != nil {
		return nil, fmt.Errorf("creating PostgreSQL cluster: %w", err)
	}
	server, err := cluster.start(ctx, options.Listen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting PostgreSQL: %w", err), cluster.close())
	}
	return server, nil
}

// start starts the server. Another process may bind the free port before PostgreSQL does,
// so start retries a few times.
func (c *cluster) start(ctx context.Context, listen string) (*Server, error) {
	host, port, err := net.SplitHostPort(cmp.Or(listen, "127.0.0.1:0"))
	if err != nil {
		return nil, fmt.Errorf("invalid listen address %q: expected host:port: %w", listen, err)
	}
	if port != "0" {
		return c.startAt(ctx, host, port)
	}
	var failures []error
	for range 3 {
		free, err := freePort(ctx, host)
		if err != nil {
			return nil, err
		}
		server, err := c.startAt(ctx, host, free)
		if err == nil {
			return server, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

func freePort(ctx context.Context, host string) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}

func (c *cluster) startAt(ctx context.Context, host, port string) (*Server, error) {
	ctx, stop := context.WithCancel(ctx)
	server := &Server{url: c.url(host, port), cluster: c, cancel: stop, done: make(chan struct{})}
	command := c.command(ctx, "postgres",
		"-D", c.dataDir(), "-h", host, "-p", port,
		"-c", "unix_socket_directories=", "-c", "max_connections=500",
		"-c", "fsync=off", "-c", "full_page_writes=off")
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // "fast shutdown"
	command.WaitDelay = serverTimeout
	if err := server.startProcess(command); err != nil {
		stop()
		return nil, err
	}
	if err := server.waitReady(ctx); err != nil {
		stop()
		<-server.done
		return nil, fmt.Errorf("%w; last log lines:\n%s", err, c.logTail())
	}
	return server, nil
}

// startProcess starts the process and waits for it. Both happen on a dedicated OS
// thread: the kernel kills the process when the thread that started it exits, and the Go
// runtime may terminate threads at any time. For the same reason no other process may
// use killWithParent.
func (s *Server) startProcess(command *exec.Cmd) error {
	killWithParent(command.SysProcAttr)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := command.Start()
		started <- err
		if err != nil {
			return
		}
		s.err = command.Wait()
		close(s.done)
	}()
	return <-started
}

// waitReady waits until the server accepts connections.
func (s *Server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	for {
		connection, err := pgx.Connect(ctx, s.url)
		if err == nil {
			return connection.Close(ctx)
		}
		select {
		case <-s.done:
			return fmt.Errorf("server exited on startup: %w", s.err)
		case <-ctx.Done():
			return fmt.Errorf("server did not become ready: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// URL returns the superuser's URL of the database "postgres", including the password.
func (s *Server) URL() string { return s.url }

// Done returns a channel that is closed when the server has exited, for any reason.
func (s *Server) Done() <-chan struct{} { return s.done }

// Stop stops the server and deletes its files unless Options.Dir is set. It must be
// called at most once.
func (s *Server) Stop() error {
	s.cancel()
	<-s.done
	if s.err != nil && !errors.Is(s.err, context.Canceled) {
		err := fmt.Errorf("PostgreSQL exited with an error: %w; last log lines:\n%s", s.err, s.cluster.logTail())
		return errors.Join(err, s.cluster.close())
	}
	return s.cluster.close()
}
