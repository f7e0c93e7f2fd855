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

// patience is how long a server may take to start and, each, to stop.
const patience = time.Minute

// Options say where a server runs. The zero value is a server on a free port
// of loopback whose data is gone when it stops.
type Options struct {
	// Listen is the host:port at which the server listens, 127.0.0.1:0 when
	// empty. Port 0 is any free one.
	Listen string

	// Dir is where the server keeps its data, its password and its log; made
	// when it does not exist, and used again when it does. Empty is a new
	// directory, removed when the server stops.
	Dir string
}

// Server is a PostgreSQL server that runs.
type Server struct {
	url     string
	cluster *cluster
	cancel  context.CancelFunc
	done    chan struct{} // closed once the process has ended
	err     error         // why it ended; to be read after done
}

// Start starts a server and returns when it answers. It runs until Stop is
// called, ctx ends or this process does; Stop has to be called to have its
// files removed. What was committed survives the end of the server, but not
// that of the machine: nothing waits for the disk.
func Start(ctx context.Context, options Options) (*Server, error) {
	programs, err := Programs(ctx)
	if err != nil {
		return nil, err
	}
	cluster, err := newCluster(ctx, programs, options.Dir)
	if err != nil {
		return nil, fmt.Errorf("make a PostgreSQL cluster: %w", err)
	}
	server, err := cluster.start(ctx, options.Listen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start PostgreSQL: %w", err), cluster.close())
	}
	return server, nil
}

// start runs the server. A free port may be taken before PostgreSQL gets to
// it, so then it tries some more.
func (c *cluster) start(ctx context.Context, listen string) (*Server, error) {
	host, port, err := net.SplitHostPort(cmp.Or(listen, "127.0.0.1:0"))
	if err != nil {
		return nil, fmt.Errorf("%q is not of the form host:port: %w", listen, err)
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
		return "", fmt.Errorf("find a free port: %w", err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}

func (c *cluster) startAt(ctx context.Context, host, port string) (*Server, error) {
	ctx, stop := context.WithCancel(ctx)
	server := &Server{url: c.url(host, port), cluster: c, cancel: stop, done: make(chan struct{})}
	command := c.command(ctx, "postgres",
		"-D", c.data(), "-h", host, "-p", port,
		"-c", "unix_socket_directories=", "-c", "max_connections=500",
		"-c", "fsync=off", "-c", "full_page_writes=off")
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) } // "fast shutdown"
	command.WaitDelay = patience
	if err := server.run(command); err != nil {
		stop()
		return nil, err
	}
	if err := server.awaitAnswer(ctx); err != nil {
		stop()
		<-server.done
		return nil, fmt.Errorf("%w; the end of its log:\n%s", err, c.logTail())
	}
	return server, nil
}

// run starts the process and sees to its end. Both happen on one thread that
// is used for nothing else: the kernel ends the process when the thread that
// started it is gone, and Go ends threads as it likes, this one among them. So
// no other process may be told to end with its parent.
func (s *Server) run(command *exec.Cmd) error {
	endWithParent(command.SysProcAttr)
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

// awaitAnswer waits until the server lets us in.
func (s *Server) awaitAnswer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		connection, err := pgx.Connect(ctx, s.url)
		if err == nil {
			return connection.Close(ctx)
		}
		select {
		case <-s.done:
			return fmt.Errorf("the server ended at once: %w", s.err)
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// URL names the server's database "postgres" and its superuser, with the
// password.
func (s *Server) URL() string { return s.url }

// Done is closed when the server has ended, whoever ended it.
func (s *Server) Done() <-chan struct{} { return s.done }

// Stop ends the server and, unless Options.Dir kept them, removes its files.
// It may be called once.
func (s *Server) Stop() error {
	s.cancel()
	<-s.done
	if s.err != nil && !errors.Is(s.err, context.Canceled) {
		err := fmt.Errorf("PostgreSQL ended badly: %w; the end of its log:\n%s", s.err, s.cluster.logTail())
		return errors.Join(err, s.cluster.close())
	}
	return s.cluster.close()
}
