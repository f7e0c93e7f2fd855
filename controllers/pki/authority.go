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

// NewAuthority makes a self-signed authority with a key of its own.
func NewAuthority(now time.Time) (KeyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return KeyPair{}, fmt.Errorf("making the authority's key: %w", err)
	}
	return selfSign(key, now)
}

// RenewAuthority makes the authority's certificate again when it nears its end,
// and says whether it did. The key and the name stay, so that clients that still
// hold the old certificate go on trusting what is issued.
func RenewAuthority(current KeyPair, now time.Time) (renewed KeyPair, changed bool, err error) {
	authority, err := ParseAuthority(current)
	if err != nil {
		return KeyPair{}, false, err
	}
	if now.Before(authority.certificate.NotAfter.Add(-authorityRenewal)) {
		return current, false, nil
	}
	renewed, err = selfSign(authority.key, now)
	return renewed, err == nil, err
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

// Issue makes a server certificate for DNS names.
func (a *Authority) Issue(names []string, now time.Time) (KeyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return KeyPair{}, fmt.Errorf("making a key: %w", err)
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"Anamnesis"}},
		DNSNames:              names,
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              earlier(now.Add(certificateLifetime), a.certificate.NotAfter),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	return sign(template, a.certificate, key, a.key)
}

func selfSign(key crypto.Signer, now time.Time) (KeyPair, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"Anamnesis"}, CommonName: "Anamnesis operator"},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(authorityLifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
	}
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
	keyText, err := encodeKey(key)
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
