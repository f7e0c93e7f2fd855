// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/surroundings"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// Reasons of WebhooksReady.
const (
	reasonWebhooksConfigured        = "WebhooksConfigured"
	reasonReceiverAuthorityNotFound = "ReceiverAuthorityNotFound"
	reasonReceiverAuthorityInvalid  = "ReceiverAuthorityInvalid"
)

// readWebhookAuthorities learns by which authorities receivers of webhooks prove
// themselves. What is wrong with them stops nothing else: the Instance serves, and
// what was good last stays, which is in the configuration that the server reads.
func (v *Visit) readWebhookAuthorities(ctx context.Context) error {
	reference := resources.WebhookAuthorities(v.Instance)
	if reference == nil {
		meta.RemoveStatusCondition(&v.Instance.Status.Conditions, v1alpha1.ConditionWebhooksReady)
		return nil
	}
	if live := children.As[*corev1.ConfigMap](v.Children, "ConfigMap", resources.ConfigName(v.Instance)); live != nil {
		v.input.WebhookAuthorities = resources.WebhookAuthoritiesIn(live.Data)
	}
	authorities, err := v.Certificates(ctx, *reference, surroundings.CertificateUse{
		Condition: v1alpha1.ConditionWebhooksReady,
		NotFound:  reasonReceiverAuthorityNotFound,
		Invalid:   reasonReceiverAuthorityInvalid,
		Want:      "the certificate of the receivers' authority",
	})
	if found := problem.Of(err); found != nil {
		v.markWrong([]*problem.Problem{found})
		return nil
	}
	if err != nil {
		return err
	}
	v.input.WebhookAuthorities = string(pki.OnlyCertificates([]byte(authorities)))
	v.mark(v1alpha1.ConditionWebhooksReady, metav1.ConditionTrue, reasonWebhooksConfigured,
		"receivers may prove themselves by the authorities of %s", reference.Name)
	return nil
}
