// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
)

// A reloadableCertificate holds the current TLS certificate, which may change while the
// server runs.
type reloadableCertificate struct {
	current atomic.Pointer[tls.Certificate]
}

// loadCertificate reads a certificate and its key. The returned source is already loaded
// and reloads them when watched. If the new files are invalid, the current certificate
// stays in use.
func loadCertificate(certFile, keyFile string) (*reloadableCertificate, *reload.Source, error) {
	c := &reloadableCertificate{}
	source := &reload.Source{
		Name:  "tls",
		Paths: []string{certFile, keyFile},
		Apply: func(files reload.Files) error {
			pair, err := tls.X509KeyPair(files[certFile], files[keyFile])
			if err != nil {
				return fmt.Errorf("parsing PEM certificate %s and key %s: %w", certFile, keyFile, err)
			}
			c.current.Store(&pair)
			return nil
		},
	}
	if err := source.Load(); err != nil {
		return nil, nil, err
	}
	return c, source, nil
}

// notAfter returns when the current certificate expires.
func (c *reloadableCertificate) notAfter() time.Time { return c.current.Load().Leaf.NotAfter }
