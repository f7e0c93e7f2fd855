// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// Check judges a certificate that somebody else made: whether a server can use
// it now, and, where an authority comes with it, whether that vouches for it.
// A server gets no certificate that could vouch for others. It gives the
// certificate's end. Its errors say what is wrong and what would be right.
func Check(pair KeyPair, authority []byte, now time.Time) (end time.Time, err error) {
	certificate, err := parsePair(pair)
	if err != nil {
		return time.Time{}, err
	}
	switch {
	case certificate.IsCA:
		return time.Time{}, errors.New("tls.crt is the certificate of an authority (CA:TRUE), whose key would let the server vouch for any name: put a server certificate (CA:FALSE) that it issued there, and the authority's certificate, without its key, into ca.crt")
	case now.Before(certificate.NotBefore):
		return time.Time{}, fmt.Errorf("the certificate is not valid before %s: put one that is valid now", certificate.NotBefore.UTC().Format(time.RFC3339))
	case now.After(certificate.NotAfter):
		return time.Time{}, fmt.Errorf("the certificate expired at %s: put one that is valid now", certificate.NotAfter.UTC().Format(time.RFC3339))
	case len(authority) > 0:
		if err := checkChain(pair.Certificate, authority, now); err != nil {
			return time.Time{}, err
		}
	}
	return certificate.NotAfter, nil
}

// parsePair reads the certificate of a pair and checks that the key belongs to
// it. Keys may be written in any of the ways that Go's TLS server reads.
func parsePair(pair KeyPair) (*x509.Certificate, error) {
	certificates, err := parseCertificates(pair.Certificate)
	if err != nil {
		return nil, fmt.Errorf("tls.crt: %w: put the server's certificate there, followed by those between it and its authority", err)
	}
	if _, err := tls.X509KeyPair(pair.Certificate, pair.Key); err != nil {
		return nil, errors.New("tls.key is not the private key of the certificate in tls.crt: put that key there, in PEM and not encrypted")
	}
	return certificates[0], nil
}

func checkChain(chain, authority []byte, now time.Time) error {
	roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return errors.New("ca.crt: no certificate in PEM: put the authority's certificate there, or leave ca.crt out")
	}
	certificates, err := parseCertificates(chain)
	if err != nil {
		return err
	}
	for _, certificate := range certificates[1:] {
		intermediates.AddCert(certificate)
	}
	_, err = certificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates, CurrentTime: now})
	if err != nil {
		return fmt.Errorf("the authority in ca.crt does not vouch for the certificate in tls.crt: %w", err)
	}
	return nil
}
