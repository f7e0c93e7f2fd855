// SPDX-License-Identifier: Apache-2.0

package installed

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// writeProgram creates a program that prints output.
func writeProgram(t *testing.T, dir, name, output string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	script := "#!/bin/sh\n[ \"$1\" = --version ] || exit 1\necho '" + output + "'\n"
	if err := os.WriteFile(path, []byte(script), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFind(t *testing.T) {
	t.Parallel()
	older, newer, patch := t.TempDir(), t.TempDir(), t.TempDir()
	writeProgram(t, older, "kubelet", "Kubernetes v1.35.9", 0o700)
	writeProgram(t, newer, "kubelet", "Kubernetes v1.37.0", 0o700)
	fitting := writeProgram(t, patch, "kubelet", "Kubernetes v1.36.1", 0o700)
	writeProgram(t, older, "etcd", "etcd Version: 3.7.3\nGit SHA: 1", 0o600)
	writeProgram(t, newer, "ctr", "no version", 0o700)
	for _, test := range []struct {
		name        string
		program     Program
		path, found string
	}{
		{"fitting patch release", Program{"kubelet", []string{"--version"}, "v1.36.3"}, fitting, "v1.36.1"},
		{"no fitting release", Program{"kubelet", []string{"--version"}, "v1.34.0"}, "", ""},
		{"failing program", Program{"kubelet", []string{"version"}, "v1.36.3"}, "", ""},
		{"not executable", Program{"etcd", []string{"--version"}, "v3.7.3"}, "", ""},
		{"no version", Program{"ctr", []string{"--version"}, "v2.4.2"}, "", ""},
		{"missing", Program{"kube-proxy", []string{"--version"}, "v1.36.3"}, "", ""},
	} {
		path, version, found := Find(t.Context(), test.program, []string{"", ".", older, newer, patch})
		if path != test.path || version != test.found || found != (test.path != "") {
			t.Errorf("%s: got %q, %q, %v", test.name, path, version, found)
		}
	}
}

// TestFindFollowsLinks checks that a link is resolved, because it may change.
func TestFindFollowsLinks(t *testing.T) {
	t.Parallel()
	target := writeProgram(t, t.TempDir(), "kubectl", "Client Version: v1.36.3", 0o700)
	dir := t.TempDir()
	if err := os.Symlink(target, filepath.Join(dir, "kubectl")); err != nil {
		t.Fatal(err)
	}
	if path, _, _ := Find(t.Context(), Program{"kubectl", []string{"--version"}, "v1.36.3"}, []string{dir}); path != target {
		t.Errorf("got %q, want %q", path, target)
	}
}

func TestDirs(t *testing.T) {
	t.Parallel()
	env := map[string]string{"KUBEBUILDER_ASSETS": "/assets", "PATH": "/usr/local/bin:/usr/bin"}
	got := Dirs(func(name string) string { return env[name] })
	if want := []string{"/assets", "/usr/local/bin", "/usr/bin"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
