// SPDX-License-Identifier: Apache-2.0

package postgrestest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrNotInstalled indicates that PostgreSQL is not installed on this machine.
var ErrNotInstalled = errors.New("PostgreSQL is not installed: initdb and postgres not found in PATH, pg_config or /usr/lib/postgresql; " +
	"to install it on Debian, run `go run ./hack/setup postgres` as root")

// FindBinDir finds the directory that contains initdb and postgres: in PATH, from
// pg_config, or the newest one under /usr/lib/postgresql, where Debian installs them
// outside of PATH.
func FindBinDir(ctx context.Context) (dir string, err error) {
	for _, dir := range binDirCandidates(ctx) {
		if isExecutable(filepath.Join(dir, "initdb")) && isExecutable(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", ErrNotInstalled
}

func binDirCandidates(ctx context.Context) []string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	if dir, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(dir)))
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // fails only for a malformed pattern
	return append(dirs, sortNewestFirst(debian)...)
}

// sortNewestFirst sorts <version>/bin directories by version, newest first.
func sortNewestFirst(dirs []string) []string {
	version := func(dir string) int {
		number, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir))) // other names sort last
		return number
	}
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	return dirs
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
