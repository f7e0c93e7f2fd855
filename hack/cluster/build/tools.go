// SPDX-License-Identifier: Apache-2.0

package build

// Tool is a program that is built from a Go module.
type Tool struct {
	Name string
	// Folder is the module to build in, below the cluster program's module.
	Folder string
	// Package is what to build.
	Package string
	// Pin is the module whose version in Folder's go.mod names the binary. It is
	// empty for a program of our own.
	Pin string
	// Sources are our own files in Folder that go into the binary, as patterns;
	// a hash of them names the binary too.
	Sources []string
	Tags    string
	// Stamps are the string variables that the linker sets, as variable=value
	// with $version, $major and $minor for those of the pinned version.
	Stamps []string
}

// Tools is all that is built, in an order that suits two cores: what envtest
// waits for comes first, and what shares most packages follows each other.
func Tools() []Tool {
	return []Tool{
		{Name: "etcd", Folder: "tools/etcd", Package: "go.etcd.io/etcd/server/v3", Pin: "go.etcd.io/etcd/server/v3"},
		kubernetes("kubectl"),
		kubernetes("kube-apiserver"),
		kubernetes("kube-controller-manager"),
		kubernetes("kube-scheduler"),
		kubernetes("kubelet"),
		kubernetes("kube-proxy"),
		containerd("containerd"),
		containerd("containerd-shim-runc-v2"),
		containerd("ctr"),
		{Name: "coredns", Folder: "tools/coredns", Package: ".", Pin: "github.com/coredns/coredns", Sources: []string{"*.go"}},
		{Name: "pause", Folder: ".", Package: "./pause", Sources: []string{"pause/*.go"}},
	}
}

// Assets are the tools that envtest needs.
var Assets = []string{"etcd", "kube-apiserver", "kubectl"}

func kubernetes(name string) Tool {
	return Tool{
		Name:    name,
		Folder:  "tools/kubernetes",
		Package: "k8s.io/kubernetes/cmd/" + name,
		Pin:     "k8s.io/kubernetes",
		Stamps: []string{
			"k8s.io/component-base/version.gitVersion=$version",
			"k8s.io/component-base/version.gitMajor=$major",
			"k8s.io/component-base/version.gitMinor=$minor",
			"k8s.io/client-go/pkg/version.gitVersion=$version",
			"k8s.io/client-go/pkg/version.gitMajor=$major",
			"k8s.io/client-go/pkg/version.gitMinor=$minor",
		},
	}
}

func containerd(name string) Tool {
	return Tool{
		Name:    name,
		Folder:  "tools/containerd",
		Package: "github.com/containerd/containerd/v2/cmd/" + name,
		Pin:     "github.com/containerd/containerd/v2",
		Tags:    "no_btrfs,no_devmapper",
		Stamps:  []string{"github.com/containerd/containerd/v2/version.Version=$version"},
	}
}
