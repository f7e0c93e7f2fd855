// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

// memoryVariable tells the Go runtime how much memory it has: near it
// collects garbage more often, and the server takes on no more than fits.
const memoryVariable = "GOMEMLIMIT"

// memoryEnv is the server's share of the container's memory, nil without a
// limit: four fifths. The runtime does not count what SQLite and the kernel take
// for the process, nor can it stop at once. The downward API could give the
// limit itself, and not a share of it.
func memoryEnv(in Input, resources *coreapply.ResourceRequirementsApplyConfiguration) *coreapply.EnvVarApplyConfiguration {
	if !in.has(tellsMemory) || resources.Limits == nil {
		return nil
	}
	limit, limited := (*resources.Limits)[corev1.ResourceMemory]
	if !limited {
		return nil
	}
	return coreapply.EnvVar().WithName(memoryVariable).WithValue(fmt.Sprintf("%dKiB", limit.Value()/5*4>>10))
}
