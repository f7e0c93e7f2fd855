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

// Variable is the environment variable that names a server which tests may
// use: the URL of a superuser.
const Variable = "ANAMNESIS_TEST_POSTGRES"

// shared is the server of all tests of this process.
var shared struct {
	sync.Mutex
	server *Server
}

// Run runs the tests of a package and then stops the server that they used, if
// one was started for them. It returns the code to exit with.
func Run(m *testing.M) int {
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return code
	}
	if err := shared.server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// serverURL returns the URL of the server to use, started when there is none.
func serverURL() (string, error) {
	if url := os.Getenv(Variable); url != "" {
		return url, nil
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		server, err := Start(context.Background(), Options{})
		if err != nil {
			return "", err
		}
		shared.server = server
	}
	return shared.server.URL(), nil
}

// Database makes an empty database for the test, with the options that CREATE
// DATABASE takes, and returns its URL. The database is dropped after the test.
// The package's TestMain has to call Run.
func Database(t testing.TB, options ...string) string {
	t.Helper()
	server, err := serverURL()
	if err != nil {
		t.Fatalf("no PostgreSQL to test with: %v", err)
	}
	name := "test_" + strings.ToLower(rand.Text())
	execute(t, server, "CREATE DATABASE "+name+" "+strings.Join(options, " "))
	t.Cleanup(func() { execute(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	return withDatabase(t, server, name)
}

func withDatabase(t testing.TB, server, name string) string {
	t.Helper()
	location, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is not a URL", Variable)
	}
	location.Path = "/" + name
	return location.String()
}

func execute(t testing.TB, server, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	connection, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connect to the PostgreSQL server for tests: %v", err)
	}
	_, err = connection.Exec(ctx, statement)
	if err := errors.Join(err, connection.Close(ctx)); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
