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

// ErrNotInstalled says that there is no PostgreSQL server on this machine.
var ErrNotInstalled = errors.New("PostgreSQL is not installed: neither PATH, nor pg_config, nor /usr/lib/postgresql " +
	"has both initdb and postgres; `go run ./hack/setup postgres` installs it on Debian when run as root")

// Programs finds the directory that holds initdb and postgres: in PATH, where
// pg_config says, or the newest of those under /usr/lib/postgresql, where
// Debian keeps them out of PATH.
func Programs(ctx context.Context) (dir string, err error) {
	for _, dir := range candidates(ctx) {
		if executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", ErrNotInstalled
}

func candidates(ctx context.Context) []string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	if dir, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(dir)))
	}
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // fails for a malformed pattern only
	return append(dirs, newestFirst(debian)...)
}

// newestFirst sorts directories <version>/bin by their version.
func newestFirst(dirs []string) []string {
	version := func(dir string) int {
		number, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir))) // anything else comes last
		return number
	}
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	return dirs
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
