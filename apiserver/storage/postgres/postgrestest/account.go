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

// account is an unprivileged user of the system who runs the server in place
// of root, whom PostgreSQL refuses. A nil account is the user that we are.
type account struct {
	uid, gid int
}

// unprivileged returns nil unless we are root.
func unprivileged() (*account, error) {
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
			return nil, fmt.Errorf("read the ids of the user %s: %w", name, err)
		}
		return &account{uid: uid, gid: gid}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody to run it as")
}

// tempDir is a directory for temporary files that the account can reach, which
// may not be so of root's TMPDIR.
func (a *account) tempDir() string {
	dir := os.TempDir()
	if a == nil || open(dir) {
		return dir
	}
	return "/tmp"
}

// open reports whether everybody may pass through dir and all above it.
func open(dir string) bool {
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

// own gives the account a file.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Chown(path, a.uid, a.gid)
}

// attributes make a process run as the account.
func (a *account) attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{}
	if a != nil {
		attributes.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attributes
}
