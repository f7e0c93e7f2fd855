// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// Reasons why an Instance cannot be asked.
const (
	reasonInstanceNotFound   = "InstanceNotFound"
	reasonInstanceDeleted    = "InstanceBeingDeleted"
	reasonInstanceHibernated = "InstanceHibernated"
	reasonInstanceTooOld     = "InstanceTooOld"
	reasonInstanceNotReady   = "InstanceNotReady"
)

// judgeInstance says what keeps an Instance, nil for one that is not there, from
// being asked about subscriptions; nil for nothing. Whether it is as its spec says
// does not matter, as long as some pod serves. All of it passes by what is watched.
func judgeInstance(name string, instance *v1alpha1.Instance) *problem.Problem {
	switch {
	case instance == nil:
		return waiting(reasonInstanceNotFound, "there is no Instance %s that this operator cares for", name)
	case !instance.DeletionTimestamp.IsZero():
		return waiting(reasonInstanceDeleted, "Instance %s is being deleted", name)
	case instance.Spec.Hibernate:
		return waiting(reasonInstanceHibernated, "Instance %s hibernates: nothing is sent, and its subscriptions are kept with its data", name)
	case !resources.SendsWebhooks(instance.Status.Server):
		return waiting(reasonInstanceTooOld, "Instance %s has a server without webhooks: this goes on when it has moved to the one that all are to have", name)
	case !meta.IsStatusConditionTrue(instance.Status.Conditions, v1alpha1.ConditionAvailable):
		return waiting(reasonInstanceNotReady, "no pod of Instance %s serves", name)
	}
	return nil
}

// waiting is a problem that passes by what is watched.
func waiting(reason, format string, arguments ...any) *problem.Problem {
	found := problem.Waiting("", reason, format, arguments...)
	found.After = 0
	return found
}
