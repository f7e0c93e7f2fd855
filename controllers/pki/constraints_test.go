// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// serviceDomains are the permitted domains of the operator's CA.
var serviceDomains = []string{"svc", "cluster.local"}

// signTemplate signs a certificate as an attacker with the CA's key would.
func signTemplate(t *testing.T, authority *Authority, template x509.Certificate) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.NotBefore, template.NotAfter = start.Add(-maxClockSkew), start.Add(day)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	pair, err := sign(&template, authority.certificate, key, authority.key)
	if err != nil {
		t.Fatal(err)
	}
	return parseLeaf(t, pair)
}

func TestClientsRejectNamesOutsideConstraints(t *testing.T) {
	t.Parallel()
	pair, err := NewAuthority(start, serviceDomains...)
	if err != nil {
		t.Fatal(err)
	}
	authority := parseAuthority(t, pair)
	if !authority.certificate.PermittedDNSDomainsCritical {
		t.Error("name constraints are not critical: clients without support for them would accept the CA")
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority.certificate)
	for name, test := range map[string]struct {
		certificate x509.Certificate
		host        string
		refused     bool
	}{
		"a service":                   {x509.Certificate{DNSNames: []string{"acme.tenants.svc"}}, "acme.tenants.svc", false},
		"a service, its name in full": {x509.Certificate{DNSNames: []string{"acme.tenants.svc.cluster.local"}}, "acme.tenants.svc.cluster.local", false},
		"a public domain":             {x509.Certificate{DNSNames: []string{"google.com"}}, "google.com", true},
		"a service and a public name": {x509.Certificate{DNSNames: []string{"acme.tenants.svc", "google.com"}}, "acme.tenants.svc", true},
		"a service by its short name": {x509.Certificate{DNSNames: []string{"google"}}, "google", true},
		"a domain that only looks so": {x509.Certificate{DNSNames: []string{"notsvc"}}, "notsvc", true},
		"an address":                  {x509.Certificate{IPAddresses: []net.IP{net.IPv4(10, 0, 0, 1)}}, "10.0.0.1", true},
		"a long address":              {x509.Certificate{IPAddresses: []net.IP{net.ParseIP("2001:db8::1")}}, "2001:db8::1", true},
	} {
		_, err := signTemplate(t, authority, test.certificate).Verify(x509.VerifyOptions{Roots: roots, DNSName: test.host, CurrentTime: start})
		var invalid x509.CertificateInvalidError
		byConstraint := errors.As(err, &invalid) && invalid.Reason == x509.CANotAuthorizedForThisName
		if byConstraint != test.refused || !test.refused && err != nil {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

func TestIssueRejectsNamesOutsideConstraints(t *testing.T) {
	t.Parallel()
	pair, err := NewAuthority(start, serviceDomains...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseAuthority(t, pair).Issue([]string{"acme.tenants.svc", "google.com"}, start); err == nil {
		t.Error("Issue succeeded for a name that the constraints do not permit")
	}
}

func TestPermittedNames(t *testing.T) {
	t.Parallel()
	names := []string{"svc", "acme.tenants.svc", "*.tenants.svc", "cluster.local", "a.cluster.local", "acme", "acme.tenants", "notsvc", "google.com"}
	for name, test := range map[string]struct{ domains, want []string }{
		"no constraint": {nil, names},
		"services":      {serviceDomains, names[:5]},
		"one name":      {[]string{"google.com"}, names[8:]},
	} {
		if diff := cmp.Diff(test.want, permittedNames(&x509.Certificate{PermittedDNSDomains: test.domains}, names)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDomains(t *testing.T) {
	t.Parallel()
	got := Domains([]string{"b.example", "*.a.example", "a.example", "b.example"})
	if diff := cmp.Diff([]string{"a.example", "b.example"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHasNameConstraintsFor(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		certificate x509.Certificate
		domains     []string
		want        bool
	}{
		"the same":           {x509.Certificate{PermittedDNSDomains: []string{"a", "b"}, PermittedDNSDomainsCritical: true}, []string{"b", "a"}, true},
		"one more":           {x509.Certificate{PermittedDNSDomains: []string{"a", "b"}, PermittedDNSDomainsCritical: true}, []string{"a"}, false},
		"one less":           {x509.Certificate{PermittedDNSDomains: []string{"a"}, PermittedDNSDomainsCritical: true}, []string{"a", "b"}, false},
		"not critical":       {x509.Certificate{PermittedDNSDomains: []string{"a"}}, []string{"a"}, false},
		"none, as wanted":    {x509.Certificate{}, nil, true},
		"none, where wanted": {x509.Certificate{}, []string{"a"}, false},
	} {
		if got := hasNameConstraintsFor(&test.certificate, test.domains); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestRenewedAuthorityKeepsKeyID checks that a renewed CA keeps its key identifier, by
// which clients find it. Other Go versions compute the identifier in another way.
func TestRenewedAuthorityKeepsKeyID(t *testing.T) {
	t.Parallel()
	authority, pair := newAuthority(t, start)
	template := *authority.certificate
	template.SubjectKeyId = []byte("made in another way")
	older, err := selfSign(&template, authority.key)
	if err != nil {
		t.Fatal(err)
	}
	older.Key = pair.Key
	renewed, err := RenewAuthority(older, start, serviceDomains...)
	if err != nil {
		t.Fatal(err)
	}
	if got := parseAuthority(t, renewed).certificate.SubjectKeyId; string(got) != "made in another way" {
		t.Errorf("got key identifier %x", got)
	}
}

func TestRenewedAuthorityIsStillTrusted(t *testing.T) {
	t.Parallel()
	first, pair := newAuthority(t, start)
	for name, later := range map[string]time.Time{"at once, for its constraints": start.Add(day), "near its end": start.Add(6 * 365 * day)} {
		renewedPair, err := RenewAuthority(pair, later, serviceDomains...)
		if err != nil {
			t.Fatal(err)
		}
		renewed := parseAuthority(t, renewedPair)
		if _, err := ValidateKeyPair(issue(t, renewed, later, "acme.tenants.svc"), first.PEM(), later); err != nil {
			t.Errorf("%s: client with the old CA certificate rejects a certificate issued by the renewed CA: %v", name, err)
		}
		if _, err := ValidateKeyPair(issue(t, first, later, "acme.tenants.svc"), renewed.PEM(), later); err != nil {
			t.Errorf("%s: client with the new CA certificate rejects a certificate issued before the renewal: %v", name, err)
		}
		if _, err := ValidateKeyPair(issue(t, first, later, "acme.tenants"), renewed.PEM(), later); err == nil {
			t.Errorf("%s: client with the new CA certificate accepts a name outside its constraints", name)
		}
	}
}
