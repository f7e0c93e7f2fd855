// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// clusterSettings is read by Debian's postgresql-common. Without this file in
// it, installing the server makes a cluster "main" and starts it.
const clusterSettings = "/etc/postgresql-common/createcluster.d/anamnesis-setup.conf"

// install installs Debian's package and leaves nothing running.
func install(ctx context.Context) (err error) {
	undo, err := withoutCluster()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, undo()) }()
	if err := apt(ctx, "update"); err != nil {
		return err
	}
	return apt(ctx, "install", "--yes", "--no-install-recommends", "postgresql")
}

// withoutCluster keeps the installation from making a cluster, until undo. The
// directory stays; it is one of Debian's.
func withoutCluster() (undo func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(clusterSettings), 0o755); err != nil { //nolint:gosec // as all of /etc
		return nil, err
	}
	if err := os.WriteFile(clusterSettings, []byte("create_main_cluster = false\n"), 0o644); err != nil { //nolint:gosec // as all of /etc
		return nil, err
	}
	return func() error { return os.Remove(clusterSettings) }, nil
}

// apt runs apt-get, which asks no questions, waits for another that runs, and
// is heard only when it fails.
func apt(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, "apt-get", append([]string{"--option=DPkg::Lock::Timeout=300"}, args...)...)
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, output)
	}
	return nil
}
