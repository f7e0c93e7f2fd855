// SPDX-License-Identifier: Apache-2.0

package resources

import (
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// BuildServiceAccount gives the pods of an Instance an identity of their own
// that can do nothing: no role is bound to it and no token is mounted.
func BuildServiceAccount(instance *v1alpha1.Instance) *coreapply.ServiceAccountApplyConfiguration {
	return own(coreapply.ServiceAccount(ServerName(instance), instance.Namespace), instance).
		WithAutomountServiceAccountToken(false)
}
