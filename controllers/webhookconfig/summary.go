// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
)

// Reasons of Ready when nothing is wrong with the subscription.
const (
	reasonSubscribed      = "Subscribed"
	reasonReceiverFailing = "ReceiverFailing"
)

// summarize says in Ready, Reconciling and Stalled how a visit ended. A receiver
// that takes nothing does not change that the subscription is as wished: Ready says
// so in its reason and message.
func (v *visit) summarize(failures []error) {
	said := &v.config.Status
	said.ObservedGeneration = v.config.Generation
	reason, message := reasonSubscribed, "the receiver is told of events as the spec says"
	if v.failing {
		reason, message = reasonReceiverFailing, "the subscription is as the spec says, and the receiver does not take deliveries: five in a row failed. They are tried again; see that it answers with 2xx within 15 seconds"
	}
	if v.differs != "" {
		failures = append(failures, waiting(status.ReasonSuspended, "%s", v.differs))
	}
	worst := problem.Worst(failures)
	status.Conclude(&said.Conditions, v.config.Generation, v.began, worst, reason, message)
	if v.config.Spec.Suspend && v.config.DeletionTimestamp.IsZero() {
		v.suspend(worst)
	}
}

// suspend says that the subscription is left as it is, and what is wrong with it,
// which nothing is done about.
func (v *visit) suspend(worst error) {
	conditions := &v.config.Status.Conditions
	ready := *meta.FindStatusCondition(*conditions, v1alpha1.ConditionReady)
	ready.Reason, ready.Message = status.ReasonSuspended, "suspended: the subscription is left as it is"
	if worst != nil {
		ready.Message += "; " + worst.Error()
	}
	meta.SetStatusCondition(conditions, ready)
	meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
}
