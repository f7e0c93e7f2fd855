// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// ValidateKeyPair validates a certificate supplied by a user. It checks that a server can
// use the certificate now, that the certificate is not a CA, and, if authority is set,
// that this CA issued it. It returns the certificate's expiry. Errors include the remedy.
func ValidateKeyPair(pair KeyPair, authority []byte, now time.Time) (end time.Time, err error) {
	certificate, err := parseKeyPair(pair)
	if err != nil {
		return time.Time{}, err
	}
	switch {
	case certificate.IsCA:
		return time.Time{}, errors.New("tls.crt is a CA certificate (CA:TRUE), whose key could sign certificates for any name: use a server certificate (CA:FALSE) issued by that CA, and put the CA certificate, without its key, into ca.crt")
	case now.Before(certificate.NotBefore):
		return time.Time{}, fmt.Errorf("the certificate is not valid before %s: replace it with a currently valid certificate", certificate.NotBefore.UTC().Format(time.RFC3339))
	case now.After(certificate.NotAfter):
		return time.Time{}, fmt.Errorf("the certificate expired at %s: replace it with a currently valid certificate", certificate.NotAfter.UTC().Format(time.RFC3339))
	case len(authority) > 0:
		if err := verifyChain(pair.Certificate, authority, now); err != nil {
			return time.Time{}, err
		}
	}
	return certificate.NotAfter, nil
}

// parseKeyPair parses the certificate of a pair and checks that the key belongs to it.
// It accepts every key encoding that Go's TLS server accepts.
func parseKeyPair(pair KeyPair) (*x509.Certificate, error) {
	certificates, err := parseCertificates(pair.Certificate)
	if err != nil {
		return nil, fmt.Errorf("tls.crt: %w: tls.crt must contain the server certificate, followed by any intermediate certificates", err)
	}
	if _, err := tls.X509KeyPair(pair.Certificate, pair.Key); err != nil {
		return nil, errors.New("tls.key is not the private key of the certificate in tls.crt: tls.key must contain that key, unencrypted and in PEM")
	}
	return certificates[0], nil
}

func verifyChain(chain, authority []byte, now time.Time) error {
	roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return errors.New("ca.crt: PEM data does not contain a certificate: ca.crt must contain the CA certificate, or be omitted")
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
		return fmt.Errorf("the CA in ca.crt did not issue the certificate in tls.crt: %w", err)
	}
	return nil
}
