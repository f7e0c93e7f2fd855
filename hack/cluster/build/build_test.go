// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/tools"
)

func TestBuildArgs(t *testing.T) {
	t.Parallel()
	tool := Tool{
		Package: "example.org/server", Tags: "small,fast",
		LinkerVars: []string{"main.version=$version", "main.major=$major", "main.minor=$minor"},
	}
	got := buildArgs(Binary{Tool: tool, Version: "v1.36.3"}, "/out")
	want := []string{
		"build", "-trimpath",
		"-ldflags", "-s -w -X main.version=v1.36.3 -X main.major=1 -X main.minor=36",
		"-o", "/out", "-tags", "small,fast", "example.org/server",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// newModule creates a module with a single program that prints its version stamp.
func newModule(t *testing.T, program string) string {
	t.Helper()
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "go.mod"), "module example.org/greet\n\ngo 1.26\n\nrequire example.org/pinned v1.2.3\n")
	writeFile(t, filepath.Join(folder, "main.go"), program)
	return folder
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

const helloProgram = "package main\n\nvar stamp string\n\nfunc main() { println(stamp) }\n"

func TestVersion(t *testing.T) {
	t.Parallel()
	folder := newModule(t, helloProgram)
	builder := Builder{Source: folder, Cache: place.Cache(t.TempDir())}
	version := func(tool Tool) string {
		t.Helper()
		version, err := builder.version(tool)
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	pinned := Tool{Dir: ".", VersionModule: "example.org/pinned"}
	ours := Tool{Dir: ".", Sources: []string{"*.go"}}
	both := Tool{Dir: ".", VersionModule: pinned.VersionModule, Sources: ours.Sources}
	if got := version(pinned); got != "v1.2.3" {
		t.Errorf("the pinned version is %s", got)
	}
	before := version(ours)
	if got, want := version(both), "v1.2.3-"+before; got != want {
		t.Errorf("pin and sources are called %s, want %s", got, want)
	}
	writeFile(t, filepath.Join(folder, "main.go"), helloProgram+"// changed\n")
	if after := version(ours); after == before {
		t.Errorf("changed sources are still called %s", after)
	}
	if got := version(pinned); got != "v1.2.3" {
		t.Errorf("changed sources change the pinned version to %s", got)
	}
	for name, tool := range map[string]Tool{
		"a pin that is not required": {Dir: ".", VersionModule: "example.org/other"},
		"missing sources":            {Dir: ".", Sources: []string{"*.c"}},
		"a missing folder":           {Dir: "nowhere", VersionModule: "example.org/pinned"},
	} {
		if version, err := builder.version(tool); err == nil {
			t.Errorf("%s has version %s", name, version)
		}
	}
}

func TestConcurrentBuildsRunOnce(t *testing.T) {
	t.Parallel()
	builder := Builder{Source: newModule(t, helloProgram), Cache: place.Cache(filepath.Join(t.TempDir(), "with space"))}
	tool := Tool{Name: "greet", Dir: ".", Package: ".", Sources: []string{"*.go"}, LinkerVars: []string{"main.stamp=$version"}}
	binaries, err := builder.Binaries([]Tool{tool})
	if err != nil {
		t.Fatal(err)
	}
	binary := binaries[0]
	if binary.IsBuilt() {
		t.Fatal("it is built before it is built")
	}
	var everybody sync.WaitGroup
	for range 3 {
		everybody.Go(func() {
			if err := builder.Build(context.Background(), binary); err != nil {
				t.Error(err)
			}
		})
	}
	everybody.Wait()
	output, err := exec.Command(binary.Path).CombinedOutput()
	if err != nil || strings.TrimSpace(string(output)) != binary.Version {
		t.Errorf("the binary says %q, %v; want its version %s", output, err, binary.Version)
	}
	writeFile(t, binary.Path, "as it was")
	if err := builder.Build(context.Background(), binary); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(binary.Path); err != nil || string(content) != "as it was" {
		t.Errorf("what was there was built again: %v", err)
	}
}

func TestFailedBuildLeavesNoBinary(t *testing.T) {
	t.Parallel()
	builder := Builder{Source: newModule(t, "package main\n\nfunc main() { nonsense }\n"), Cache: place.Cache(t.TempDir())}
	binaries, err := builder.Binaries([]Tool{{Name: "broken", Dir: ".", Package: ".", Sources: []string{"*.go"}}})
	if err != nil {
		t.Fatal(err)
	}
	err = builder.Build(context.Background(), binaries[0])
	if err == nil || !strings.Contains(err.Error(), "undefined: nonsense") {
		t.Errorf("the error does not say what the compiler says: %v", err)
	}
	if binaries[0].IsBuilt() {
		t.Error("it is there although it could not be built")
	}
}

func TestLinkAssets(t *testing.T) {
	t.Parallel()
	cache := place.Cache(filepath.Join(t.TempDir(), "with space"))
	made := func(name string) Binary {
		binary := Binary{Tool: Tool{Name: name}, Version: "v1", Path: cache.Binary(name, "v1")}
		if err := os.MkdirAll(filepath.Dir(binary.Path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, binary.Path, name)
		return binary
	}
	missing := Binary{Tool: Tool{Name: "kubectl"}, Version: "v1", Path: cache.Binary("kubectl", "v1")}
	binaries := []Binary{made("etcd"), made("kube-apiserver"), made("kubelet"), missing}
	for range 2 {
		if err := LinkAssets(cache, binaries); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(AssetsDir(cache, binaries))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if want := []string{"etcd", "kube-apiserver"}; !slices.Equal(names, want) {
		t.Errorf("the folder holds %v, want %v", names, want)
	}
	if content, err := os.ReadFile(filepath.Join(AssetsDir(cache, binaries), "etcd")); err != nil || string(content) != "etcd" {
		t.Errorf("the link leads to %q, %v", content, err)
	}
}

func TestLinkBinariesUpdatesVersion(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, path := range []string{"/old", "/new"} {
		if err := LinkBinaries(folder, []Binary{{Tool: Tool{Name: "etcd"}, Path: path}}); err != nil {
			t.Fatal(err)
		}
	}
	if target, err := os.Readlink(filepath.Join(folder, "etcd")); err != nil || target != "/new" {
		t.Errorf("the link leads to %s, %v", target, err)
	}
}

// TestToolsMatchGoMod checks the tool list against the go.mod files, which are
// maintained by hand and by go get.
func TestToolsMatchGoMod(t *testing.T) {
	t.Parallel()
	folder, err := tools.SourceDir()
	if err != nil {
		t.Fatal(err)
	}
	binaries, err := Builder{Source: folder, Cache: "/cache"}.Binaries(Tools())
	if err != nil {
		t.Fatal(err)
	}
	for _, binary := range binaries {
		if binary.Version == "" {
			t.Errorf("%s has no version", binary.Name)
		}
		if len(binary.Sources) > 0 {
			continue
		}
		module := parseModule(t, filepath.Join(folder, binary.Dir, "go.mod"))
		if !slices.ContainsFunc(module.Tool, func(tool *modfile.Tool) bool { return tool.Path == binary.Package }) {
			t.Errorf("%s has no tool line for %s", binary.Dir, binary.Package)
		}
	}
}

func TestStagingModulesMatchKubernetesRelease(t *testing.T) {
	t.Parallel()
	folder, err := tools.SourceDir()
	if err != nil {
		t.Fatal(err)
	}
	module := parseModule(t, filepath.Join(folder, "tools/kubernetes/go.mod"))
	release, err := pinnedVersion(filepath.Join(folder, "tools/kubernetes/go.mod"), "k8s.io/kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(release, "v1.", "v0.", 1)
	for _, replace := range module.Replace {
		if replace.New.Path != replace.Old.Path || replace.New.Version != want {
			t.Errorf("%s is replaced by %s %s, want %s", replace.Old.Path, replace.New.Path, replace.New.Version, want)
		}
	}
	if len(module.Replace) < 20 {
		t.Errorf("only %d modules are replaced", len(module.Replace))
	}
}

// sharedModules lists the dependencies of client-go and helm, which make up most of the
// compiled code.
var sharedModules = strings.Fields(`
	k8s.io/api k8s.io/apimachinery k8s.io/client-go k8s.io/klog/v2 k8s.io/kube-openapi k8s.io/utils
	sigs.k8s.io/json sigs.k8s.io/randfill sigs.k8s.io/structured-merge-diff/v6 sigs.k8s.io/yaml
	github.com/fxamacker/cbor/v2 github.com/go-logr/logr github.com/google/gnostic-models github.com/spf13/pflag
	github.com/go-openapi/jsonpointer github.com/go-openapi/jsonreference github.com/go-openapi/swag
	go.yaml.in/yaml/v2 go.yaml.in/yaml/v3 google.golang.org/protobuf
	golang.org/x/net golang.org/x/oauth2 golang.org/x/sync golang.org/x/sys golang.org/x/term golang.org/x/text golang.org/x/time`)

// TestSharedModulesHaveOneVersion checks that all modules built by `make run` agree on
// shared dependencies. A second version would compile the dependency, and everything
// that imports it, twice.
func TestSharedModulesHaveOneVersion(t *testing.T) {
	t.Parallel()
	folder, err := tools.SourceDir()
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]map[string][]string{} // go.mod files by module and version
	for _, name := range []string{"../../go.mod", "../tools/go.mod", "go.mod", "tools/kubernetes/go.mod", "tools/coredns/go.mod"} {
		for module, version := range selectedVersions(parseModule(t, filepath.Join(folder, name))) {
			if versions[module] == nil {
				versions[module] = map[string][]string{}
			}
			versions[module][version] = append(versions[module][version], name)
		}
	}
	for _, module := range sharedModules {
		if len(versions[module]) != 1 {
			t.Errorf("%s has the versions %v: go get the newest of them in every module that has another", module, versions[module])
		}
	}
}

// selectedVersions returns the module versions that a go.mod requires, after applying
// its replace directives.
func selectedVersions(module *modfile.File) map[string]string {
	versions := map[string]string{}
	for _, require := range module.Require {
		versions[require.Mod.Path] = require.Mod.Version
	}
	for _, replace := range module.Replace {
		if _, required := versions[replace.Old.Path]; required {
			versions[replace.Old.Path] = replace.New.Version
		}
	}
	return versions
}

func parseModule(t *testing.T, path string) *modfile.File {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	module, err := modfile.Parse(path, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	return module
}
