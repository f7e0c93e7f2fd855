// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// issue returns a server certificate from a new CA.
func issue(t *testing.T, names ...string) pki.KeyPair {
	t.Helper()
	pair, err := pki.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	authority, err := pki.ParseAuthority(pair)
	if err != nil {
		t.Fatal(err)
	}
	issued, err := authority.Issue(names, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return issued
}

// TestTLSConfigAcceptsPreviousCertificate checks that a server may present the previous
// certificate while the kubelet propagates the new one. The certificate must be issued
// by the CA for the same name.
func TestTLSConfigAcceptsPreviousCertificate(t *testing.T) {
	t.Parallel()
	own, err := pki.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	authority, err := pki.ParseAuthority(own)
	if err != nil {
		t.Fatal(err)
	}
	leaf := func(name string) *x509.Certificate {
		issued, err := authority.Issue([]string{name}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return parseCertificate(t, issued)
	}
	next, err := authority.Issue([]string{"acme.tenants.svc"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	previous, otherName, otherCA := leaf("acme.tenants.svc"), leaf("other.tenants.svc"), parseCertificate(t, issue(t, "acme.tenants.svc"))
	for name, test := range map[string]struct {
		authorities []byte
		certificate *x509.Certificate
		want        bool
	}{
		"the next":                              {own.Certificate, parseCertificate(t, next), true},
		"the one before":                        {own.Certificate, previous, true},
		"another Instance's":                    {own.Certificate, otherName, false},
		"one of another authority":              {own.Certificate, otherCA, false},
		"the one before, without the authority": {nil, previous, false},
		"the next, without the authority":       {nil, parseCertificate(t, next), true},
	} {
		config, err := TLSConfig(next.Certificate, test.authorities)
		if err != nil {
			t.Fatal(err)
		}
		_, err = test.certificate.Verify(x509.VerifyOptions{DNSName: config.ServerName, Roots: config.RootCAs})
		if got := err == nil; got != test.want {
			t.Errorf("%s: got trusted %v (%v)", name, got, err)
		}
	}
}

func parseCertificate(t *testing.T, pair pki.KeyPair) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(pair.Certificate)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

// issueForIP returns a certificate without a DNS name.
func issueForIP(t *testing.T) pki.KeyPair {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(10, 0, 0, 7)},
	}
	certificate, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pki.KeyPair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	}
}

// serve presents a certificate to every client and returns the server's address.
func serve(t *testing.T, pair pki.KeyPair) string {
	t.Helper()
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_ = conn.(*tls.Conn).Handshake()
				_ = conn.Close()
			}()
		}
	}()
	return listener.Addr().String()
}

func TestDial(t *testing.T) {
	t.Parallel()
	acme := issue(t, "acme.tenants.svc", "acme")
	other := issue(t, "acme.tenants.svc")
	wildcard, address := issue(t, "*.acme.example"), issueForIP(t)
	closed := listen(t)
	_ = closed.Close()
	silent := listen(t)
	for name, test := range map[string]struct {
		hostPort     string
		certificates []byte
		want         string
	}{
		"its own server":             {serve(t, acme), acme.Certificate, ""},
		"a wildcard that one has":    {serve(t, wildcard), wildcard.Certificate, ""},
		"an address for a name":      {serve(t, address), address.Certificate, ""},
		"another with its names":     {serve(t, other), acme.Certificate, "certificate"},
		"no listener":                {closed.Addr().String(), acme.Certificate, "connection refused"},
		"silent listener":            {silent.Addr().String(), acme.Certificate, "deadline exceeded"},
		"no certificate to expect":   {silent.Addr().String(), nil, "no PEM block found"},
		"a certificate that is none": {silent.Addr().String(), []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "parsing the expected certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Dial(t.Context(), test.hostPort, test.certificates)
			if (test.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that contains %q", err, test.want)
			}
		})
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}
