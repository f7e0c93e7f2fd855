// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeTree creates regular files that stand in for cgroup files, because tests cannot
// create a cgroup hierarchy.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCgroupHierarchies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"version 1", map[string]string{"cpu/cgroup.procs": "", "memory/cgroup.procs": "", "other/file": ""}, []string{"cpu", "memory"}},
		{"version 2", map[string]string{"cgroup.procs": "", "system.slice/cgroup.procs": ""}, []string{""}},
		{"none", map[string]string{"file": ""}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := writeTree(t, test.files)
			got, err := cgroupHierarchies(root)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, name := range test.want {
				want = append(want, filepath.Join(root, name))
			}
			if !slices.Equal(got, want) {
				t.Errorf("got hierarchies %v, want %v", got, want)
			}
		})
	}
}

func TestCreateAndRemoveCgroups(t *testing.T) {
	t.Parallel()
	root := writeTree(t, map[string]string{"cpu/cgroup.procs": "", "memory/cgroup.procs": ""})
	for range 2 {
		if err := createCgroups(root, "mine"); err != nil {
			t.Fatal(err)
		}
	}
	// Cgroups that the kubelet creates below ours, and an unrelated cgroup.
	for _, group := range []string{"cpu/mine/kubepods/burstable/pod1", "memory/mine/kubepods", "memory/yours"} {
		if err := os.MkdirAll(filepath.Join(root, group), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := removeCgroups(root, "mine"); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(root, "*", "*s"))
	want := []string{filepath.Join(root, "cpu/cgroup.procs"), filepath.Join(root, "memory/cgroup.procs"), filepath.Join(root, "memory/yours")}
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("got remaining cgroups %v, error %v; want %v", left, err, want)
	}
}

func TestCgroupV2ControllersAreDelegated(t *testing.T) {
	t.Parallel()
	root := writeTree(t, map[string]string{"cgroup.procs": "", "cgroup.controllers": "cpu memory\n", "cgroup.subtree_control": ""})
	if err := createCgroups(root, "mine"); err != nil {
		t.Fatal(err)
	}
	// A regular file keeps only the last write; the kernel would accumulate the controllers.
	if passed, err := os.ReadFile(filepath.Join(root, "cgroup.subtree_control")); err != nil || string(passed) != "+memory" {
		t.Errorf("got delegated controllers %q, error %v", passed, err)
	}
}

func TestMissingCgroupMount(t *testing.T) {
	t.Parallel()
	if err := createCgroups(t.TempDir(), "mine"); err == nil || !strings.Contains(err.Error(), "no cgroup hierarchy is mounted") {
		t.Error(err)
	}
}
