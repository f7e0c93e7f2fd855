// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cgroupRoot is where Linux distributions mount cgroups: the single hierarchy of
// version 2, or one directory per hierarchy of version 1.
const cgroupRoot = "/sys/fs/cgroup"

// cgroupHierarchies returns the roots of all hierarchies below root.
func cgroupHierarchies(root string) ([]string, error) {
	candidates, err := filepath.Glob(filepath.Join(root, "*"))
	if err != nil {
		return nil, err
	}
	isHierarchy := func(path string) bool {
		_, err := os.Stat(filepath.Join(path, "cgroup.procs"))
		return err == nil
	}
	if isHierarchy(root) {
		return []string{root}, nil
	}
	return slices.DeleteFunc(candidates, func(path string) bool { return !isHierarchy(path) }), nil
}

// createCgroups creates the cgroup below which the kubelet creates the pods' cgroups.
func createCgroups(root, name string) error {
	roots, err := cgroupHierarchies(root)
	if err != nil || len(roots) == 0 {
		return errors.Join(fmt.Errorf("no cgroup hierarchy is mounted at %s: the kubelet requires one", root), err)
	}
	for _, root := range roots {
		if err := delegateControllers(root); err != nil {
			return err
		}
		group := filepath.Join(root, name)
		if err := os.Mkdir(group, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("creating the pods' cgroup: %w", err)
		}
	}
	return nil
}

// delegateControllers enables root's controllers for child cgroups, which version 2
// requires.
func delegateControllers(root string) error {
	controllers, err := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the controllers of %s: %w", root, err)
	}
	control := filepath.Join(root, "cgroup.subtree_control")
	for _, controller := range strings.Fields(string(controllers)) {
		if err := os.WriteFile(control, []byte("+"+controller), 0o600); err != nil { //nolint:gosec // root is where control groups are mounted
			return fmt.Errorf("delegating the controller %s of %s: %w", controller, root, err)
		}
	}
	return nil
}

// removeCgroups removes the pods' cgroups. The kernel releases a cgroup shortly after
// its last process exits.
func removeCgroups(root, name string) error {
	roots, err := cgroupHierarchies(root)
	if err != nil {
		return err
	}
	var failed error
	for _, root := range roots {
		group := filepath.Join(root, name)
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if err = removeCgroup(group); err == nil || !errors.Is(err, unix.EBUSY) || time.Now().After(deadline) {
				break
			}
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// removeCgroup removes a cgroup and its descendants, innermost first. Only rmdir can
// remove cgroup directories, including their files.
func removeCgroup(group string) error {
	var folders []string
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("listing control groups: %w", err)
	}
	for _, folder := range slices.Backward(folders) {
		if err := unix.Rmdir(folder); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("removing the control group %s: %w", folder, err)
		}
	}
	return nil
}
