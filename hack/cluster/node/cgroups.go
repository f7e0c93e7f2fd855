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

// cgroupRoot is where Linux distributions mount the control groups: the one
// hierarchy of version 2 itself, or one folder for each of version 1.
const cgroupRoot = "/sys/fs/cgroup"

// hierarchies returns the roots of all hierarchies below root.
func hierarchies(root string) ([]string, error) {
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

// makeCgroups makes the group below which the kubelet makes those of its pods.
func makeCgroups(root, name string) error {
	roots, err := hierarchies(root)
	if err != nil || len(roots) == 0 {
		return errors.Join(fmt.Errorf("no control groups are mounted at %s, which the kubelet needs", root), err)
	}
	for _, root := range roots {
		if err := passControllersOn(root); err != nil {
			return err
		}
		group := filepath.Join(root, name)
		if err := os.Mkdir(group, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making a control group for the pods: %w", err)
		}
	}
	return nil
}

// passControllersOn lets groups below root use its controllers, which version
// 2 wants to be told.
func passControllersOn(root string) error {
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
			return fmt.Errorf("passing on the controller %s of %s: %w", controller, root, err)
		}
	}
	return nil
}

// removeCgroups removes the pods' groups. The kernel lets go of a group a
// moment after its last process.
func removeCgroups(root, name string) error {
	roots, err := hierarchies(root)
	if err != nil {
		return err
	}
	var failed error
	for _, root := range roots {
		group := filepath.Join(root, name)
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if err = removeGroup(group); err == nil || !errors.Is(err, unix.EBUSY) || time.Now().After(deadline) {
				break
			}
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// removeGroup removes a group and those below it, the innermost first: groups
// are folders that only rmdir can remove, files and all.
func removeGroup(group string) error {
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
		return fmt.Errorf("looking for control groups: %w", err)
	}
	for _, folder := range slices.Backward(folders) {
		if err := unix.Rmdir(folder); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("removing the control group %s: %w", folder, err)
		}
	}
	return nil
}
