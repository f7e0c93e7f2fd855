// SPDX-License-Identifier: Apache-2.0

package postgrestest

import "syscall"

// killWithParent makes the kernel signal the process when the parent dies, for whatever
// reason. PostgreSQL performs an immediate shutdown on this signal.
func killWithParent(attributes *syscall.SysProcAttr) {
	attributes.Pdeathsig = syscall.SIGQUIT
}
