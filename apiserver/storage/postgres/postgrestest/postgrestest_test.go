// SPDX-License-Identifier: Apache-2.0

package postgrestest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// orphanEnv turns this test binary into a process that starts a server and waits to be
// killed.
const orphanEnv = "ANAMNESIS_TEST_ORPHAN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(orphanEnv); dir != "" {
		server, err := Start(context.Background(), Options{Dir: dir})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(server.URL())
		<-server.Done()
		os.Exit(1)
	}
	os.Exit(Run(m))
}

// newPersistentDir returns a cluster directory that is accessible to the user running
// PostgreSQL.
func newPersistentDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "anamnesis-postgrestest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func query[T any](t *testing.T, url, statement string) (value T, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), serverTimeout)
	defer cancel()
	connection, err := pgx.Connect(ctx, url)
	if err != nil {
		return value, err
	}
	err = connection.QueryRow(ctx, statement).Scan(&value)
	return value, errors.Join(err, connection.Close(ctx))
}

func mustQuery[T any](t *testing.T, url, statement string) T {
	t.Helper()
	value, err := query[T](t, url, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return value
}

// TestStartAndStop checks that a server requires its password and leaves no files
// behind.
func TestStartAndStop(t *testing.T) {
	t.Parallel()
	server, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if method := mustQuery[string](t, server.URL(), "SHOW password_encryption"); method != "scram-sha-256" {
		t.Errorf("password_encryption is %s, want scram-sha-256", method)
	}
	location, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	location.User = url.UserPassword(superuser, "wrong")
	if _, err := query[int](t, location.String(), "SELECT 1"); err == nil {
		t.Error("server accepted a wrong password")
	}
	dir := server.cluster.dir
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("directory %s was not removed: %v", dir, err)
	}
	if _, err := query[int](t, server.URL(), "SELECT 1"); err == nil {
		t.Error("server still responds after Stop")
	}
}

// TestDirectoryIsReused checks that Options.Dir keeps the data and password across
// servers.
func TestDirectoryIsReused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(newPersistentDir(t), "made", "by", "start")
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(filepath.Dir(filepath.Dir(dir))), 0o755); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for i := range 2 {
		options := Options{Dir: dir}
		if i > 0 {
			location, err := url.Parse(urls[0])
			if err != nil {
				t.Fatal(err)
			}
			options.Listen = location.Host
		}
		server, err := Start(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, server.URL())
		if i == 0 {
			execSQL(t, server.URL(), "CREATE TABLE kept AS SELECT 42 AS value")
		} else if value := mustQuery[int](t, server.URL(), "SELECT value FROM kept"); value != 42 {
			t.Errorf("got value %d after the restart, want 42", value)
		}
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if urls[0] != urls[1] {
		t.Errorf("URL changed from %s to %s", urls[0], urls[1])
	}
}

// TestServerStopsWithContext checks that the server stops when its context ends.
func TestServerStopsWithContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server, err := Start(ctx, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-server.Done()
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
}

// TestServerDiesWithParent checks that the server exits when its parent is killed.
func TestServerDiesWithParent(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), orphanEnv+"="+newPersistentDir(t))
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	mustQuery[int](t, url, "SELECT 1")
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // always an error: the child was killed
	for deadline := time.Now().Add(serverTimeout); ; time.Sleep(20 * time.Millisecond) {
		if _, err := query[int](t, url, "SELECT 1"); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("server still runs after its parent was killed")
		}
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	dir := newPersistentDir(t)
	server, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	used, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"port in use":       {Options{Listen: used.Host}, "could not bind"},
		"foreign address":   {Options{Listen: "192.0.2.1:0"}, "finding a free port"},
		"missing port":      {Options{Listen: "127.0.0.1"}, "host:port"},
		"file as directory": {Options{Dir: file}, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := Start(t.Context(), test.options)
			if err == nil {
				t.Fatal(errors.Join(errors.New("server started, want an error"), server.Stop()))
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want it to contain %q", err, test.want)
			}
		})
	}
}

// TestDatabasesAreIsolated checks that databases are empty, isolated from each other,
// and dropped after the test.
func TestDatabasesAreIsolated(t *testing.T) {
	t.Parallel()
	var urls []string
	t.Run("use", func(t *testing.T) {
		for range 2 {
			url := NewDatabase(t)
			execSQL(t, url, "CREATE TABLE mine (value int)")
			urls = append(urls, url)
		}
	})
	for _, url := range urls {
		if _, err := query[int](t, url, "SELECT 1"); err == nil {
			t.Errorf("database %s was not dropped", url)
		}
	}
}

func TestSortNewestFirst(t *testing.T) {
	t.Parallel()
	dirs := []string{"/usr/lib/postgresql/9.6/bin", "/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/9/bin", "/usr/lib/postgresql/100/bin"}
	want := []string{dirs[3], dirs[1], dirs[2], dirs[0]}
	if got := sortNewestFirst(slices.Clone(dirs)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestFindBinDirInPath checks that PATH is used if it contains all programs.
func TestFindBinDirInPath(t *testing.T) {
	complete, incomplete := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(incomplete, "initdb"), filepath.Join(complete, "initdb"), filepath.Join(complete, "postgres")} {
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", incomplete+string(filepath.ListSeparator)+complete)
	if dir, err := FindBinDir(t.Context()); err != nil || dir != complete {
		t.Errorf("got %s, %v, want %s", dir, err, complete)
	}
}

func TestIsTraversable(t *testing.T) {
	t.Parallel()
	private := newPersistentDir(t)
	inside := filepath.Join(private, "inside")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if isTraversable(inside) {
		t.Errorf("isTraversable(%s) = true below an inaccessible directory", inside)
	}
	if err := os.Chmod(private, 0o755); err != nil {
		t.Fatal(err)
	}
	if !isTraversable(inside) {
		t.Errorf("isTraversable(%s) = false", inside)
	}
	if isTraversable(filepath.Join(inside, "missing")) {
		t.Error("isTraversable = true for a missing directory")
	}
}
