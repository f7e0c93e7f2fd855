// SPDX-License-Identifier: Apache-2.0

// Package pki issues the certificates of one cluster and the kubeconfigs that
// hold them. Nothing is kept here: a cluster that starts gets new keys.
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

// lifetime is longer than any local cluster is kept.
const lifetime = 10 * 365 * 24 * time.Hour

// Authority signs the certificates of one cluster.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// PEM is the authority's own certificate.
	PEM []byte
}

// Subject is whom a certificate is for: a user and groups as Kubernetes reads
// them from a client certificate, and the names and addresses of a server.
type Subject struct {
	User   string
	Groups []string
	Hosts  []string
}

// Pair is a certificate and its key, both in PEM.
type Pair struct {
	Certificate, Key []byte
}

// NewAuthority makes an authority with a key of its own. Its certificates are
// good from a minute before now.
func NewAuthority(now time.Time) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the authority's key: %w", err)
	}
	template := template("anamnesis-local-cluster", nil, now)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making the authority's certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading the authority's certificate: %w", err)
	}
	return &Authority{certificate: certificate, key: key, PEM: encode("CERTIFICATE", der)}, nil
}

// Issue makes a certificate that serves as a client and, when the subject has
// hosts, as a server.
func (a *Authority) Issue(subject Subject) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("making a key for %s: %w", subject.User, err)
	}
	template := template(subject.User, subject.Groups, a.certificate.NotBefore.Add(skew))
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
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("making a certificate for %s: %w", subject.User, err)
	}
	keyPEM, err := encodeKey(key)
	return Pair{Certificate: encode("CERTIFICATE", der), Key: keyPEM}, err
}

// skew is how far a certificate reaches back, for clocks that differ.
const skew = time.Minute

func template(user string, groups []string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{CommonName: user, Organization: groups},
		NotBefore:    now.Add(-skew),
		NotAfter:     now.Add(lifetime),
	}
}

// serial is random and as long as RFC 5280 allows with room to spare.
func serial() *big.Int {
	number := make([]byte, 16)
	_, _ = rand.Read(number) // never fails
	number[0] &= 0x7f
	return new(big.Int).SetBytes(number)
}

// NewKey makes a private key in PEM, as service accounts need it.
func NewKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	return encodeKey(key)
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	return encode("EC PRIVATE KEY", der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Kubeconfig is a kubeconfig that reaches the API server at the URL server
// with the pair as its client certificate. It needs no other file.
func (a *Authority) Kubeconfig(server string, pair Pair) ([]byte, error) {
	const name = "anamnesis"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: server, CertificateAuthorityData: a.PEM}
	config.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: pair.Certificate, ClientKeyData: pair.Key}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return content, nil
}

// Redirect returns the kubeconfig with another server to reach.
func Redirect(kubeconfig []byte, server string) ([]byte, error) {
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
