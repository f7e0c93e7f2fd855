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

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/conformance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

func TestMain(m *testing.M) {
	conformance.RunChild()
	os.Exit(postgrestest.Run(m))
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t testing.TB) string { return postgrestest.NewDatabase(t) })
}

// TestConformanceWithICULocale runs the conformance tests on a database whose collation
// sorts "a" before "B" and ignores punctuation. It requires PostgreSQL 15.
func TestConformanceWithICULocale(t *testing.T) {
	conformance.Run(t, func(t testing.TB) string {
		return postgrestest.NewDatabase(t, "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
	})
}

var (
	day      = civil.Date{Year: 2026, Month: time.November, Day: 21}
	oneCount = []usage.Count{{Date: day, Application: "portal", Endpoint: "GET /v3/info", Calls: 1}}
)

// newUsageBatch returns a batch with one count and a new recorder.
func newUsageBatch() usage.Batch {
	return usage.Batch{Recorder: uuid.NewString(), Sequence: 1, Counts: oneCount}
}

func openStore(t *testing.T, url string) *postgres.Store {
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

// execSQL changes a database directly, bypassing its store.
func execSQL(t *testing.T, url, statement string) {
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

// editURL returns a modified copy of the URL.
func editURL(t *testing.T, text string, change func(*url.URL)) string {
	t.Helper()
	location, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	change(location)
	return location.String()
}

// expectSafeError checks that an error contains a text and no confidential part of the
// URL.
func expectSafeError(t *testing.T, err error, want, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want it to contain %q", err, want)
		return
	}
	location, parseErr := url.Parse(text)
	if parseErr != nil {
		t.Fatal(parseErr)
	}
	password, _ := location.User.Password()
	for _, part := range []string{location.Hostname(), location.Port(), password, strings.TrimPrefix(location.Path, "/"), text} {
		if len(part) > 3 && strings.Contains(err.Error(), part) {
			t.Errorf("error %q contains %q", err, part)
		}
	}
}

// startServer accepts connections on a loopback port and returns its URL.
func startServer(t *testing.T, handle func(net.Conn)) string {
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
			handle(connection)
		}
	}()
	return "postgres://useruser:password@" + listener.Addr().String() + "/dbname42?sslmode=disable&connect_timeout=1"
}

func speakHTTP(connection net.Conn) {
	_, _ = connection.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	_ = connection.Close()
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	good := postgrestest.NewDatabase(t)
	silent := startServer(t, func(net.Conn) {})
	held := make(chan net.Conn, 100) // keep references so that no connection is closed by the garbage collector
	for name, test := range map[string]struct{ url, want string }{
		"wrong password":    {editURL(t, good, func(u *url.URL) { u.User = url.UserPassword("postgres", "hunter2hunter2") }), "rejected the user name or password"},
		"wrong user":        {editURL(t, good, func(u *url.URL) { u.User = url.UserPassword("someone", "hunter2hunter2") }), "rejected the user name or password"},
		"missing database":  {editURL(t, good, func(u *url.URL) { u.Path = "/databasename" }), "database does not exist"},
		"no TLS":            {editURL(t, good, func(u *url.URL) { u.RawQuery = "sslmode=require" }), "sslmode"},
		"closed connection": {startServer(t, func(c net.Conn) { _ = c.Close() }), "connection"},
		"other protocol":    {startServer(t, speakHTTP), "server"},
		"silent server":     {startServer(t, func(c net.Conn) { held <- c }), "did not respond in time"},
		"no listener":       {editURL(t, silent, func(u *url.URL) { u.Host = "127.0.0.1:1" }), "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open.Open(t.Context(), test.url)
			expectSafeError(t, err, test.want, test.url)
			if errors.Is(err, storage.ErrInvalidURL) {
				t.Errorf("got %v, want an error that does not wrap ErrInvalidURL", err)
			}
		})
	}
}

func TestNewRejectsInvalidURLs(t *testing.T) {
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
			t.Errorf("%q: got error %v, want ErrInvalidURL", text, err)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%q: error %q contains the secret", text, err)
		}
	}
}

// TestOpenWithoutPrivileges checks the error for a user without permission to create
// tables.
func TestOpenWithoutPrivileges(t *testing.T) {
	t.Parallel()
	admin := postgrestest.NewDatabase(t)
	role := "role_" + strings.ToLower(rand.Text())
	execSQL(t, admin, "CREATE ROLE "+role+" LOGIN PASSWORD 'hunter2hunter2'")
	t.Cleanup(func() { execSQL(t, admin, "DROP ROLE "+role) })
	execSQL(t, admin, "REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	text := editURL(t, admin, func(u *url.URL) { u.User = url.UserPassword(role, "hunter2hunter2") })
	_, err := open.Open(t.Context(), text)
	expectSafeError(t, err, "lacks privileges", text)
}

// TestPingReportsReadOnlyDatabase checks that Ping detects a standby or read-only
// database.
func TestPingReportsReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	text := postgrestest.NewDatabase(t)
	store := openStore(t, text)
	if err := store.AddUsage(t.Context(), newUsageBatch()); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(mustParse(t, text).Path, "/")
	execSQL(t, text, "ALTER DATABASE "+name+" SET default_transaction_read_only = on")
	store = openStore(t, text)
	expectSafeError(t, store.Ping(t.Context()), "read-only", text)
	expectSafeError(t, store.AddUsage(t.Context(), newUsageBatch()), "read-only", text)
	if got, err := store.ListUsage(t.Context(), day, day); err != nil || cmp.Diff(oneCount, got) != "" {
		t.Errorf("got %v, error %v, want %v", got, err, oneCount)
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

// TestStoreRecoversFromOutage checks that the store fails during an outage and works
// again afterwards.
func TestStoreRecoversFromOutage(t *testing.T) {
	t.Parallel()
	options := postgrestest.Options{Dir: t.TempDir()}
	if os.Geteuid() == 0 {
		options.Dir = accountTempDir(t)
	}
	server, err := postgrestest.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	store := openStore(t, server.URL())
	if err := store.AddUsage(t.Context(), newUsageBatch()); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		expectSafeError(t, store.Ping(t.Context()), "server", server.URL())
		expectSafeError(t, store.AddUsage(t.Context(), newUsageBatch()), "adding 1 usage counts", server.URL())
		_, err := store.ListUsage(t.Context(), day, day)
		expectSafeError(t, err, "reading usage", server.URL())
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
		t.Errorf("Ping after the restart: %v", err)
	}
	if err := store.AddUsage(t.Context(), newUsageBatch()); err != nil {
		t.Errorf("AddUsage after the restart: %v", err)
	}
	want := []usage.Count{oneCount[0]}
	want[0].Calls = 2
	got, err := store.ListUsage(t.Context(), day, day)
	if err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("got %v, error %v, want %v", got, err, want)
	}
}

// accountTempDir returns a directory that is accessible to the user running PostgreSQL
// for root, unlike t.TempDir.
func accountTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "anamnesis-outage-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
