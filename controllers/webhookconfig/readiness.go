// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Reasons why an Instance cannot be called.
const (
	reasonInstanceNotFound    = "InstanceNotFound"
	reasonInstanceTerminating = "InstanceTerminating"
	reasonInstanceHibernated  = "InstanceHibernated"
	reasonWebhooksUnsupported = "WebhooksUnsupported"
	reasonInstanceNotReady    = "InstanceNotReady"
)

// instanceProblem returns why an Instance's API cannot be called, or nil if it can be
// called. instance is nil if the Instance does not exist. The Instance need not match its
// spec, as long as one pod serves requests. The operator watches the changes that resolve
// these problems.
func instanceProblem(name string, instance *v1alpha1.Instance) *problem.Error {
	switch {
	case instance == nil:
		return waitingProblem(reasonInstanceNotFound, "Instance %s does not exist or is not managed by this operator", name)
	case !instance.DeletionTimestamp.IsZero():
		return waitingProblem(reasonInstanceTerminating, "Instance %s is being deleted", name)
	case instance.Spec.Hibernate:
		return waitingProblem(reasonInstanceHibernated, "Instance %s is hibernated: no events are sent, and its subscriptions are kept", name)
	case !meta.IsStatusConditionTrue(instance.Status.Conditions, v1alpha1.ConditionAvailable):
		return waitingProblem(reasonInstanceNotReady, "Instance %s has no ready pods", name)
	}
	return nil
}

// waitingProblem returns a problem that a watched change resolves, so it does not requeue.
func waitingProblem(reason, format string, arguments ...any) *problem.Error {
	found := problem.Waiting("", reason, format, arguments...)
	found.RequeueAfter = 0
	return found
}
