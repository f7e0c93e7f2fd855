// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
)

// Reasons of the Ready condition if the subscription has no problem.
const (
	reasonSubscribed        = "Subscribed"
	reasonDeliveriesFailing = "ReceiverFailing"
)

// setConditions sets Ready, Reconciling and Stalled according to the result of the
// reconcile. A receiver that accepts no deliveries does not make Ready false, because
// the subscription matches its spec; the reason and message of Ready report it.
func (v *scope) setConditions(failures []error) {
	said := &v.config.Status
	said.ObservedGeneration = v.config.Generation
	reason, message := reasonSubscribed, "the subscription matches the spec"
	if v.receiverFailing {
		reason, message = reasonDeliveriesFailing, "the subscription matches the spec, but the last five deliveries failed; they are retried with backoff: make sure that the receiver responds with 2xx within 15 seconds"
	}
	if v.drift != "" {
		failures = append(failures, waitingProblem(status.ReasonSuspended, "%s", v.drift))
	}
	worst := problem.Worst(failures)
	status.SetReady(&said.Conditions, v.config.Generation, v.startedAt, worst, reason, message)
	if v.config.Spec.Suspend && v.config.DeletionTimestamp.IsZero() {
		v.setSuspended(worst)
	}
}

// setSuspended sets the conditions of a suspended WebhookConfig: its subscription is not
// changed, and its problems are reported but not acted upon.
func (v *scope) setSuspended(worst error) {
	conditions := &v.config.Status.Conditions
	ready := *meta.FindStatusCondition(*conditions, v1alpha1.ConditionReady)
	ready.Reason, ready.Message = status.ReasonSuspended, "suspended: the subscription is not updated"
	if worst != nil {
		ready.Message += "; " + worst.Error()
	}
	meta.SetStatusCondition(conditions, ready)
	meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
}
