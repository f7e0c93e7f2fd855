// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

const (
	certificateBlock = "CERTIFICATE"
	privateKeyBlock  = "PRIVATE KEY"
)

// encodeKey encodes a private key as PKCS#8 in PEM, with optional headers.
func encodeKey(key crypto.PrivateKey, headers map[string]string) ([]byte, error) {
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: privateKeyBlock, Headers: headers, Bytes: encoded}), nil
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: der})
}

// parseKey parses a PKCS#8 private key in PEM that can sign.
func parseKey(text []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != privateKeyBlock {
		return nil, errors.New("PEM data does not contain a PKCS#8 private key")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("private key is not valid PKCS#8")
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("private key cannot sign")
	}
	return signer, nil
}

// parseCertificates parses the certificates of a PEM file, in order. It returns an error
// if the file contains no certificate.
func parseCertificates(text []byte) ([]*x509.Certificate, error) {
	var certificates []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != certificateBlock {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("parsing certificate %d: %w", len(certificates)+1, err)
		}
		certificates = append(certificates, certificate)
	}
	if len(certificates) == 0 {
		return nil, errors.New("PEM data does not contain a certificate")
	}
	return certificates, nil
}

// parseReadableCertificates parses the certificates of a PEM file and skips invalid ones.
func parseReadableCertificates(text []byte) []*x509.Certificate {
	var certificates []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == certificateBlock {
			certificates = append(certificates, certificate)
		}
	}
	return certificates
}

// ExtractCertificates returns only the certificates of a PEM text, without other blocks
// such as private keys.
func ExtractCertificates(text []byte) []byte {
	return encodeCertificates(parseReadableCertificates(text))
}

// encodeCertificates encodes certificates in PEM, in order.
func encodeCertificates(certificates []*x509.Certificate) []byte {
	text := &bytes.Buffer{}
	for _, certificate := range certificates {
		text.Write(encodeCertificate(certificate.Raw))
	}
	return text.Bytes()
}
