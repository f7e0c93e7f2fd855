// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/enginev3"
)

func TestNewValidatesAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://demo.example":      "<nil>",
		"http://127.0.0.1:8080/":    "<nil>",
		"https://demo.example/acme": "<nil>",
		"":                          `invalid instance address "": expected a URL such as https://demo.example`,
		"demo.example":              "invalid instance address",
		"ftp://demo.example":        "invalid instance address",
		"https://":                  "invalid instance address",
		"https://demo.example?a=b":  "invalid instance address",
		"https://demo.example#a":    "invalid instance address",
		"https://a:hush@example":    "https://a:xxxxx@example",
		"https://demo.example:port": "parsing the instance address",
	} {
		if _, err := client.New(address, portal); !strings.Contains(fmt.Sprint(err), want) || strings.Contains(fmt.Sprint(err), "hush") {
			t.Errorf("%s: got %v, want %s", address, err, want)
		}
	}
}

// Printing credentials does not reveal the key.
func TestCredentialsHideKey(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprintf("%v %+v %s", portal, portal, &portal); strings.Contains(got, portal.AppKey) || !strings.Contains(got, "portal") {
		t.Errorf("credentials are printed as %s", got)
	}
}

// Requests contain exactly what the caller set, and null only if the caller set null.
func TestRequestEncoding(t *testing.T) {
	t.Parallel()
	type request struct {
		Method, Address, Body string
		Header                map[string]string
	}
	var got request
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = request{r.Method, r.URL.String(), string(body), map[string]string{}}
		for _, name := range []string{"App-Id", "App-Key", "Model", "Interview-Id", "X-Request-Id", "Dev-Mode", "Authorization"} {
			if value := r.Header.Get(name); value != "" {
				got.Header[name] = value
			}
		}
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(listening.Close)
	c, err := client.New(listening.URL+"/acme/", kiosk, client.WithEditors(client.Model("service-en"), client.DevMode()))
	if err != nil {
		t.Fatal(err)
	}
	evidence := enginev3.Evidence{ID: "s_1", ChoiceID: enginev3.ChoicePresent}
	unknown := evidence
	unknown.Duration.SetNull()
	_, err = c.Engine.Diagnose(t.Context(),
		enginev3.Interview{Sex: enginev3.SexMale, Age: enginev3.Age{}, Evidence: []enginev3.Evidence{evidence, unknown}},
		client.Model("service-de"), client.InterviewID("one"), client.RequestID("two"))
	want := request{
		Method: "POST", Address: "/acme/v3/diagnosis",
		Body: `{"age":{"value":0},"evidence":[{"choice_id":"present","id":"s_1"},{"choice_id":"present","duration":null,"id":"s_1"}],"sex":"male"}`,
		Header: map[string]string{
			"App-Id": "kiosk", "App-Key": "kiosk-key", "Model": "service-de", "Interview-Id": "one", "X-Request-Id": "two", "Dev-Mode": "true",
		},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestWithRootCAs(t *testing.T) {
	t.Parallel()
	listening := httptest.NewUnstartedServer(newTestInstance(t).handler)
	listening.Config.ErrorLog = log.New(io.Discard, "", 0) // from the failed handshake
	listening.StartTLS()
	t.Cleanup(listening.Close)
	trusted := x509.NewCertPool()
	trusted.AddCert(listening.Certificate())
	for roots, good := range map[*x509.CertPool]bool{trusted: true, x509.NewCertPool(): false} {
		c, err := client.New(listening.URL, portal, client.WithRootCAs(roots))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Engine.GetInfo(t.Context())
		if _, untrusted := errors.AsType[x509.UnknownAuthorityError](err); good && err != nil || !good && !untrusted {
			t.Errorf("with the CA: %t, got error %v", good, err)
		}
	}
}

func TestContextCancelsCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	listening := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-left
	}))
	t.Cleanup(listening.Close)
	t.Cleanup(func() { close(left) }) // first
	c, err := client.New(listening.URL, portal)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Engine.GetInfo(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The client is for third-party programs: it does not depend on the server or on
// packages that only the server needs.
func TestClientImportsNoServerPackages(t *testing.T) {
	t.Parallel()
	list, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		for _, foreign := range []string{"/apiserver", "/controllers", "kin-openapi", "go-chi", "k8s.io"} {
			if strings.Contains(line, foreign) {
				t.Errorf("client depends on %s", line)
			}
		}
	}
}
