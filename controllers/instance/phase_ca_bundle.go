// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// setCABundle records the CA bundle that clients must trust. The bundle is nil if a public
// CA issued the certificate.
func (s *scope) setCABundle(bundle []byte) {
	s.input.CABundle, s.caBundleKnown = bundle, true
}

// applyCABundle publishes the CA bundle to clients. If this reconcile has no valid
// certificate, it publishes the CA bundle of the certificate in use.
func (s *scope) applyCABundle(ctx context.Context) error {
	if secret := inventory.Find[*corev1.Secret](s.Objects, inventory.KindSecret, resources.TLSSecretName(s.Instance)); !s.caBundleKnown && secret != nil {
		s.setCABundle(secret.Data[resources.TLSCAKey])
	}
	object := resources.BuildCAConfigMap(s.input)
	if object == nil {
		return nil
	}
	return s.apply(ctx, "", object)
}
