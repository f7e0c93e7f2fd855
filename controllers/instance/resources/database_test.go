// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDatabasePorts(t *testing.T) {
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
		"postgres://user@ignored:1/acme?port=6432,6433":              {6432, 6433},
		"postgres://user:what?ever@db.example:6432/acme":             {6432},
		"postgres://db.example:/acme":                                {5432},
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			got, err := DatabasePorts(url)
			if err != nil {
				t.Fatalf("DatabasePorts: %v", err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDatabasePortsRefuses(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"mysql://hunter2@db.example":                 "does not begin with postgres://",
		"":                                           "does not begin with postgres://",
		"host=db.example password=hunter2":           "does not begin with postgres://",
		"postgres:///hunter2":                        "names no host",
		"postgres://user:hunter2@/acme":              "names no host",
		"postgres://db.example:hunter2/acme":         "not a number from 1 to 65535",
		"postgres://db.example:0/acme?user=hunter2":  "not a number from 1 to 65535",
		"postgres://db.example:65536/hunter2":        "not a number from 1 to 65535",
		"postgres://db.example/?password=hunter2%zz": "must be percent-encoded",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			ports, err := DatabasePorts(url)
			if err == nil {
				t.Fatalf("got ports %v, want an error", ports)
			}
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got error %q, want one that says %q", err, want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats what may be a password: %q", err)
			}
		})
	}
}

func FuzzDatabasePorts(f *testing.F) {
	for _, seed := range []string{"postgres://u:p@[::1]:5432,b/c?port=1,2&host=x", "postgresql://@:", "postgres://a,,b:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		ports, err := DatabasePorts(url)
		if err == nil && len(ports) == 0 {
			t.Errorf("no port and no error for %q", url)
		}
		for i, port := range ports {
			if port < 1 || port > 65535 || i > 0 && port <= ports[i-1] {
				t.Errorf("ports of %q are not ascending numbers from 1 to 65535: %v", url, ports)
			}
		}
	})
}
