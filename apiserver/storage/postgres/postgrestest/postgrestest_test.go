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

// orphanVariable makes this test binary a process that starts a server and
// waits to be killed.
const orphanVariable = "ANAMNESIS_TEST_ORPHAN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(orphanVariable); dir != "" {
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

// keptDir is a directory for a cluster that whoever runs PostgreSQL can reach.
func keptDir(t *testing.T) string {
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
	ctx, cancel := context.WithTimeout(context.Background(), patience)
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

// A server asks for its password and leaves no file behind.
func TestStartAndStop(t *testing.T) {
	t.Parallel()
	server, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if method := mustQuery[string](t, server.URL(), "SHOW password_encryption"); method != "scram-sha-256" {
		t.Errorf("passwords are kept by %s", method)
	}
	location, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	location.User = url.UserPassword(superuser, "wrong")
	if _, err := query[int](t, location.String(), "SELECT 1"); err == nil {
		t.Error("the server takes a wrong password")
	}
	dir := server.cluster.dir
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	if _, err := query[int](t, server.URL(), "SELECT 1"); err == nil {
		t.Error("the server still answers")
	}
}

// A directory that is given keeps data and password over servers.
func TestKeptDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(keptDir(t), "made", "by", "start")
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
			execute(t, server.URL(), "CREATE TABLE kept AS SELECT 42 AS value")
		} else if value := mustQuery[int](t, server.URL(), "SELECT value FROM kept"); value != 42 {
			t.Errorf("kept %d", value)
		}
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if urls[0] != urls[1] {
		t.Errorf("the URL changed from %s to %s", urls[0], urls[1])
	}
}

// The server ends with the context it was started in.
func TestContextEnds(t *testing.T) {
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

// A server whose process was killed is not there any more, however it was.
func TestEndsWithParent(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), orphanVariable+"="+keptDir(t))
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
	_ = command.Wait() // it was killed
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := query[int](t, url, "SELECT 1"); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the server outlives the process that started it")
		}
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	full := keptDir(t)
	server, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	taken, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(full, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"a taken port":          {Options{Listen: taken.Host}, "could not bind"},
		"an address not ours":   {Options{Listen: "192.0.2.1:0"}, "find a free port"},
		"no port":               {Options{Listen: "127.0.0.1"}, "host:port"},
		"a file as a directory": {Options{Dir: file}, "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := Start(t.Context(), test.options)
			if err == nil {
				t.Fatal(errors.Join(errors.New("it started"), server.Stop()))
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
		})
	}
}

// Databases are empty, apart from each other, and gone after the test.
func TestDatabase(t *testing.T) {
	t.Parallel()
	var urls []string
	t.Run("use", func(t *testing.T) {
		for range 2 {
			url := Database(t)
			execute(t, url, "CREATE TABLE mine (value int)")
			urls = append(urls, url)
		}
	})
	for _, url := range urls {
		if _, err := query[int](t, url, "SELECT 1"); err == nil {
			t.Errorf("%s is still there", url)
		}
	}
}

func TestNewestFirst(t *testing.T) {
	t.Parallel()
	dirs := []string{"/usr/lib/postgresql/9.6/bin", "/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/9/bin", "/usr/lib/postgresql/100/bin"}
	want := []string{dirs[3], dirs[1], dirs[2], dirs[0]}
	if got := newestFirst(slices.Clone(dirs)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// PostgreSQL is found where PATH says, if all of it is there.
func TestProgramsInPath(t *testing.T) {
	whole, half := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(half, "initdb"), filepath.Join(whole, "initdb"), filepath.Join(whole, "postgres")} {
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", half+string(filepath.ListSeparator)+whole)
	if dir, err := Programs(t.Context()); err != nil || dir != whole {
		t.Errorf("got %s, %v, want %s", dir, err, whole)
	}
}

func TestOpenToAll(t *testing.T) {
	t.Parallel()
	closed := keptDir(t)
	inside := filepath.Join(closed, "inside")
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if open(inside) {
		t.Errorf("%s is said to be open below a closed directory", inside)
	}
	if err := os.Chmod(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	if !open(inside) {
		t.Errorf("%s is said to be closed", inside)
	}
	if open(filepath.Join(inside, "missing")) {
		t.Error("a missing directory is said to be open")
	}
}
