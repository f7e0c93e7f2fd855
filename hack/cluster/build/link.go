// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

// LinkAssets creates dir, the directory to use as envtest's KUBEBUILDER_ASSETS, with
// links to those of its tools that exist.
func LinkAssets(dir string, binaries []Binary) error {
	unwanted := func(b Binary) bool { return !slices.Contains(EnvtestTools, b.Name) || !b.IsBuilt() }
	return LinkBinaries(dir, slices.DeleteFunc(slices.Clone(binaries), unwanted))
}

// AssetsDir returns the directory for LinkAssets, named after the pinned Kubernetes
// version.
func AssetsDir(cache place.Cache, binaries []Binary) string {
	apiserver := slices.IndexFunc(binaries, func(b Binary) bool { return b.Name == "kube-apiserver" })
	return cache.AssetsDir(binaries[apiserver].Version)
}

// LinkBinaries creates a symbolic link to each binary in folder, named after the tool.
func LinkBinaries(folder string, binaries []Binary) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("creating a directory for links: %w", err)
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
