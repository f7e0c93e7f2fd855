// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
)

// canInstall reports whether the process can install Debian packages on this system.
func canInstall() bool {
	_, err := os.Stat("/etc/debian_version")
	_, aptErr := exec.LookPath("apt-get")
	return err == nil && aptErr == nil && os.Geteuid() == 0
}

// installPackages installs Debian packages.
func installPackages(ctx context.Context, packages ...string) error {
	slog.InfoContext(ctx, "installing Debian packages", "packages", packages)
	err := aptGet(ctx, "update")
	if err == nil {
		err = aptGet(ctx, "install", append([]string{"--yes", "--no-install-recommends"}, packages...)...)
	}
	if err != nil {
		return fmt.Errorf("installing Debian packages %s: %w", strings.Join(packages, ", "), err)
	}
	return nil
}

// aptGet runs apt-get without prompts. It waits for other apt processes and prints
// output only on failure.
func aptGet(ctx context.Context, verb string, args ...string) error {
	command := exec.CommandContext(ctx, "apt-get", append([]string{"--option=DPkg::Lock::Timeout=300", verb}, args...)...)
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", verb, err, output)
	}
	return nil
}
