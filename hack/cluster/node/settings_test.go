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

// The components' settings are files and flags that name each other, the
// tools and the addresses. These tests hold them together.

func settings(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(config, "config", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := config.ReadFile(path)
		found[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestSettingsAgreeWithTheConstants(t *testing.T) {
	t.Parallel()
	found := settings(t)
	for _, test := range []struct{ file, holds string }{
		{"config/containerd.toml", `sandbox = "` + PauseImage + `"`},
		{"config/containerd.toml", `conf_dir = "` + place.Inside + `/config/cni"`},
		{"config/kubelet.yaml", "clusterDNS: [" + ClusterDNS + "]"},
		{"config/kubelet.yaml", "address: " + Address},
		{"config/kube-proxy.yaml", "bindAddress: " + Address},
	} {
		if !strings.Contains(found[test.file], test.holds) {
			t.Errorf("%s does not hold %q", test.file, test.holds)
		}
	}
}

func TestEveryComponentIsBuilt(t *testing.T) {
	t.Parallel()
	built := build.Tools()
	names := map[string]bool{}
	for _, component := range components("group") {
		if names[component.name] {
			t.Errorf("two components are called %s", component.name)
		}
		names[component.name] = true
		isBuilt := slices.ContainsFunc(built, func(tool build.Tool) bool { return tool.Name == component.program })
		if component.program != "" && !isBuilt {
			t.Errorf("%s runs %s, which is not built", component.name, component.program)
		}
	}
}

// Every file that a flag or a setting names below the state folder is one that
// Prepare writes, or a folder that it makes.
func TestEveryFileThatIsNamedIsThere(t *testing.T) {
	t.Parallel()
	node := prepared(t)
	named := regexp.MustCompile(regexp.QuoteMeta(place.Inside) + `/[^\s"',}]+`)
	var everything strings.Builder
	for _, content := range settings(t) {
		everything.WriteString(content)
	}
	for _, component := range components("group") {
		everything.WriteString(strings.Join(component.args, "\n") + "\n")
	}
	paths := named.FindAllString(everything.String(), -1)
	if len(paths) < 15 {
		t.Fatalf("only %v are named", paths)
	}
	made := []string{"kubelet/volume-plugins", "containerd/opt"} // by those who own the folder above
	for _, path := range paths {
		inside := strings.TrimPrefix(path, place.Inside+"/")
		if _, err := os.Lstat(node.State.Path(inside)); err != nil && !slices.Contains(made, inside) {
			t.Errorf("%s is named, but not there: %v", path, err)
		}
	}
}

func prepared(t *testing.T) Node {
	t.Helper()
	node := Node{State: place.State(filepath.Join(t.TempDir(), "a state"))}
	for _, step := range []func() error{
		node.State.Create, node.makeFolders, node.issue,
		func() error {
			return build.Link(node.State.Path("bin"), []build.Binary{{Tool: build.Tool{Name: "etcd"}, Path: "/etcd"}})
		},
		func() error { return os.Symlink("/usr/lib/cni", node.State.Path("cni-plugins")) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return node
}

func TestKeysAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	node := prepared(t)
	for _, pattern := range []string{"pki/*", "users/*"} {
		paths, err := filepath.Glob(node.State.Path(pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s may be read by others: %v, %v", path, info.Mode(), err)
			}
		}
	}
	if _, err := tls.LoadX509KeyPair(node.State.Path("pki/kubelet.crt"), node.State.Path("pki/kubelet.key")); err != nil {
		t.Error(err)
	}
}

func TestKubeconfigForTheMachine(t *testing.T) {
	t.Parallel()
	node := prepared(t)
	if err := node.WriteKubeconfig("127.0.0.1:4711"); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(node.State.Kubeconfig())
	if err != nil || !strings.Contains(string(content), "server: https://127.0.0.1:4711") {
		t.Errorf("%v\n%s", err, content)
	}
}
