// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

// memoryLimitEnv sets the Go runtime's memory limit. Close to the limit, the runtime
// collects garbage more often, and the server sheds load that would exceed it.
const memoryLimitEnv = "GOMEMLIMIT"

// memoryEnv returns a memory limit of four fifths of the container's limit, or nil if the
// container has no limit. The rest is for memory that the runtime does not account for,
// such as memory used by SQLite and the kernel, and for allocations beyond the limit. The
// downward API can expose the limit itself, but not a fraction of it.
func memoryEnv(resources *coreapply.ResourceRequirementsApplyConfiguration) *coreapply.EnvVarApplyConfiguration {
	if resources.Limits == nil {
		return nil
	}
	limit, ok := (*resources.Limits)[corev1.ResourceMemory]
	if !ok {
		return nil
	}
	return coreapply.EnvVar().WithName(memoryLimitEnv).WithValue(fmt.Sprintf("%dKiB", limit.Value()/5*4>>10))
}
