// SPDX-License-Identifier: Apache-2.0

// Command letterbox runs in a pod of the end-to-end test: a mail server that
// takes letters over STARTTLS alone and prints them, a line of JSON each. Before
// the first one it prints its certificate, which is made for the name it is given.
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
		fmt.Fprintln(os.Stderr, "letterbox:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("expected two arguments, the address to listen on and the name it is called by")
	}
	certificate, err := selfSigned(args[1])
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	out := json.NewEncoder(os.Stdout)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	if err := out.Encode(map[string]string{"authority": string(authority)}); err != nil {
		return err
	}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{connection: c, out: out}, nil
	}))
	server.Addr, server.Domain = args[0], args[1]
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	return server.ListenAndServe()
}

// selfSigned is a certificate that is its own authority.
func selfSigned(name string) (tls.Certificate, error) {
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

// A session takes letters from one connection.
type session struct {
	connection *smtp.Conn
	out        *json.Encoder
	to         string
}

func (s *session) Mail(string, *smtp.MailOptions) error {
	if _, encrypted := s.connection.TLSConnectionState(); !encrypted {
		return &smtp.SMTPError{Code: 530, Message: "say STARTTLS first"}
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return nil
}

func (s *session) Data(r io.Reader) error {
	letter, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return s.out.Encode(map[string]string{"to": s.to, "letter": string(letter)})
}

func (*session) Reset()        {}
func (*session) Logout() error { return nil }
