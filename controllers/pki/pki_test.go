// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func newAuthority(t *testing.T, at time.Time) (*Authority, KeyPair) {
	t.Helper()
	pair, err := NewAuthority(at)
	if err != nil {
		t.Fatal(err)
	}
	return parseAuthority(t, pair), pair
}

func parseAuthority(t *testing.T, pair KeyPair) *Authority {
	t.Helper()
	authority, err := ParseAuthority(pair)
	if err != nil {
		t.Fatal(err)
	}
	return authority
}

func issue(t *testing.T, authority *Authority, at time.Time, names ...string) KeyPair {
	t.Helper()
	pair, err := authority.Issue(names, at)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// foreignAuthority returns the certificate of a CA that the operator did not create. foreignPair returns
// a self-signed certificate with its key.
func foreignAuthority(t *testing.T) []byte { return foreignPair(t).Certificate }

func foreignPair(t *testing.T) KeyPair {
	t.Helper()
	authority, _ := newAuthority(t, start)
	template := *authority.certificate
	template.RawSubject, template.Subject = nil, pkix.Name{Organization: []string{"Acme"}}
	pair, err := selfSign(&template, authority.key)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func TestIssuedCertificateServesTLS(t *testing.T) {
	t.Parallel()
	authority, _ := newAuthority(t, time.Now())
	pair := issue(t, authority, time.Now(), "example.com", "acme.tenants.svc")
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	defer server.Close()
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority.PEM())
	for name, wantError := range map[string]bool{"example.com": false, "acme.tenants.svc": false, "other.tenants.svc": true} {
		client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: name, MinVersion: tls.VersionTLS12}}}
		response, err := client.Get(server.URL)
		if err == nil {
			err = response.Body.Close()
		}
		if (err != nil) != wantError {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

func TestParseAuthorityRejectsInvalid(t *testing.T) {
	t.Parallel()
	authority, good := newAuthority(t, start)
	_, other := newAuthority(t, start)
	leaf := issue(t, authority, start, "acme")
	for name, test := range map[string]struct {
		pair KeyPair
		want string
	}{
		"rubbish":        {KeyPair{[]byte("rubbish"), good.Key}, "certificate"},
		"a broken block": {KeyPair{[]byte("-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n"), good.Key}, "parsing certificate 1"},
		"no key":         {KeyPair{good.Certificate, nil}, "does not contain a PKCS#8 private key"},
		"a broken key":   {KeyPair{good.Certificate, []byte("-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n")}, "is not valid PKCS#8"},
		"another key":    {KeyPair{good.Certificate, other.Key}, "do not match"},
		"no authority":   {leaf, "do not match"},
	} {
		_, err := ParseAuthority(test.pair)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want %q", name, err, test.want)
		}
		if _, err := RenewAuthority(test.pair, start); err == nil {
			t.Errorf("%s: RenewAuthority succeeded", name)
		}
	}
}

func TestValidateKeyPair(t *testing.T) {
	t.Parallel()
	authority, root := newAuthority(t, start)
	other, _ := newAuthority(t, start)
	good := issue(t, authority, start, "acme.example")
	for name, test := range map[string]struct {
		pair      KeyPair
		authority []byte
		now       time.Time
		want      string
	}{
		"good":                    {good, authority.PEM(), start, ""},
		"without authority":       {good, nil, start, ""},
		"with its chain":          {KeyPair{append(bytes.Clone(good.Certificate), authority.PEM()...), good.Key}, authority.PEM(), start, ""},
		"nothing":                 {KeyPair{}, nil, start, "tls.crt: PEM data does not contain a certificate"},
		"a key in its place":      {KeyPair{good.Key, good.Key}, nil, start, "tls.crt: PEM data does not contain a certificate"},
		"another key":             {KeyPair{good.Certificate, issue(t, authority, start, "x").Key}, nil, start, "tls.key is not the private key"},
		"not yet valid":           {good, nil, start.Add(-day), "not valid before 2026-11-21T09:55:00Z"},
		"expired":                 {good, nil, start.Add(91 * day), "expired at 2027-02-19T10:00:00Z"},
		"another authority":       {good, other.PEM(), start, "ca.crt did not issue"},
		"an authority itself":     {root, authority.PEM(), start, "is a CA certificate (CA:TRUE)"},
		"rubbish of an authority": {good, []byte("rubbish"), start, "ca.crt: PEM data does not contain a certificate"},
	} {
		_, err := ValidateKeyPair(test.pair, test.authority, test.now)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got error %v, want %q", name, err, test.want)
		}
	}
}

func TestSigningKeysSortByTime(t *testing.T) {
	t.Parallel()
	earlier, key, err := NewSigningKey(start)
	if err != nil {
		t.Fatal(err)
	}
	later, other, err := NewSigningKey(start.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if earlier >= later || earlier != "20261121t100000z" {
		t.Errorf("IDs are not in order: %q and %q", earlier, later)
	}
	if !IsSigningKey(key) || !IsSigningKey(other) || bytes.Equal(key, other) {
		t.Error("signing keys are invalid or equal")
	}
}

func TestIsSigningKeyRejectsOtherKeys(t *testing.T) {
	t.Parallel()
	authority, pair := newAuthority(t, start)
	for name, text := range map[string][]byte{"nothing": nil, "rubbish": []byte("rubbish"), "another algorithm": pair.Key, "a certificate": authority.PEM()} {
		if IsSigningKey(text) {
			t.Errorf("IsSigningKey(%s) = true, want false", name)
		}
	}
}

func TestApplicationKeysAreLongAndUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		key := NewApplicationKey()
		if len(key) != 26 || strings.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" || seen[key] {
			t.Fatalf("got short or duplicate key %q", key)
		}
		seen[key] = true
	}
}

func FuzzValidateKeyPair(f *testing.F) {
	pair, err := NewAuthority(start)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pair.Certificate, pair.Key, pair.Certificate)
	f.Add([]byte("-----BEGIN CERTIFICATE-----"), []byte(""), []byte("rubbish"))
	f.Fuzz(func(t *testing.T, certificate, key, authority []byte) {
		if _, err := ValidateKeyPair(KeyPair{certificate, key}, authority, start); err != nil && err.Error() == "" {
			t.Error("ValidateKeyPair returned an error without a message")
		}
	})
}
