// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

const (
	// authorityLifetime is how long a CA certificate is valid.
	authorityLifetime = 10 * 365 * 24 * time.Hour
	// authorityRenewBefore is how long before expiry a CA certificate is renewed.
	authorityRenewBefore = 5 * 365 * 24 * time.Hour
	// certificateLifetime is how long an issued certificate is valid.
	certificateLifetime = 90 * 24 * time.Hour
	// certificateRenewBefore is how long before expiry a certificate is reissued.
	certificateRenewBefore = 30 * 24 * time.Hour
	// maxClockSkew is how far a client's clock may be behind the operator's clock.
	maxClockSkew = 5 * time.Minute
)

// organization is in the subject of every CA that this package creates, and therefore in
// the issuer of every certificate.
var organization = []string{"Anamnesis"}

// KeyPair is a certificate, followed by any intermediate certificates, and its private
// key, both in PEM.
type KeyPair struct {
	Certificate, Key []byte
}

// Authority is a certificate authority (CA) that issues server certificates.
type Authority struct {
	certificate    *x509.Certificate
	key            crypto.Signer
	certificatePEM []byte
}

// NewAuthority creates a self-signed CA with a new key. The name constraints of its
// certificate permit only the given DNS domains and their subdomains. Without domains,
// it may issue for any name.
func NewAuthority(now time.Time, domains ...string) (KeyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return KeyPair{}, fmt.Errorf("generating the CA key: %w", err)
	}
	return selfSign(authorityTemplate(domains, now), key)
}

// RenewAuthority renews a CA certificate for the given domains. It keeps the key, the
// name and the key identifier, so clients that still hold the old certificate continue
// to trust newly issued ones.
func RenewAuthority(current KeyPair, now time.Time, domains ...string) (KeyPair, error) {
	authority, err := ParseAuthority(current)
	if err != nil {
		return KeyPair{}, err
	}
	template := authorityTemplate(domains, now)
	template.RawSubject = authority.certificate.RawSubject
	template.SubjectKeyId = authority.certificate.SubjectKeyId
	return selfSign(template, authority.key)
}

// ParseAuthority parses a CA created by NewAuthority.
func ParseAuthority(pair KeyPair) (*Authority, error) {
	certificates, err := parseCertificates(pair.Certificate)
	if err != nil {
		return nil, fmt.Errorf("parsing the CA certificate: %w", err)
	}
	key, err := parseKey(pair.Key)
	if err != nil {
		return nil, fmt.Errorf("parsing the CA key: %w", err)
	}
	certificate := certificates[0]
	if !certificate.IsCA || !keyMatches(key, certificate) {
		return nil, errors.New("the CA certificate and key do not match")
	}
	return &Authority{certificate: certificate, key: key, certificatePEM: pair.Certificate}, nil
}

// PEM returns the CA certificate that clients must trust.
func (a *Authority) PEM() []byte { return bytes.Clone(a.certificatePEM) }

// Issue issues a server certificate for DNS names. It returns an error for names that
// the CA's name constraints do not permit, because clients would reject the whole
// certificate.
func (a *Authority) Issue(names []string, now time.Time) (KeyPair, error) {
	if permitted := permittedNames(a.certificate, names); !slices.Equal(permitted, names) {
		return KeyPair{}, fmt.Errorf("issuing a certificate for %q: the CA may issue for %q only", names, a.certificate.PermittedDNSDomains)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return KeyPair{}, fmt.Errorf("generating a key: %w", err)
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{Organization: organization},
		DNSNames:              names,
		NotBefore:             now.Add(-maxClockSkew),
		NotAfter:              earlier(now.Add(certificateLifetime), a.certificate.NotAfter),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	return sign(template, a.certificate, key, a.key)
}

func authorityTemplate(domains []string, now time.Time) *x509.Certificate {
	template := &x509.Certificate{
		Subject:               pkix.Name{Organization: organization, CommonName: "Anamnesis operator"},
		NotBefore:             now.Add(-maxClockSkew),
		NotAfter:              now.Add(authorityLifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
	}
	if len(domains) > 0 {
		addNameConstraints(template, domains)
	}
	return template
}

func selfSign(template *x509.Certificate, key crypto.Signer) (KeyPair, error) {
	return sign(template, template, key, key)
}

// sign returns a certificate for key, signed with the parent's key, together with its
// key.
func sign(template, parent *x509.Certificate, key, parentKey crypto.Signer) (KeyPair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return KeyPair{}, fmt.Errorf("generating a serial number: %w", err)
	}
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return KeyPair{}, fmt.Errorf("signing a certificate: %w", err)
	}
	keyText, err := encodeKey(key, nil)
	if err != nil {
		return KeyPair{}, err
	}
	return KeyPair{Certificate: encodeCertificate(der), Key: keyText}, nil
}

// keyMatches reports whether a private key belongs to a certificate.
func keyMatches(key crypto.Signer, certificate *x509.Certificate) bool {
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(certificate.PublicKey)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
