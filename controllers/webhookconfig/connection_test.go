// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// An endlessBody is a response body that never ends.
type endlessBody struct{}

func (endlessBody) Read(buffer []byte) (int, error) { return len(buffer), nil }
func (endlessBody) Close() error                    { return nil }

// TestResponsesAreLimited checks that a response cannot exhaust the operator's memory:
// the tenant chooses the server that an Instance runs, and all tenants share the
// operator.
func TestResponsesAreLimited(t *testing.T) {
	t.Parallel()
	answers := limitedTransport{roundTripper(func(*http.Request) (*http.Response, error) { return &http.Response{Body: endlessBody{}}, nil })}
	response, err := answers.RoundTrip(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if read, err := io.Copy(io.Discard, response.Body); err != nil || read != maxResponseBytes {
		t.Errorf("read %d bytes (error %v), want %d", read, err, maxResponseBytes)
	}
	failure := errors.New("not reached")
	failing := limitedTransport{roundTripper(func(*http.Request) (*http.Response, error) { return nil, failure })}
	if response, err := failing.RoundTrip(nil); !errors.Is(err, failure) {
		t.Errorf("got error %v", err)
		_ = response.Body.Close()
	}
}

// TestConnectionsAreReused checks that a connection is kept while it is in use and its
// endpoint does not change.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	authority, err := pki.NewAuthority(noon)
	if err != nil {
		t.Fatal(err)
	}
	clock := noon
	all := &connectionPool{now: func() time.Time { return clock }}
	acme := endpoint{Instance: "acme", InstanceID: "acme", URL: "https://acme.tenants.svc", HostPort: "10.0.0.1:443", ApplicationKey: "key", ServingCertificates: authority.Certificate}
	first, err := all.get(acme)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := all.get(acme); err != nil || again != first {
		t.Errorf("connection was replaced without a change (error %v)", err)
	}
	for name, change := range map[string]func(*endpoint){
		"key":         func(m *endpoint) { m.ApplicationKey = "other" },
		"address":     func(m *endpoint) { m.HostPort = "10.0.0.2:443" },
		"authorities": func(m *endpoint) { m.CABundle = authority.Certificate },
	} {
		before, err := all.get(acme)
		if err != nil {
			t.Fatal(err)
		}
		after, err := all.get(modified(acme, change))
		if err != nil || after == before {
			t.Errorf("connection was not replaced after a change of %s (error %v)", name, err)
		}
	}
	clock = clock.Add(connectionTTL + time.Second)
	if _, err := all.get(modified(acme, func(m *endpoint) { m.Instance = "other" })); err != nil {
		t.Fatal(err)
	}
	if len(all.byInstance) != 1 {
		t.Errorf("got %d pooled connections, want only the one in use", len(all.byInstance))
	}
	if _, err := all.get(endpoint{Instance: "new", URL: acme.URL, ServingCertificates: []byte("none")}); err == nil {
		t.Error("connection succeeded without a serving certificate")
	}
}
