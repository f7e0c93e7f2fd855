// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func newTestCA(t *testing.T) *CA {
	t.Helper()
	authority, err := NewCA(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

func mustIssue(t *testing.T, authority *CA, subject Subject) KeyPair {
	t.Helper()
	pair, err := authority.Issue(subject)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func parseCertificate(t *testing.T, pair KeyPair) *x509.Certificate {
	t.Helper()
	block, rest := pem.Decode(pair.Certificate)
	if block == nil || len(rest) > 0 {
		t.Fatalf("expected one PEM block: %s", pair.Certificate)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func TestIssue(t *testing.T) {
	t.Parallel()
	issuer := newTestCA(t)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(issuer.PEM)
	for _, test := range []struct {
		name    string
		subject Subject
		usage   x509.ExtKeyUsage
		host    string
		fails   bool
	}{
		{"a user as a client", Subject{User: "admin", Groups: []string{"system:masters"}}, x509.ExtKeyUsageClientAuth, "", false},
		{"a user as a server", Subject{User: "admin"}, x509.ExtKeyUsageServerAuth, "", true},
		{"a server by its address", Subject{User: "server", Hosts: []string{"10.0.0.1", "server"}}, x509.ExtKeyUsageServerAuth, "10.0.0.1", false},
		{"a server by its name", Subject{User: "server", Hosts: []string{"10.0.0.1", "server"}}, x509.ExtKeyUsageServerAuth, "server", false},
		{"a server by another name", Subject{User: "server", Hosts: []string{"10.0.0.1", "server"}}, x509.ExtKeyUsageServerAuth, "other", true},
		{"a server as a client", Subject{User: "server", Hosts: []string{"server"}}, x509.ExtKeyUsageClientAuth, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			certificate := parseCertificate(t, mustIssue(t, issuer, test.subject))
			if certificate.Subject.CommonName != test.subject.User || !slices.Equal(certificate.Subject.Organization, test.subject.Groups) {
				t.Errorf("got subject %s", certificate.Subject)
			}
			_, err := certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: test.host, KeyUsages: []x509.ExtKeyUsage{test.usage}})
			if (err != nil) != test.fails {
				t.Errorf("verifying the certificate: %v", err)
			}
		})
	}
}

func TestCertificatesFromOtherCAAreRejected(t *testing.T) {
	t.Parallel()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(newTestCA(t).PEM)
	certificate := parseCertificate(t, mustIssue(t, newTestCA(t), Subject{User: "admin"}))
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err == nil {
		t.Error("certificate of another CA was accepted")
	}
}

func TestCertificatesTolerateClockSkew(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	issuer, err := NewCA(now)
	if err != nil {
		t.Fatal(err)
	}
	certificate := parseCertificate(t, mustIssue(t, issuer, Subject{User: "admin"}))
	if !certificate.NotBefore.Equal(now.Add(-time.Minute)) || !certificate.NotAfter.Equal(now.Add(lifetime)) {
		t.Errorf("got validity from %s to %s", certificate.NotBefore, certificate.NotAfter)
	}
}

// TestKubeconfig checks that a server that trusts the CA accepts the kubeconfig's client
// certificate.
func TestKubeconfig(t *testing.T) {
	t.Parallel()
	issuer := newTestCA(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.TLS.PeerCertificates[0].Subject.CommonName))
	}))
	served := mustIssue(t, issuer, Subject{User: "kube-apiserver", Hosts: []string{"127.0.0.1"}})
	certificate, err := tls.X509KeyPair(served.Certificate, served.Key)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(issuer.PEM)
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{certificate},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: clients, MinVersion: tls.VersionTLS13,
	}
	server.StartTLS()
	defer server.Close()

	elsewhere, err := issuer.Kubeconfig("https://127.0.0.1:1", mustIssue(t, issuer, Subject{User: "admin"}))
	if err != nil {
		t.Fatal(err)
	}
	here, err := WithServer(elsewhere, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(here)
	if err != nil {
		t.Fatal(err)
	}
	if got := doRequest(t, config); got != "admin" {
		t.Errorf("server authenticated the client as %q", got)
	}
}

func doRequest(t *testing.T, config *rest.Config) string {
	t.Helper()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodGet, config.Host, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	name := make([]byte, 64)
	length, _ := response.Body.Read(name)
	return string(name[:length])
}

func TestWithServerRejectsInvalidKubeconfig(t *testing.T) {
	t.Parallel()
	if content, err := WithServer([]byte("clusters: 7"), "https://127.0.0.1"); err == nil {
		t.Errorf("got kubeconfig %s", content)
	}
}

func TestKeysAreUnique(t *testing.T) {
	t.Parallel()
	first, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(first)
	if _, err := x509.ParseECPrivateKey(block.Bytes); err != nil {
		t.Error(err)
	}
	if cmp.Equal(first, second) {
		t.Error("NewKey returned the same key twice")
	}
}
