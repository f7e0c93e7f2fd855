// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/release"
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
		t.Errorf("got pinned version %s", got)
	}
	before := version(ours)
	if got, want := version(both), "v1.2.3-"+before; got != want {
		t.Errorf("got version %s with a pin and sources, want %s", got, want)
	}
	writeFile(t, filepath.Join(folder, "main.go"), helloProgram+"// changed\n")
	if after := version(ours); after == before {
		t.Errorf("version %s did not change with the sources", after)
	}
	if got := version(pinned); got != "v1.2.3" {
		t.Errorf("changed sources changed the pinned version to %s", got)
	}
	for name, tool := range map[string]Tool{
		"a pin that is not required": {Dir: ".", VersionModule: "example.org/other"},
		"missing sources":            {Dir: ".", Sources: []string{"*.c"}},
		"a missing folder":           {Dir: "nowhere", VersionModule: "example.org/pinned"},
	} {
		if version, err := builder.version(tool); err == nil {
			t.Errorf("got version %[2]s for %[1]s", name, version)
		}
	}
}

func TestReleaseFile(t *testing.T) {
	t.Parallel()
	tool := Tool{Release: release.File{
		URL: "https://example.org/$version/server-$number-$arch.tgz", Member: "server-$arch/server", SumURL: "https://example.org/$version/sums",
	}}
	want := release.File{
		URL:    "https://example.org/v1.2.3/server-1.2.3-" + runtime.GOARCH + ".tgz",
		Member: "server-" + runtime.GOARCH + "/server",
		SumURL: "https://example.org/v1.2.3/sums",
	}
	for _, version := range []string{"v1.2.3", "v1.2.3-0badf00d"} {
		if got, ok := (Binary{Tool: tool, Version: version}).ReleaseFile(); !ok || got != want {
			t.Errorf("%s: got %+v, %v", version, got, ok)
		}
	}
	if file, ok := (Binary{Version: "v1.2.3"}).ReleaseFile(); ok {
		t.Errorf("got %+v without a release", file)
	}
}

// TestToolsHaveReleases checks that all programs but our own have an official release.
func TestToolsHaveReleases(t *testing.T) {
	t.Parallel()
	for _, tool := range Tools() {
		file, ok := Binary{Tool: tool, Version: "v1.2.3"}.ReleaseFile()
		if ok == (tool.Name == "pause") {
			t.Errorf("%s: release %+v", tool.Name, file)
		}
		if ok && (!strings.HasPrefix(file.URL, "https://") || !strings.HasPrefix(file.SumURL, "https://") || strings.ContainsAny(file.URL+file.Member+file.SumURL, "$ ")) {
			t.Errorf("%s: release %+v", tool.Name, file)
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
		t.Fatal("IsBuilt() = true before the build")
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
		t.Errorf("got output %q, error %v; want version %s", output, err, binary.Version)
	}
	writeFile(t, binary.Path, "as it was")
	if err := builder.Build(context.Background(), binary); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(binary.Path); err != nil || string(content) != "as it was" {
		t.Errorf("existing binary was rebuilt: %v", err)
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
		t.Errorf("error does not contain the compiler output: %v", err)
	}
	if binaries[0].IsBuilt() {
		t.Error("binary exists after a failed build")
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
		if err := LinkAssets(AssetsDir(cache, binaries), binaries); err != nil {
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
		t.Errorf("got directory entries %v, want %v", names, want)
	}
	if content, err := os.ReadFile(filepath.Join(AssetsDir(cache, binaries), "etcd")); err != nil || string(content) != "etcd" {
		t.Errorf("link points to content %q, error %v", content, err)
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
		t.Errorf("link points to %s, error %v", target, err)
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
		t.Errorf("got %d replaced modules", len(module.Replace))
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

// nodeModules lists the dependencies that etcd, CoreDNS and the Kubernetes components
// share beyond sharedModules. helm does not compile them, and containerd requires newer
// releases of a few.
var nodeModules = strings.Fields(`
	github.com/prometheus/client_golang github.com/prometheus/client_model github.com/prometheus/common github.com/prometheus/procfs
	go.opentelemetry.io/otel go.opentelemetry.io/otel/metric go.opentelemetry.io/otel/sdk go.opentelemetry.io/otel/trace
	google.golang.org/genproto/googleapis/rpc google.golang.org/grpc google.golang.org/protobuf golang.org/x/net`)

// TestSharedModulesHaveOneVersion checks that all modules built by `make run` agree on
// shared dependencies. A second version would compile the dependency, and everything
// that imports it, twice.
func TestSharedModulesHaveOneVersion(t *testing.T) {
	t.Parallel()
	node := []string{"go.mod", "tools/kubernetes/go.mod", "tools/coredns/go.mod"}
	checkOneVersion(t, sharedModules, append([]string{"../../go.mod", "../tools/go.mod"}, node...))
	checkOneVersion(t, nodeModules, append([]string{"tools/etcd/go.mod"}, node...))
}

// checkOneVersion compares required versions, because builds with -trimpath hash them,
// even if a replace directive selects the same source.
func checkOneVersion(t *testing.T, modules, goMods []string) {
	t.Helper()
	folder, err := tools.SourceDir()
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]map[string][]string{} // go.mod files by module and version
	for _, name := range goMods {
		parsed := parseModule(t, filepath.Join(folder, name))
		for _, required := range parsed.Require {
			path, version := required.Mod.Path, required.Mod.Version
			if versions[path] == nil {
				versions[path] = map[string][]string{}
			}
			versions[path][version] = append(versions[path][version], name)
		}
		checkReplacements(t, name, parsed)
	}
	for _, module := range modules {
		if len(versions[module]) != 1 {
			t.Errorf("%s has the versions %v: require the newest of them in every module that has another", module, versions[module])
		}
	}
}

// checkReplacements checks that a go.mod requires the versions that its replace
// directives select.
func checkReplacements(t *testing.T, name string, module *modfile.File) {
	t.Helper()
	required := map[string]string{}
	for _, require := range module.Require {
		required[require.Mod.Path] = require.Mod.Version
	}
	for _, replace := range module.Replace {
		if version, ok := required[replace.Old.Path]; ok && version != replace.New.Version {
			t.Errorf("%s requires %s %s and replaces it by %s: require that version", name, replace.Old.Path, version, replace.New.Version)
		}
	}
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
