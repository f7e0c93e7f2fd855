// SPDX-License-Identifier: Apache-2.0

package postgrestest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// URLEnv is the environment variable with the superuser URL of a server for tests.
const URLEnv = "ANAMNESIS_TEST_POSTGRES"

// sharedServer is shared by all tests of this process.
var sharedServer struct {
	sync.Mutex
	server *Server
}

// Run runs the tests of a package, stops the server if one was started, and returns the
// exit code.
func Run(m *testing.M) int {
	code := m.Run()
	sharedServer.Lock()
	defer sharedServer.Unlock()
	if sharedServer.server == nil {
		return code
	}
	if err := sharedServer.server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// serverURL returns the URL of the server, and starts one if necessary.
func serverURL() (string, error) {
	if url := os.Getenv(URLEnv); url != "" {
		return url, nil
	}
	sharedServer.Lock()
	defer sharedServer.Unlock()
	if sharedServer.server == nil {
		server, err := Start(context.Background(), Options{})
		if err != nil {
			return "", err
		}
		sharedServer.server = server
	}
	return sharedServer.server.URL(), nil
}

// NewDatabase creates an empty database for a test, with the given CREATE DATABASE
// options, and returns its URL. The database is dropped after the test. The package's
// TestMain must call Run.
func NewDatabase(t testing.TB, options ...string) string {
	t.Helper()
	server, err := serverURL()
	if err != nil {
		t.Fatalf("starting PostgreSQL for tests: %v", err)
	}
	name := "test_" + strings.ToLower(rand.Text())
	execSQL(t, server, "CREATE DATABASE "+name+" "+strings.Join(options, " "))
	t.Cleanup(func() { execSQL(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	return databaseURL(t, server, name)
}

func databaseURL(t testing.TB, server, name string) string {
	t.Helper()
	location, err := url.Parse(server)
	if err != nil {
		t.Fatalf("invalid URL in %s", URLEnv)
	}
	location.Path = "/" + name
	return location.String()
}

func execSQL(t testing.TB, server, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), serverTimeout)
	defer cancel()
	connection, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connecting to the PostgreSQL test server: %v", err)
	}
	_, err = connection.Exec(ctx, statement)
	if err := errors.Join(err, connection.Close(ctx)); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
