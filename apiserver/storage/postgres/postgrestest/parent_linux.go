// SPDX-License-Identifier: Apache-2.0

package postgrestest

import "syscall"

// endWithParent has the kernel end the process when we die, however we die.
// PostgreSQL takes this signal for an immediate shutdown.
func endWithParent(attributes *syscall.SysProcAttr) {
	attributes.Pdeathsig = syscall.SIGQUIT
}
