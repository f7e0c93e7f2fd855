// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package postgrestest

import "syscall"

// killWithParent does nothing: only Linux can kill a process with its parent.
func killWithParent(*syscall.SysProcAttr) {}
