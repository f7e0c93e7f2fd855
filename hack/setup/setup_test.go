// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"
)

// isReachable reports whether a PostgreSQL server accepts connections at url.
func isReachable(t *testing.T, url string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	connection, err := pgx.Connect(ctx, strings.TrimSpace(url))
	if err != nil {
		return false
	}
	return connection.Close(ctx) == nil
}

// parseArgs parses a command line.
func parseArgs(t *testing.T, args ...string) *commandLine {
	t.Helper()
	var line commandLine
	parser, err := kong.New(&line)
	if err != nil {
		t.Fatal(err)
	}
	if err := line.parse(parser, args); err != nil {
		t.Fatal(err)
	}
	return &line
}

// TestCommandFindsServer checks that the command receives the server's URL and its own
// flags, and that the server stops when the command exits.
func TestCommandFindsServer(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "url")
	const script = `test "$1" = -flag && printf %s "$ANAMNESIS_TEST_POSTGRES" > "$0"`
	if err := parseArgs(t, "postgres", "--", "sh", "-c", script, file, "-flag").run(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	url, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(url), "postgres://") {
		t.Fatalf("got URL %q, %v", url, err)
	}
	if isReachable(t, string(url)) {
		t.Error("server is still reachable")
	}
}

func TestCommandFailure(t *testing.T) {
	t.Parallel()
	err := parseArgs(t, "postgres", "--", "sh", "-c", "exit 7").run(t.Context(), io.Discard)
	var child *exec.ExitError
	if !errors.As(err, &child) || child.ExitCode() != 7 {
		t.Errorf("got error %v, want exit code 7", err)
	}
	if err := parseArgs(t, "postgres", "--", "no-such-command").run(t.Context(), io.Discard); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got error %v, want %v", err, exec.ErrNotFound)
	}
}

// TestOnlyAsk checks that no server is started.
func TestOnlyAsk(t *testing.T) {
	t.Parallel()
	if err := parseArgs(t, "--only-ask", "postgres", "--", "sh", "-c", `test "$ANAMNESIS_TEST_POSTGRES" = "$1"`, "sh", os.Getenv("ANAMNESIS_TEST_POSTGRES")).run(t.Context(), io.Discard); err != nil {
		t.Error(err)
	}
	var line commandLine
	if err := line.parse(kong.Must(&line), []string{"--only-ask", "postgres"}); err == nil {
		t.Error("got no error for --only-ask without a command")
	}
}

// TestInterruptStopsCommandBeforeServer checks that an interrupt stops the command
// before the server.
func TestInterruptStopsCommandBeforeServer(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	exited := make(chan error, 1)
	go func() {
		// The script exits only when interrupted.
		script := `trap 'exit 9' INT; : > "$0"; while :; do sleep 0.05; done`
		exited <- parseArgs(t, "postgres", "--", "sh", "-c", script, ready).run(ctx, io.Discard)
	}()
	for _, err := os.Stat(ready); err != nil; _, err = os.Stat(ready) {
		select {
		case err := <-exited:
			t.Fatalf("command exited before the interrupt: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	cancel()
	err := <-exited
	var child *exec.ExitError
	if !errors.As(err, &child) || child.ExitCode() != 9 {
		t.Errorf("got error %v, want exit code 9", err)
	}
}

// TestForegroundServer checks that the server runs in the foreground and prints its URL
// if no command is given.
func TestForegroundServer(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { writer.CloseWithError(parseArgs(t, "postgres").run(ctx, writer)) }()
	output := bufio.NewReader(reader)
	url, err := output.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if !isReachable(t, url) {
		t.Errorf("no server is reachable at %s", url)
	}
	cancel()
	if rest, err := io.ReadAll(output); err != nil || len(rest) > 0 {
		t.Errorf("got further output %q, error %v", rest, err)
	}
	if isReachable(t, url) {
		t.Error("server is still reachable")
	}
}
