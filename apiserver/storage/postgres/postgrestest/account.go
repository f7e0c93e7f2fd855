// SPDX-License-Identifier: Apache-2.0

package postgrestest

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is an unprivileged system user that runs the server instead of root, because
// PostgreSQL refuses to run as root. A nil account is the current user.
type account struct {
	uid, gid int
}

// unprivilegedAccount returns nil unless the current user is root.
func unprivilegedAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(found.Uid)
		gid, gidErr := strconv.Atoi(found.Gid)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("parsing the uid and gid of user %s: %w", name, err)
		}
		return &account{uid: uid, gid: gid}, nil
	}
	return nil, errors.New("PostgreSQL cannot run as root: create a user named \"postgres\" or \"nobody\"")
}

// tempDir returns a directory for temporary files that the account can access. Root's
// TMPDIR may not be accessible to it.
func (a *account) tempDir() string {
	dir := os.TempDir()
	if a == nil || isTraversable(dir) {
		return dir
	}
	return "/tmp"
}

// isTraversable reports whether every user can traverse dir and its parents.
func isTraversable(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

// chown makes the account the owner of a file.
func (a *account) chown(path string) error {
	if a == nil {
		return nil
	}
	return os.Chown(path, a.uid, a.gid)
}

// sysProcAttr returns the attributes that run a process as the account.
func (a *account) sysProcAttr() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{}
	if a != nil {
		attributes.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attributes
}
