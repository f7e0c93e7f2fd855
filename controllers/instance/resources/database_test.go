// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"
)

func TestDatabasePortsFromURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string][]int32{
		"postgres://user:secret@db.example:6432/acme":                {6432},
		"postgresql://user:secret@db.example/acme?sslmode=require":   {5432},
		"postgres://db.example":                                      {5432},
		"postgres://user@one:5433,two,three:5431/acme":               {5431, 5432, 5433},
		"postgres://user@one:5433,two:5433/acme":                     {5433},
		"postgres://user:secret@[2001:db8::1]:6432/acme":             {6432},
		"postgres://user:secret@[2001:db8::1]/acme":                  {5432},
		"postgres://user:secret@[2001:db8::1],[2001:db8::2]:99/acme": {99, 5432},
		"postgres:///acme?host=db.example&port=6432":                 {6432},
		"postgres://user@one:1,two:1/acme?port=6432,6433":            {6432, 6433},
		"postgres://user@one:1,two:1/acme?port=6432":                 {6432},
		"postgres://user@one:1/acme?port=2&port=3":                   {3},
		"postgres://user@one/acme?p%6Frt=6432&":                      {6432},
		"postgres://one%2Ctwo:1%2C2":                                 {1, 2},
		"postgres://user@one:6432/acme?password=a+b":                 {6432},
		"postgres://user:a?b@one:6432/acme":                          {6432},
		"postgres://one?host=/var/run/postgresql":                    {5432},
		"postgres://user:what?ever@db.example:6432/acme":             {6432},
		"postgres://db.example:/acme":                                {5432},
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			got, err := DatabasePortsFromURL(url)
			if err != nil {
				t.Fatalf("DatabasePortsFromURL: %v", err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDatabasePortsFromURLRejectsInvalidURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"mysql://hunter2@db.example":                 "expected the prefix postgres://",
		"":                                           "expected the prefix postgres://",
		"host=db.example password=hunter2":           "expected the prefix postgres://",
		"postgres:///hunter2":                        "missing host",
		"postgres://user:hunter2@/acme":              "missing host",
		"postgres://db.example:hunter2/acme":         "expected a number from 1 to 65535",
		"postgres://db.example:0/acme?user=hunter2":  "expected a number from 1 to 65535",
		"postgres://db.example:65536/hunter2":        "expected a number from 1 to 65535",
		"postgres://db.example/?password=hunter2%zz": "must be percent-encoded",
		"postgres://db.example/?password=hunter2&x":  "expected the form ?name=value",
		"postgres://db.example/?password=hunter2=":   "expected the form ?name=value",
		"postgres://db.example/hunter2%":             "must be percent-encoded",
		"postgres://db.example/hunter2\x00":          "must be percent-encoded",
		"postgres://hunter2%@db.example%":            "must be percent-encoded",
		"postgres://db.example:5%%/hunter2":          "must be percent-encoded",
		"postgres://db example/hunter2":              "must be percent-encoded",
		"postgres://[hunter2":                        "invalid IPv6 address",
		"postgres://[]:5432/hunter2":                 "invalid IPv6 address",
		"postgres://[2001:db8::1]hunter2":            "invalid IPv6 address",
		"postgres://one,two?port=1,2,3&user=hunter2": "numbers of hosts and ports",
		"postgres://one:1:hunter2/acme":              "expected a number from 1 to 65535",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			ports, err := DatabasePortsFromURL(url)
			if err == nil {
				t.Fatalf("got ports %v, want an error", ports)
			}
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got error %q, want one that contains %q", err, want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error contains a possible password: %q", err)
			}
		})
	}
}

func TestValidateDatabaseTLS(t *testing.T) {
	t.Parallel()
	const user = "postgres://user:hunter2@"
	for url, want := range map[string]string{
		user + "db.example/acme?sslmode=verify-full":                         "",
		user + "db.example/acme?user=x&sslmode=verify%2Dfull":                "",
		user + "db.example/acme?sslmode=disable&sslmode=verify-full":         "",
		user + "db.example/acme?ssl=true&sslmode=verify-full":                "",
		user + "db.example/acme?sslmode=verify-full&ssl=false":               "",
		user + "db.example/acme?sslrootcert=system":                          "",
		user + "db.example/acme?sslmode=verify-full&sslrootcert=system":      "",
		user + "db.example/acme?sslmode=verify-full&sslrootcert=/ca.crt":     "",
		user + "[2001:db8::1]/acme?sslmode=verify-full":                      "",
		user + "db.example/acme":                                             "sslmode is not set",
		user + "db.example":                                                  "sslmode is not set",
		user + "db.example/acme?sslrootcert=/ca.crt":                         "sslmode is not set",
		user + "db.example/acme?sslmode=":                                    "sslmode is not set",
		user + "db.example/acme?sslmode=disable":                             "allows unencrypted connections",
		user + "db.example/acme?sslmode=allow":                               "allows unencrypted connections",
		user + "db.example/acme?sslmode=prefer":                              "allows unencrypted connections",
		user + "db.example/acme?%73slmode=disable":                           "allows unencrypted connections",
		user + "db.example/acme?sslmode=verify-full&sslmode=disable":         "allows unencrypted connections",
		user + "db.example/acme?sslmode=disable&sslrootcert=system":          "allows unencrypted connections",
		user + "db.example/acme?sslmode=require":                             "does not verify the server certificate:",
		user + "db.example/acme?sslmode=require&sslrootcert=/ca.crt":         "does not verify the server certificate:",
		user + "db.example/acme?sslmode=verify-full&ssl=true":                "does not verify the server certificate:",
		user + "db.example/acme?sslmode=verify-ca":                           "does not verify the server's hostname",
		user + "db.example/acme?sslmode=hunter2":                             "unknown sslmode",
		user + "db.example/acme?sslmode=VERIFY-FULL":                         "unknown sslmode",
		user + "db.example/acme?sslmode=verify-full%0A":                      "unknown sslmode",
		user + "db.example,localhost/acme?sslmode=disable":                   "allows unencrypted connections",
		user + "localhost.example/acme?sslmode=disable":                      "allows unencrypted connections",
		user + "128.0.0.1/acme?sslmode=disable":                              "allows unencrypted connections",
		user + "localhost/acme?host=db.example&sslmode=disable":              "allows unencrypted connections",
		user + "localhost:5432/acme":                                         "",
		user + "127.0.0.1,[::1]/acme?sslmode=disable":                        "",
		user + "db.example/acme?host=/var/run/postgresql":                    "",
		user + "%2Fvar%2Frun%2Fpostgresql/acme?sslmode=disable":              "",
		"host=db.example password=hunter2 sslmode=verify-full":               "expected the prefix postgres://",
		"postgres://db.example/acme?password=hunter2%zz&sslmode=verify-full": "must be percent-encoded",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			err := ValidateDatabaseTLS(url)
			if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) || strings.Contains(got, "hunter2") {
				t.Errorf("got error %q, want one that contains %q", got, want)
			}
		})
	}
}

// TestDatabaseURLParsingMatchesServer generates URLs from valid and invalid parts.
func TestDatabaseURLParsingMatchesServer(t *testing.T) {
	clearPostgresEnv(t.Setenv, t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		compareWithServer(t, drawURL(t))
	})
}

func drawURL(t *rapid.T) string {
	sample := func(label string, values ...string) string { return rapid.SampledFrom(values).Draw(t, label) }
	location := rapid.Custom(func(t *rapid.T) string {
		host := rapid.SampledFrom([]string{
			"db.example", "128.0.0.1", "[2001:db8::1]", "localhost", "127.0.0.1", "[::1]", "%2Ftmp", "", "a b", " c", "d%2Ce", "[]", "[f", "%zz",
		}).Draw(t, "host")
		return host + rapid.SampledFrom([]string{"", "", ":5432", ":6432", ":%36432", ":", ": 1", ":0", ":65536", ":1:2"}).Draw(t, "port")
	})
	parameter := rapid.Custom(func(t *rapid.T) string {
		name := rapid.SampledFrom([]string{"sslmode", "sslmode", "%73slmode", "ssl", "sslrootcert", "host", "port", "application_name"}).Draw(t, "name")
		values := map[string][]string{
			"ssl": {"true", "false"}, "sslrootcert": {"system"}, "application_name": {"a+b", "a b", "a=b", "%zz", ""},
			"host": {"db.example", "localhost", "/tmp", "", "db.example,localhost"}, "port": {"5432", "1,2", "", "x"},
		}[name]
		if values == nil {
			values = []string{"verify-full", "verify%2Dfull", " verify-full ", "verify-ca", "require", "prefer", "allow", "disable", "", "VERIFY-FULL"}
		}
		return name + rapid.SampledFrom([]string{"=", "=", "=", "=", ""}).Draw(t, "assigned") + rapid.SampledFrom(values).Draw(t, "value")
	})
	return sample("scheme", "postgres://", "postgresql://", "mysql://") +
		sample("user", "", "u@", "u:p%40@", "u:a?b@", "u:%@") +
		strings.Join(rapid.SliceOfN(location, 1, 3).Draw(t, "locations"), ",") +
		sample("path", "", "/", "/acme", "/%zz") + sample("query", "?", "?", "") +
		strings.Join(rapid.SliceOfN(parameter, 0, 4).Draw(t, "parameters"), sample("separator", "&", "&", "&&")) + sample("end", "", "", "&")
}

// FuzzDatabaseURL makes the same comparison for arbitrary input.
func FuzzDatabaseURL(f *testing.F) {
	clearPostgresEnv(f.Setenv, f.TempDir())
	for _, seed := range []string{
		"postgres://u:p@[::1]:5432,b/c?port=1,2&host=x", "postgresql://@:", "postgres://a,,b:",
		"postgres://u:p%40@db.example:6432/acme?sslmode=verify-full&pool_max_conns=10", "postgres://a?ssl=true",
		"postgres://a: 1 ?sslmode= verify-full ", "postgres://a%2Cb?port=%31%2C2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { compareWithServer(t, text) })
}

// clearPostgresEnv hides the developer's own PostgreSQL settings.
func clearPostgresEnv(setenv func(name, value string), home string) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "PG") {
			setenv(name, "")
		}
	}
	setenv("HOME", home)
}

// compareWithServer compares the parser with pgx, which the server uses: the parser must
// return the same ports for every URL that pgx accepts, and must not accept a connection
// that pgx would not verify. All errors are constants, so that none contains a part of a
// URL.
func compareWithServer(t rapid.TB, text string) {
	t.Helper()
	ports, err := DatabasePortsFromURL(text)
	weakness := ValidateDatabaseTLS(text)
	for _, failure := range []error{err, weakness} {
		if failure != nil && !slices.Contains(databaseErrors, failure) {
			t.Errorf("%q: error is missing from databaseErrors: %v", text, failure)
		}
	}
	server := parseAsServer(text)
	switch {
	case server != nil && err == nil:
		if diff := cmp.Diff(serverPorts(server), ports); diff != "" {
			t.Errorf("%q: ports (-pgx +got):\n%s", text, diff)
		}
		if verified := isVerified(server); weakness == nil && !verified {
			t.Errorf("%q: accepted although pgx does not verify the connection", text)
		} else if contradicts := strings.Contains(text, rootCertParameter); verified && weakness != nil && !contradicts {
			t.Errorf("%q: rejected although pgx verifies the connection: %v", text, weakness)
		}
	case server != nil && !errors.Is(err, errNoHost) && !errors.Is(err, errBrackets):
		t.Errorf("%q: rejected although pgx accepts the URL: %v", text, err)
	case err == nil && len(ports) == 0:
		t.Errorf("%q: got neither ports nor an error", text)
	}
}

var databaseErrors = []error{
	errNotPostgres, errNoHost, errEncoding, errParameters, errBrackets, errInvalidPort, errPortHostMismatch,
	errNoSSLMode, errUnencrypted, errUnverifiedServer, errUnverifiedHostname, errInvalidSSLMode,
}

// parseAsServer parses a URL as the server does and returns the addresses that it would
// connect to, in order. It returns none for a URL that the server rejects or would have
// to read files for.
func parseAsServer(text string) []*pgconn.FallbackConfig {
	decoded, err := url.PathUnescape(text)
	if err != nil || !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return nil
	}
	for _, file := range []string{"sslcert", "sslkey", "passfile", "service"} {
		if strings.Contains(decoded, file) {
			return nil
		}
	}
	if strings.Count(decoded, "sslrootcert") != strings.Count(decoded, "sslrootcert=system") {
		return nil
	}
	config, err := pgconn.ParseConfig(text)
	if err != nil {
		return nil
	}
	first := &pgconn.FallbackConfig{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}
	return append([]*pgconn.FallbackConfig{first}, config.Fallbacks...)
}

func serverPorts(server []*pgconn.FallbackConfig) []int32 {
	var ports []int32
	for _, address := range server {
		ports = append(ports, int32(address.Port))
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// isVerified reports whether every remote connection verifies the server's certificate and
// hostname.
func isVerified(server []*pgconn.FallbackConfig) bool {
	return !slices.ContainsFunc(server, func(config *pgconn.FallbackConfig) bool {
		network, _ := pgconn.NetworkAddress(config.Host, config.Port)
		address, err := netip.ParseAddr(config.Host)
		isLocal := network == "unix" || config.Host == "localhost" || err == nil && address.IsLoopback()
		return !isLocal && (config.TLSConfig == nil || config.TLSConfig.InsecureSkipVerify)
	})
}
