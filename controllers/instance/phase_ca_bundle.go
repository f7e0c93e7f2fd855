// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// setCABundle records the CA that clients must trust for this reconcile's certificate.
// It is nil for a public CA.
func (v *scope) setCABundle(authority []byte) {
	v.input.CABundle, v.caBundleKnown = authority, true
}

// applyCABundle publishes the CA bundle to clients. If this reconcile has no
// certificate, it publishes the CA of the certificate in use.
func (v *scope) applyCABundle(ctx context.Context) error {
	if served := inventory.Find[*corev1.Secret](v.Objects, inventory.KindSecret, resources.TLSSecretName(v.Instance)); !v.caBundleKnown && served != nil {
		v.setCABundle(served.Data[resources.TLSCAKey])
	}
	object := resources.BuildCAConfigMap(v.input)
	if object == nil {
		return nil
	}
	return v.apply(ctx, "", object)
}
