// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// dialTimeout bounds one connection attempt. It is short because a connection dropped by
// a proxy never recovers, while a new attempt may succeed.
const dialTimeout = time.Second

// Dial opens a TLS connection to hostPort and returns nil if the server presents the
// first certificate in certificates (PEM). This distinguishes the Instance's own server
// from another server that took over the IP address of an earlier pod. Dial sends
// nothing after the handshake.
func Dial(ctx context.Context, hostPort string, certificates []byte) error {
	config, err := TLSConfig(certificates, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", hostPort)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", hostPort, err)
	}
	return conn.Close()
}

// TLSConfig returns a configuration that trusts the first certificate in certificates
// (PEM). The server name is one of that certificate's own names, because the names that
// clients use for a user-provided certificate are unknown. The configuration also trusts
// certificates for that name issued by authorities (PEM), which may be nil. With the
// Instance's CA as an authority, a server that still presents the previous certificate is
// trusted too.
func TLSConfig(certificates, authorities []byte) (*tls.Config, error) {
	block, _ := pem.Decode(certificates)
	if block == nil {
		return nil, errors.New("parsing the expected certificate: no PEM block found")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parsing the expected certificate: %w", err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate)
	trusted.AppendCertsFromPEM(authorities)
	return &tls.Config{RootCAs: trusted, ServerName: serverName(certificate), MinVersion: tls.VersionTLS12}, nil
}

func serverName(certificate *x509.Certificate) string {
	switch {
	case len(certificate.DNSNames) > 0:
		return certificate.DNSNames[0]
	case len(certificate.IPAddresses) > 0:
		return certificate.IPAddresses[0].String()
	}
	return ""
}
