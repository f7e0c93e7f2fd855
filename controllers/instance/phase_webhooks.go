// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/cluster"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Reasons of the WebhooksReady condition.
const (
	reasonWebhooksConfigured = "WebhooksConfigured"
	reasonReceiverCANotFound = "ReceiverCANotFound"
	reasonReceiverCAInvalid  = "ReceiverCAInvalid"
)

// loadWebhookCABundle loads the CA bundle that verifies the certificates of webhook
// receivers. An invalid bundle does not block other phases: the Instance keeps serving,
// and the last valid bundle, which the server's configuration holds, stays in use.
func (s *scope) loadWebhookCABundle(ctx context.Context) error {
	reference := resources.WebhookCAReference(s.Instance)
	if reference == nil {
		meta.RemoveStatusCondition(&s.Instance.Status.Conditions, v1alpha1.ConditionWebhooksReady)
		return nil
	}
	if live := inventory.Find[*corev1.ConfigMap](s.Objects, "ConfigMap", resources.ConfigMapName(s.Instance)); live != nil {
		s.input.WebhookCABundle = resources.ParseWebhookCABundle(live.Data)
	}
	authorities, err := s.GetCABundle(ctx, *reference, cluster.CABundleOptions{
		Condition:      v1alpha1.ConditionWebhooksReady,
		NotFoundReason: reasonReceiverCANotFound,
		InvalidReason:  reasonReceiverCAInvalid,
		Expected:       "the CA certificate of the receivers",
	})
	if found := problem.FromError(err); found != nil {
		s.setConditionFromFailures([]*problem.Error{found})
		return nil
	}
	if err != nil {
		return err
	}
	s.input.WebhookCABundle = string(pki.ExtractCertificates([]byte(authorities)))
	s.setCondition(v1alpha1.ConditionWebhooksReady, metav1.ConditionTrue, reasonWebhooksConfigured,
		"receivers' certificates may be signed by the CAs in %s", reference.Name)
	return nil
}
