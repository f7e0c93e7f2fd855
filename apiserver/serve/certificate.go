// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/reload"
)

// A certificate is the one in use, which may change while serving.
type certificate struct {
	current atomic.Pointer[tls.Certificate]
}

// openCertificate reads a certificate and its key. The source, which is
// loaded, keeps it as the files say when it is watched; files that make no pair
// leave the certificate as it was.
func openCertificate(certFile, keyFile string) (*certificate, *reload.Source, error) {
	c := &certificate{}
	source := &reload.Source{
		Name:  "tls",
		Paths: []string{certFile, keyFile},
		Apply: func(files reload.Files) error {
			pair, err := tls.X509KeyPair(files[certFile], files[keyFile])
			if err != nil {
				return fmt.Errorf("%s and %s are not a certificate and its key in PEM: %w", certFile, keyFile, err)
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

// expiry is when the certificate in use stops being good.
func (c *certificate) expiry() time.Time { return c.current.Load().Leaf.NotAfter }
