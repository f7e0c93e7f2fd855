// SPDX-License-Identifier: Apache-2.0

package resources

import (
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

// BuildServiceAccount gives the pods of an Instance an identity of their own without
// permissions: no role is bound to it and no token is mounted.
func BuildServiceAccount(in Input) *coreapply.ServiceAccountApplyConfiguration {
	return coreapply.ServiceAccount(ServerName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithAutomountServiceAccountToken(false)
}
