// SPDX-License-Identifier: Apache-2.0

package address

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// callTimeout bounds one call. It is short, because a connection that a proxy
// has lost stays lost, while a new one may come through.
const callTimeout = time.Second

// Call connects to host:port and succeeds when the server there shows the
// certificate that is the first of certificates, in PEM. That it does tells the
// Instance's own server from another's that has taken over the address of an
// earlier pod. Nothing is sent but the handshake.
func Call(ctx context.Context, hostPort string, certificates []byte) error {
	config, err := Expect(certificates, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", hostPort)
	if err != nil {
		return fmt.Errorf("calling %s: %w", hostPort, err)
	}
	return conn.Close()
}

// Expect trusts the first of certificates, in PEM, under a name that it has: which
// names clients use is not known of a certificate that somebody brought. Beside it
// are trusted, under the same name, those whom authorities in PEM vouch for; nil for
// nobody. With the authority of the Instance, its server is known also while it
// shows the certificate before.
func Expect(certificates, authorities []byte) (*tls.Config, error) {
	block, _ := pem.Decode(certificates)
	if block == nil {
		return nil, errors.New("there is no certificate to expect in PEM")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate to expect: %w", err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(certificate)
	trusted.AppendCertsFromPEM(authorities)
	return &tls.Config{RootCAs: trusted, ServerName: nameOf(certificate), MinVersion: tls.VersionTLS12}, nil
}

func nameOf(certificate *x509.Certificate) string {
	switch {
	case len(certificate.DNSNames) > 0:
		return certificate.DNSNames[0]
	case len(certificate.IPAddresses) > 0:
		return certificate.IPAddresses[0].String()
	}
	return ""
}
