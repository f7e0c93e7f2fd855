// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree makes files below a folder, which here stand for control groups: the
// kernel's own cannot be made in a test.
func tree(t *testing.T, files map[string]string) string {
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

func TestHierarchies(t *testing.T) {
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
			root := tree(t, test.files)
			got, err := hierarchies(root)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, name := range test.want {
				want = append(want, filepath.Join(root, name))
			}
			if !slices.Equal(got, want) {
				t.Errorf("hierarchies are %v, want %v", got, want)
			}
		})
	}
}

func TestCgroupsAreMadeAndRemoved(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"cpu/cgroup.procs": "", "memory/cgroup.procs": ""})
	for range 2 {
		if err := makeCgroups(root, "mine"); err != nil {
			t.Fatal(err)
		}
	}
	// What the kubelet makes below, and a group that is not ours.
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
		t.Errorf("left are %v, %v; want %v", left, err, want)
	}
}

func TestControllersOfVersion2ArePassedOn(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{"cgroup.procs": "", "cgroup.controllers": "cpu memory\n", "cgroup.subtree_control": ""})
	if err := makeCgroups(root, "mine"); err != nil {
		t.Fatal(err)
	}
	// A plain file keeps the last word, the kernel's would add them up.
	if passed, err := os.ReadFile(filepath.Join(root, "cgroup.subtree_control")); err != nil || string(passed) != "+memory" {
		t.Errorf("passed on is %q, %v", passed, err)
	}
}

func TestNoCgroupsIsAnError(t *testing.T) {
	t.Parallel()
	if err := makeCgroups(t.TempDir(), "mine"); err == nil || !strings.Contains(err.Error(), "no control groups") {
		t.Error(err)
	}
}
