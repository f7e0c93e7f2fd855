// SPDX-License-Identifier: Apache-2.0

package build

import "github.com/anamnesis-dev/anamnesis/hack/cluster/release"

// Tool is a program built from a Go module.
type Tool struct {
	Name string
	// VersionArgs are the arguments that let an installed program print its version. An
	// installed program is not used if they are empty.
	VersionArgs []string
	// Release is the official release of the program. $version expands to the pinned
	// version, $number to the version without its v, and $arch to the architecture.
	Release release.File
	// Dir is the directory of the module to build, relative to the cluster program's
	// module.
	Dir string
	// Package is the package to build.
	Package string
	// VersionModule is the module whose version in Dir's go.mod is part of the binary's
	// name. It is empty for programs of this repository.
	VersionModule string
	// Sources are patterns of local files in Dir that are compiled into the binary. Their
	// hash is part of the binary's name.
	Sources []string
	Tags    string
	// BuildSeconds is how long the first build took on two processors, in the order of
	// Tools. It is zero for tools that share nearly all packages with an earlier tool.
	BuildSeconds int
	// LinkerVars are the string variables set by the linker, as variable=value. $version,
	// $major and $minor expand to the values of the pinned version.
	LinkerVars []string
}

// Tools returns all tools to build, in an order that suits two cores: the tools that
// envtest waits for come first, and tools that share many packages are adjacent.
func Tools() []Tool {
	return []Tool{
		etcdTool(),
		kubernetesTool("kubectl", 27),
		kubernetesTool("kube-apiserver", 273),
		kubernetesTool("kube-controller-manager", 77),
		kubernetesTool("kube-scheduler", 6),
		kubernetesTool("kubelet", 19),
		kubernetesTool("kube-proxy", 10),
		containerdTool("containerd", 104),
		containerdTool("containerd-shim-runc-v2", 0),
		containerdTool("ctr", 0),
		corednsTool(),
		{Name: "pause", Dir: ".", Package: "./pause", Sources: []string{"pause/*.go"}},
	}
}

// EnvtestTools are the tools that envtest needs.
var EnvtestTools = []string{"etcd", "kube-apiserver", "kubectl"}

func etcdTool() Tool {
	const releases = "https://github.com/etcd-io/etcd/releases/download/$version/"
	return Tool{
		Name:          "etcd",
		VersionArgs:   []string{"--version"},
		Release:       release.File{URL: releases + "etcd-$version-linux-$arch.tar.gz", Member: "etcd-$version-linux-$arch/etcd", SumURL: releases + "SHA256SUMS"},
		Dir:           "tools/etcd",
		Package:       "go.etcd.io/etcd/server/v3",
		VersionModule: "go.etcd.io/etcd/server/v3",
		BuildSeconds:  45,
	}
}

// corednsTool returns CoreDNS. An installed program is not used, because CoreDNS runs in a
// pod, and the program may need libraries.
func corednsTool() Tool {
	const archive = "https://github.com/coredns/coredns/releases/download/$version/coredns_$number_linux_$arch.tgz"
	return Tool{
		Name:          "coredns",
		Release:       release.File{URL: archive, Member: "coredns", SumURL: archive + ".sha256"},
		Dir:           "tools/coredns",
		Package:       ".",
		VersionModule: "github.com/coredns/coredns",
		Sources:       []string{"*.go"},
	}
}

func kubernetesTool(name string, buildSeconds int) Tool {
	url := "https://dl.k8s.io/release/$version/bin/linux/$arch/" + name
	versionArgs := []string{"--version"}
	if name == "kubectl" {
		versionArgs = []string{"version", "--client"}
	}
	return Tool{
		Name:          name,
		VersionArgs:   versionArgs,
		Release:       release.File{URL: url, SumURL: url + ".sha256"},
		Dir:           "tools/kubernetes",
		Package:       "k8s.io/kubernetes/cmd/" + name,
		VersionModule: "k8s.io/kubernetes",
		BuildSeconds:  buildSeconds,
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

func containerdTool(name string, buildSeconds int) Tool {
	const archive = "https://github.com/containerd/containerd/releases/download/$version/containerd-static-$number-linux-$arch.tar.gz"
	versionArgs := []string{"--version"}
	if name == "containerd-shim-runc-v2" {
		versionArgs = []string{"-v"}
	}
	return Tool{
		Name:          name,
		VersionArgs:   versionArgs,
		Release:       release.File{URL: archive, Member: "bin/" + name, SumURL: archive + ".sha256sum"},
		Dir:           "tools/containerd",
		Package:       "github.com/containerd/containerd/v2/cmd/" + name,
		VersionModule: "github.com/containerd/containerd/v2",
		Tags:          "no_btrfs,no_devmapper",
		BuildSeconds:  buildSeconds,
		LinkerVars:    []string{"github.com/containerd/containerd/v2/version.Version=$version"},
	}
}
