// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

// LinkAssets makes the folder that envtest takes as KUBEBUILDER_ASSETS, with
// those of its tools that are built.
func LinkAssets(cache place.Cache, binaries []Binary) error {
	unwanted := func(b Binary) bool { return !slices.Contains(Assets, b.Name) || !b.Built() }
	return Link(AssetsFolder(cache, binaries), slices.DeleteFunc(slices.Clone(binaries), unwanted))
}

// AssetsFolder is where LinkAssets links to, named by Kubernetes' version.
func AssetsFolder(cache place.Cache, binaries []Binary) string {
	apiserver := slices.IndexFunc(binaries, func(b Binary) bool { return b.Name == "kube-apiserver" })
	return cache.Assets(binaries[apiserver].Version)
}

// Link puts a symbolic link to each binary into folder, under the tool's name.
func Link(folder string, binaries []Binary) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("making a folder for links: %w", err)
	}
	for _, binary := range binaries {
		link := filepath.Join(folder, binary.Name)
		if target, err := os.Readlink(link); err == nil && target == binary.Path {
			continue
		}
		fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
		if err := os.Symlink(binary.Path, fresh); err != nil {
			return fmt.Errorf("linking %s: %w", binary.Name, err)
		}
		if err := os.Rename(fresh, link); err != nil {
			return fmt.Errorf("linking %s: %w", binary.Name, err)
		}
	}
	return nil
}
