// SPDX-License-Identifier: Apache-2.0

package node

import (
	"crypto/tls"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/build"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

// The component configuration consists of files and flags that refer to each other, to
// tools, and to addresses. These tests check that they are consistent.

func readSettings(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(configFS, "config", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := configFS.ReadFile(path)
		found[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSettingsMatchConstants(t *testing.T) {
	t.Parallel()
	found := readSettings(t)
	for _, test := range []struct{ file, holds string }{
		{"config/containerd.toml", `sandbox = "` + PauseImage + `"`},
		{"config/containerd.toml", `conf_dir = "` + place.NodeStateDir + `/config/cni"`},
		{"config/kubelet.yaml", "clusterDNS: [" + ClusterDNS + "]"},
		{"config/kubelet.yaml", "address: " + Address},
		{"config/kube-proxy.yaml", "bindAddress: " + Address},
	} {
		if !strings.Contains(found[test.file], test.holds) {
			t.Errorf("%s does not contain %q", test.file, test.holds)
		}
	}
}

func TestEveryComponentIsBuilt(t *testing.T) {
	t.Parallel()
	built := build.Tools()
	names := map[string]bool{}
	for _, component := range components("group") {
		if names[component.name] {
			t.Errorf("duplicate component name %s", component.name)
		}
		names[component.name] = true
		isBuilt := slices.ContainsFunc(built, func(tool build.Tool) bool { return tool.Name == component.program })
		if component.program != "" && !isBuilt {
			t.Errorf("%s runs %s, which is not built", component.name, component.program)
		}
	}
}

// TestReferencedFilesExist checks that Prepare creates every path below the state
// directory that a flag or a configuration file refers to.
func TestReferencedFilesExist(t *testing.T) {
	t.Parallel()
	node := newPreparedNode(t)
	named := regexp.MustCompile(regexp.QuoteMeta(place.NodeStateDir) + `/[^\s"',}]+`)
	var everything strings.Builder
	for _, content := range readSettings(t) {
		everything.WriteString(content)
	}
	for _, component := range components("group") {
		everything.WriteString(strings.Join(component.args, "\n") + "\n")
	}
	paths := named.FindAllString(everything.String(), -1)
	if len(paths) < 15 {
		t.Fatalf("got only paths %v", paths)
	}
	made := []string{"kubelet/volume-plugins", "containerd/opt"} // created by the components
	for _, path := range paths {
		inside := strings.TrimPrefix(path, place.NodeStateDir+"/")
		if _, err := os.Lstat(node.State.Path(inside)); err != nil && !slices.Contains(made, inside) {
			t.Errorf("%s is referenced but does not exist: %v", path, err)
		}
	}
}

func newPreparedNode(t *testing.T) Node {
	t.Helper()
	node := Node{State: place.State(filepath.Join(t.TempDir(), "a state"))}
	for _, step := range []func() error{
		node.State.Create, node.createDirs, node.issueCertificates,
		func() error {
			return build.LinkBinaries(node.State.Path("bin"), []build.Binary{{Tool: build.Tool{Name: "etcd"}, Path: "/etcd"}})
		},
		func() error { return os.Symlink("/usr/lib/cni", node.State.Path("cni-plugins")) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return node
}

func TestKeyFilePermissions(t *testing.T) {
	t.Parallel()
	node := newPreparedNode(t)
	for _, pattern := range []string{"pki/*", "users/*"} {
		paths, err := filepath.Glob(node.State.Path(pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s is readable by other users: mode %v, error %v", path, info.Mode(), err)
			}
		}
	}
	if _, err := tls.LoadX509KeyPair(node.State.Path("pki/kubelet.crt"), node.State.Path("pki/kubelet.key")); err != nil {
		t.Error(err)
	}
}

func TestWriteKubeconfig(t *testing.T) {
	t.Parallel()
	node := newPreparedNode(t)
	if err := node.WriteKubeconfig("127.0.0.1:4711"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(node.State.Kubeconfig())
	if err != nil || !strings.Contains(string(content), "server: https://127.0.0.1:4711") {
		t.Errorf("%v\n%s", err, content)
	}
}
