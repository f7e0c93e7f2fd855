// SPDX-License-Identifier: Apache-2.0

package build

// Tool is a program built from a Go module.
type Tool struct {
	Name string
	// Dir is the directory of the module to build, relative to the cluster program's
	// module.
	Dir string
	// Package is the package to build.
	Package string
	// VersionModule is the module whose version in Dir's go.mod is part of the binary's
	// name. It is empty for our own programs.
	VersionModule string
	// Sources are patterns of our own files in Dir that are compiled into the binary. A
	// hash of them is part of the binary's name.
	Sources []string
	Tags    string
	// LinkerVars are the string variables set by the linker, as variable=value. $version,
	// $major and $minor expand to those of the pinned version.
	LinkerVars []string
}

// Tools returns all tools to build, in an order that suits two cores: the tools that
// envtest waits for come first, and tools that share many packages are adjacent.
func Tools() []Tool {
	return []Tool{
		{Name: "etcd", Dir: "tools/etcd", Package: "go.etcd.io/etcd/server/v3", VersionModule: "go.etcd.io/etcd/server/v3"},
		kubernetesTool("kubectl"),
		kubernetesTool("kube-apiserver"),
		kubernetesTool("kube-controller-manager"),
		kubernetesTool("kube-scheduler"),
		kubernetesTool("kubelet"),
		kubernetesTool("kube-proxy"),
		containerdTool("containerd"),
		containerdTool("containerd-shim-runc-v2"),
		containerdTool("ctr"),
		{Name: "coredns", Dir: "tools/coredns", Package: ".", VersionModule: "github.com/coredns/coredns", Sources: []string{"*.go"}},
		{Name: "pause", Dir: ".", Package: "./pause", Sources: []string{"pause/*.go"}},
	}
}

// EnvtestTools are the tools that envtest needs.
var EnvtestTools = []string{"etcd", "kube-apiserver", "kubectl"}

func kubernetesTool(name string) Tool {
	return Tool{
		Name:          name,
		Dir:           "tools/kubernetes",
		Package:       "k8s.io/kubernetes/cmd/" + name,
		VersionModule: "k8s.io/kubernetes",
		LinkerVars: []string{
			"k8s.io/component-base/version.gitVersion=$version",
			"k8s.io/component-base/version.gitMajor=$major",
			"k8s.io/component-base/version.gitMinor=$minor",
			"k8s.io/client-go/pkg/version.gitVersion=$version",
			"k8s.io/client-go/pkg/version.gitMajor=$major",
			"k8s.io/client-go/pkg/version.gitMinor=$minor",
		},
	}
}

func containerdTool(name string) Tool {
	return Tool{
		Name:          name,
		Dir:           "tools/containerd",
		Package:       "github.com/containerd/containerd/v2/cmd/" + name,
		VersionModule: "github.com/containerd/containerd/v2",
		Tags:          "no_btrfs,no_devmapper",
		LinkerVars:    []string{"github.com/containerd/containerd/v2/version.Version=$version"},
	}
}
