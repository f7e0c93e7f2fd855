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
	// authorityLifetime is how long a certificate of the authority is valid.
	authorityLifetime = 10 * 365 * 24 * time.Hour
	// authorityRenewal is how long before its end it is made again.
	authorityRenewal = 5 * 365 * 24 * time.Hour
	// certificateLifetime is how long an issued certificate is valid.
	certificateLifetime = 90 * 24 * time.Hour
	// certificateRenewal is how long before its end it is issued again.
	certificateRenewal = 30 * 24 * time.Hour
	// clockSkew is how far behind ours the clock of a client may be.
	clockSkew = 5 * time.Minute
)

// organization is in the subject of every authority that this package makes, and
// so in the issuer of every certificate.
var organization = []string{"Anamnesis"}

// KeyPair is a certificate, followed by those between it and its authority if
// any, and its private key, both in PEM.
type KeyPair struct {
	Certificate, Key []byte
}

// Authority vouches for certificates.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	pem         []byte
}

// NewAuthority makes a self-signed authority with a key of its own. It can vouch
// for the given DNS domains and all below them, and for nothing else, as name
// constraints of its certificate say; without any domain, for every name.
func NewAuthority(now time.Time, domains ...string) (KeyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return KeyPair{}, fmt.Errorf("making the authority's key: %w", err)
	}
	return selfSign(authorityTemplate(domains, now), key)
}

// RenewAuthority makes the authority's certificate again, for these domains. Key
// and name stay, and the identifier of the key, so that clients that still hold
// the old certificate go on trusting what is issued.
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

// ParseAuthority reads what NewAuthority made.
func ParseAuthority(pair KeyPair) (*Authority, error) {
	certificates, err := parseCertificates(pair.Certificate)
	if err != nil {
		return nil, fmt.Errorf("reading the authority's certificate: %w", err)
	}
	key, err := parseKey(pair.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the authority's key: %w", err)
	}
	certificate := certificates[0]
	if !certificate.IsCA || !isKeyOf(key, certificate) {
		return nil, errors.New("the authority's certificate and key do not belong together")
	}
	return &Authority{certificate: certificate, key: key, pem: pair.Certificate}, nil
}

// PEM is the certificate that clients must trust.
func (a *Authority) PEM() []byte { return bytes.Clone(a.pem) }

// Issue makes a server certificate for DNS names. Names that the authority's own
// certificate does not permit are an error: clients would refuse the certificate
// with all its names.
func (a *Authority) Issue(names []string, now time.Time) (KeyPair, error) {
	if permitted := permittedNames(a.certificate, names); !slices.Equal(permitted, names) {
		return KeyPair{}, fmt.Errorf("issuing a certificate for %q: the authority may vouch for %q only", names, a.certificate.PermittedDNSDomains)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return KeyPair{}, fmt.Errorf("making a key: %w", err)
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{Organization: organization},
		DNSNames:              names,
		NotBefore:             now.Add(-clockSkew),
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
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(authorityLifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
	}
	if len(domains) > 0 {
		constrain(template, domains)
	}
	return template
}

func selfSign(template *x509.Certificate, key crypto.Signer) (KeyPair, error) {
	return sign(template, template, key, key)
}

// sign gives a certificate for key, signed by the parent's key, with both.
func sign(template, parent *x509.Certificate, key, parentKey crypto.Signer) (KeyPair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return KeyPair{}, fmt.Errorf("making a serial number: %w", err)
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

// isKeyOf says whether a private key belongs to a certificate.
func isKeyOf(key crypto.Signer, certificate *x509.Certificate) bool {
	public, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && public.Equal(certificate.PublicKey)
}

func earlier(one, other time.Time) time.Time {
	if one.Before(other) {
		return one
	}
	return other
}
