// SPDX-License-Identifier: Apache-2.0

// Package pki issues the certificates of one cluster and the kubeconfigs that contain
// them. It stores nothing: each start of a cluster creates new keys.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// lifetime exceeds the life of any local cluster.
const lifetime = 10 * 365 * 24 * time.Hour

// CA signs the certificates of one cluster.
type CA struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// PEM is the CA certificate.
	PEM []byte
}

// Subject is the subject of a certificate: a user and groups, as Kubernetes reads them
// from a client certificate, and the names and addresses of a server.
type Subject struct {
	User   string
	Groups []string
	Hosts  []string
}

// KeyPair is a certificate and its key, both PEM-encoded.
type KeyPair struct {
	Certificate, Key []byte
}

// NewCA returns a CA with a new key. Its certificates are valid from one minute before
// now.
func NewCA(now time.Time) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("creating the CA key: %w", err)
	}
	template := newTemplate("anamnesis-local-cluster", nil, now)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("creating the CA certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parsing the CA certificate: %w", err)
	}
	return &CA{certificate: certificate, key: key, PEM: encodePEM("CERTIFICATE", der)}, nil
}

// Issue issues a client certificate, which is also a server certificate if the subject
// has hosts.
func (c *CA) Issue(subject Subject) (KeyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return KeyPair{}, fmt.Errorf("creating a key for %s: %w", subject.User, err)
	}
	template := newTemplate(subject.User, subject.Groups, c.certificate.NotBefore.Add(clockSkew))
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(subject.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, host := range subject.Hosts {
		if address := net.ParseIP(host); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, c.certificate, key.Public(), c.key)
	if err != nil {
		return KeyPair{}, fmt.Errorf("creating a certificate for %s: %w", subject.User, err)
	}
	keyPEM, err := encodeKey(key)
	return KeyPair{Certificate: encodePEM("CERTIFICATE", der), Key: keyPEM}, err
}

// clockSkew is how far certificates are backdated to allow for clock skew.
const clockSkew = time.Minute

func newTemplate(user string, groups []string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: newSerialNumber(),
		Subject:      pkix.Name{CommonName: user, Organization: groups},
		NotBefore:    now.Add(-clockSkew),
		NotAfter:     now.Add(lifetime),
	}
}

// newSerialNumber returns a random serial number within the limit of RFC 5280.
func newSerialNumber() *big.Int {
	number := make([]byte, 16)
	_, _ = rand.Read(number) // never fails
	number[0] &= 0x7f
	return new(big.Int).SetBytes(number)
}

// NewKey returns a PEM-encoded private key, for signing service account tokens.
func NewKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("creating a key: %w", err)
	}
	return encodeKey(key)
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	return encodePEM("EC PRIVATE KEY", der), nil
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Kubeconfig returns a self-contained kubeconfig for the API server at the URL server,
// with the pair as its client certificate.
func (c *CA) Kubeconfig(server string, pair KeyPair) ([]byte, error) {
	const name = "anamnesis"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: server, CertificateAuthorityData: c.PEM}
	config.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: pair.Certificate, ClientKeyData: pair.Key}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return content, nil
}

// WithServer returns the kubeconfig with another server URL.
func WithServer(kubeconfig []byte, server string) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading a kubeconfig: %w", err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = server
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return content, nil
}
