// SPDX-License-Identifier: Apache-2.0

// Command smtpsink is the SMTP sink in a pod of the end-to-end test: a mail server
// that accepts messages over STARTTLS only and prints each as a line of JSON. Before
// the first message it prints its certificate, which is issued for the name in its
// arguments.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"time"

	"github.com/emersion/go-smtp"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "smtpsink:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("expected two arguments: the listen address and the host name")
	}
	certificate, err := newSelfSignedCertificate(args[1])
	if err != nil {
		return fmt.Errorf("creating a certificate: %w", err)
	}
	out := json.NewEncoder(os.Stdout)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	if err := out.Encode(map[string]string{"authority": string(authority)}); err != nil {
		return err
	}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{conn: c, out: out}, nil
	}))
	server.Addr, server.Domain = args[0], args[1]
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	return server.ListenAndServe()
}

// newSelfSignedCertificate returns a self-signed certificate.
func newSelfSignedCertificate(name string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// A session receives messages on one connection.
type session struct {
	conn      *smtp.Conn
	out       *json.Encoder
	recipient string
}

func (s *session) Mail(string, *smtp.MailOptions) error {
	if _, encrypted := s.conn.TLSConnectionState(); !encrypted {
		return &smtp.SMTPError{Code: 530, Message: "say STARTTLS first"}
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.recipient = to
	return nil
}

func (s *session) Data(r io.Reader) error {
	letter, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return s.out.Encode(map[string]string{"to": s.recipient, "letter": string(letter)})
}

func (*session) Reset()        {}
func (*session) Logout() error { return nil }
