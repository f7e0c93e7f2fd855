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

// An endless answer never ends.
type endless struct{}

func (endless) Read(buffer []byte) (int, error) { return len(buffer), nil }
func (endless) Close() error                    { return nil }

// TestAnswersAreBounded: which server an Instance runs is for its tenant to say, and
// the operator's memory is everybody's.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	answers := bounded{roundTripper(func(*http.Request) (*http.Response, error) { return &http.Response{Body: endless{}}, nil })}
	response, err := answers.RoundTrip(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if read, err := io.Copy(io.Discard, response.Body); err != nil || read != mostAnswer {
		t.Errorf("%d bytes were read (%v), want %d", read, err, mostAnswer)
	}
	failure := errors.New("not reached")
	failing := bounded{roundTripper(func(*http.Request) (*http.Response, error) { return nil, failure })}
	if response, err := failing.RoundTrip(nil); !errors.Is(err, failure) {
		t.Errorf("got error %v", err)
		_ = response.Body.Close()
	}
}

// TestConnectionsAreKept while they are asked for and what they depend on stays.
func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	authority, err := pki.NewAuthority(noon)
	if err != nil {
		t.Fatal(err)
	}
	clock := noon
	all := &connections{now: func() time.Time { return clock }}
	acme := means{Instance: "acme", InstanceID: "acme", URL: "https://acme.tenants.svc", HostPort: "10.0.0.1:443", Key: "key", Certificates: authority.Certificate}
	first, err := all.to(acme)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := all.to(acme); err != nil || again != first {
		t.Errorf("it is called by another client without need (%v)", err)
	}
	for name, change := range map[string]func(*means){
		"key":         func(m *means) { m.Key = "other" },
		"address":     func(m *means) { m.HostPort = "10.0.0.2:443" },
		"authorities": func(m *means) { m.Authorities = authority.Certificate },
	} {
		before, err := all.to(acme)
		if err != nil {
			t.Fatal(err)
		}
		after, err := all.to(with(acme, change))
		if err != nil || after == before {
			t.Errorf("another %s is not heeded (%v)", name, err)
		}
	}
	clock = clock.Add(forgetAfter + time.Second)
	if _, err := all.to(with(acme, func(m *means) { m.Instance = "other" })); err != nil {
		t.Fatal(err)
	}
	if len(all.open) != 1 {
		t.Errorf("%d connections are remembered, want that which is asked for", len(all.open))
	}
	if _, err := all.to(means{Instance: "new", URL: acme.URL, Certificates: []byte("none")}); err == nil {
		t.Error("an Instance is called without a certificate to expect")
	}
}
