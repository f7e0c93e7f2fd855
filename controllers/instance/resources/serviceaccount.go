// SPDX-License-Identifier: Apache-2.0

package resources

import (
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

// BuildServiceAccount returns the ServiceAccount of an Instance's pods. It has no
// permissions: no role is bound to it and no token is mounted.
func BuildServiceAccount(in Input) *coreapply.ServiceAccountApplyConfiguration {
	return coreapply.ServiceAccount(ServerName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithAutomountServiceAccountToken(false)
}
