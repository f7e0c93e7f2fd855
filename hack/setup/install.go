// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// installable reports whether this system has Debian's packages, and we may
// install them.
func installable() bool {
	_, err := os.Stat("/etc/debian_version")
	_, aptErr := exec.LookPath("apt-get")
	return err == nil && aptErr == nil && os.Geteuid() == 0
}

// install installs Debian's packages.
func install(ctx context.Context, packages ...string) error {
	err := apt(ctx, "update")
	if err == nil {
		err = apt(ctx, "install", append([]string{"--yes", "--no-install-recommends"}, packages...)...)
	}
	if err != nil {
		return fmt.Errorf("install Debian's %s: %w", strings.Join(packages, ", "), err)
	}
	return nil
}

// apt runs apt-get, which asks no questions, waits for another that runs, and
// is heard only when it fails.
func apt(ctx context.Context, verb string, args ...string) error {
	command := exec.CommandContext(ctx, "apt-get", append([]string{"--option=DPkg::Lock::Timeout=300", verb}, args...)...)
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", verb, err, output)
	}
	return nil
}
