// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/conformance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

func TestMain(m *testing.M) {
	conformance.Child()
	os.Exit(postgrestest.Run(m))
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t testing.TB) string { return postgrestest.Database(t) })
}

// A database whose own language sorts "a" before "B" and skips punctuation
// gives the same answers. Such a database takes PostgreSQL 15.
func TestConformanceInEnglish(t *testing.T) {
	conformance.Run(t, func(t testing.TB) string {
		return postgrestest.Database(t, "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
	})
}

var (
	day = civil.Date{Year: 2026, Month: time.November, Day: 21}
	one = []storage.UsageCount{{Date: day, Application: "portal", Endpoint: "GET /v3/info", Calls: 1}}
)

// another is a batch of its own with one count.
func another() storage.UsageBatch {
	return storage.UsageBatch{Recorder: uuid.NewString(), Number: 1, Counts: one}
}

func opened(t *testing.T, url string) *postgres.Store {
	t.Helper()
	store, err := postgres.New(url)
	if err == nil {
		err = store.Open(t.Context(), storage.Owner{})
	}
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// execute changes a database behind the back of its store.
func execute(t *testing.T, url, statement string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	connection, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = connection.Exec(ctx, statement)
	if err := errors.Join(err, connection.Close(ctx)); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// changed returns the URL with something about it changed.
func changed(t *testing.T, text string, change func(*url.URL)) string {
	t.Helper()
	location, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	change(location)
	return location.String()
}

// wantSafe wants an error with a text, and without any part of the URL that
// somebody may want to keep.
func wantSafe(t *testing.T, err error, want, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
		return
	}
	location, parseErr := url.Parse(text)
	if parseErr != nil {
		t.Fatal(parseErr)
	}
	password, _ := location.User.Password()
	for _, part := range []string{location.Hostname(), location.Port(), password, strings.TrimPrefix(location.Path, "/"), text} {
		if len(part) > 3 && strings.Contains(err.Error(), part) {
			t.Errorf("the error %q tells %q", err, part)
		}
	}
}

// serve answers connections to a port of loopback and returns a URL of it.
func serve(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			answer(connection)
		}
	}()
	return "postgres://useruser:password@" + listener.Addr().String() + "/dbname42?sslmode=disable&connect_timeout=1"
}

func speakHTTP(connection net.Conn) {
	_, _ = connection.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	_ = connection.Close()
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	good := postgrestest.Database(t)
	nobody := serve(t, func(net.Conn) {})
	held := make(chan net.Conn, 100) // so that no connection is closed for want of a reference
	for name, test := range map[string]struct{ url, want string }{
		"wrong password": {changed(t, good, func(u *url.URL) { u.User = url.UserPassword("postgres", "hunter2hunter2") }), "refuses the user or the password"},
		"wrong user":     {changed(t, good, func(u *url.URL) { u.User = url.UserPassword("somebody", "hunter2hunter2") }), "refuses the user or the password"},
		"no database":    {changed(t, good, func(u *url.URL) { u.Path = "/databasename" }), "the database does not exist"},
		"no TLS":         {changed(t, good, func(u *url.URL) { u.RawQuery = "sslmode=require" }), "sslmode"},
		"hangs up":       {serve(t, func(c net.Conn) { _ = c.Close() }), "connection"},
		"other protocol": {serve(t, speakHTTP), "server"},
		"says nothing":   {serve(t, func(c net.Conn) { held <- c }), "did not answer in time"},
		"nobody there":   {changed(t, nobody, func(u *url.URL) { u.Host = "127.0.0.1:1" }), "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open.Open(t.Context(), test.url)
			wantSafe(t, err, test.want, test.url)
			if errors.Is(err, storage.ErrInvalidURL) {
				t.Errorf("%v says that the URL can never work", err)
			}
		})
	}
}

func TestInvalidURL(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, text := range []string{
		"", "postgres", "mysql://" + secret + "@localhost/x", "host=localhost password=" + secret,
		"postgres://user:" + secret + "/" + secret + "@localhost/x",
		"postgres://user:%" + secret + "@localhost/x",
		"postgres://user:" + secret + "@local host/x",
		"postgres://user:" + secret + "@localhost:port/x",
		"postgres://user:" + secret + "@localhost:99999/x",
		"postgres://user:" + secret + "@[::1/x",
		"postgres://user:" + secret + "@localhost/x?sslmode=" + secret,
		"postgres://user:" + secret + "@localhost/x?sslmode=verify-full&sslrootcert=/" + secret,
		"postgres://user:" + secret + "@localhost/x?pool_max_conns=" + secret,
		"postgres://user:" + secret + "@localhost/x?connect_timeout=" + secret,
		"postgresql://user:" + secret + "\x00@localhost/x",
	} {
		_, err := postgres.New(text)
		if !errors.Is(err, storage.ErrInvalidURL) {
			t.Errorf("%q: got error %v, want one that wraps ErrInvalidURL", text, err)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%q: the error %q tells the secret", text, err)
		}
	}
}

// A user who may not make tables is told so.
func TestNoPrivilege(t *testing.T) {
	t.Parallel()
	admin := postgrestest.Database(t)
	role := "role_" + strings.ToLower(rand.Text())
	execute(t, admin, "CREATE ROLE "+role+" LOGIN PASSWORD 'hunter2hunter2'")
	t.Cleanup(func() { execute(t, admin, "DROP ROLE "+role) })
	execute(t, admin, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	text := changed(t, admin, func(u *url.URL) { u.User = url.UserPassword(role, "hunter2hunter2") })
	_, err := open.Open(t.Context(), text)
	wantSafe(t, err, "lacks a privilege", text)
}

// A standby, or a database that was made read-only, is noticed.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	text := postgrestest.Database(t)
	store := opened(t, text)
	if err := store.AddUsage(t.Context(), another()); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(mustParse(t, text).Path, "/")
	execute(t, text, "ALTER DATABASE "+name+" SET default_transaction_read_only = on")
	store = opened(t, text)
	wantSafe(t, store.Ping(t.Context()), "read-only", text)
	wantSafe(t, store.AddUsage(t.Context(), another()), "read-only", text)
	if got, err := store.Usage(t.Context(), day, day); err != nil || cmp.Diff(one, got) != "" {
		t.Errorf("got %v, %v, want what was added before", got, err)
	}
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	location, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return location
}

// A server that goes away is an error while it is away, and no longer than
// that.
func TestOutage(t *testing.T) {
	t.Parallel()
	options := postgrestest.Options{Dir: t.TempDir()}
	if os.Geteuid() == 0 {
		options.Dir = rootsTempDir(t)
	}
	server, err := postgrestest.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	store := opened(t, server.URL())
	if err := store.AddUsage(t.Context(), another()); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		wantSafe(t, store.Ping(t.Context()), "server", server.URL())
		wantSafe(t, store.AddUsage(t.Context(), another()), "add 1 usage counts", server.URL())
		_, err := store.Usage(t.Context(), day, day)
		wantSafe(t, err, "read the usage", server.URL())
	}
	options.Listen = mustParse(t, server.URL()).Host
	server, err = postgrestest.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := store.Ping(t.Context()); err != nil {
		t.Errorf("ping after the server is back: %v", err)
	}
	if err := store.AddUsage(t.Context(), another()); err != nil {
		t.Errorf("add after the server is back: %v", err)
	}
	want := []storage.UsageCount{one[0]}
	want[0].Calls = 2
	got, err := store.Usage(t.Context(), day, day)
	if err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// rootsTempDir is a directory that the user who runs PostgreSQL for root can
// reach, which t.TempDir may not be.
func rootsTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "anamnesis-outage-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
