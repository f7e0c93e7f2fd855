// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// trust notes by which authority the certificate of this visit is to be trusted;
// none for the public ones.
func (v *Visit) trust(authority []byte) {
	v.input.Authority, v.certified = authority, true
}

// applyTrust tells clients by which authority the Instance proves itself. Where
// this visit found no certificate, it is that of the one which is served.
func (v *Visit) applyTrust(ctx context.Context) error {
	if served := children.As[*corev1.Secret](v.Children, children.KindSecret, resources.TLSName(v.Instance)); !v.certified && served != nil {
		v.trust(served.Data[resources.TLSAuthorityKey])
	}
	object := resources.BuildTrustConfigMap(v.input)
	if object == nil {
		return nil
	}
	return v.put(ctx, "", object)
}
