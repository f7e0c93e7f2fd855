// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/anamnesis-dev/anamnesis/hack/platform"
)

// previousCommit is the commit that TestUpgrade upgrades from: the last one before
// Instances were served by the second revision of the operator's objects.
const previousCommit = "a689541f739e9b80801d7325b7b4e9224437842e"

// previousPlatform returns the platform of previousCommit on the shared cluster, with
// its images loaded. The build of a commit never changes, so previousPlatform caches it
// next to the cluster's binaries.
func previousPlatform(t *testing.T) (platform.Platform, platform.Images) {
	t.Helper()
	root, err := previousReleaseDir()
	if err != nil {
		t.Fatal(err)
	}
	old := platform.Platform{Root: root, StateDir: cluster.StateDir, ClusterBinary: filepath.Join(cluster.Root, "bin", "cluster"), Progress: cluster.Progress}
	images, err := readBuiltImages(old)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		images = buildPreviousImages(t, old)
	case err != nil:
		t.Fatal(err)
	default:
		for _, archive := range old.ImageArchives() {
			if err := old.LoadImageArchive(t.Context(), archive); err != nil {
				t.Fatal(err)
			}
		}
	}
	return old, images
}

func previousReleaseDir() (string, error) {
	cache := os.Getenv("ANAMNESIS_CACHE")
	if cache == "" {
		folder, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("finding where to keep what is built: %w", err)
		}
		cache = filepath.Join(folder, "anamnesis")
	}
	return filepath.Join(cache, "released", previousCommit[:12]), nil
}

// imagesFile lists the images. It exists only after a complete build.
const imagesFile = "images.json"

func readBuiltImages(old platform.Platform) (images platform.Images, err error) {
	content, err := os.ReadFile(filepath.Join(old.Root, imagesFile))
	if err != nil {
		return images, err
	}
	return images, json.Unmarshal(content, &images)
}

// buildPreviousImages extracts the sources of previousCommit, and builds and loads its
// images. It builds in a temporary directory, which it renames when complete.
func buildPreviousImages(t *testing.T, old platform.Platform) platform.Images {
	t.Helper()
	root := old.Root
	if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if old.Root, err = os.MkdirTemp(filepath.Dir(root), "unfinished-"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(old.Root) }()
	extractPreviousSources(t, old.Root)
	images, err := old.BuildImages(t.Context())
	if err != nil {
		t.Fatalf("build the images of commit %s: %v", previousCommit, err)
	}
	content, err := json.Marshal(images)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old.Root, imagesFile), content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(old.Root, root); err != nil {
		t.Fatalf("keep what was built of commit %s: %v", previousCommit, err)
	}
	return images
}

// extractPreviousSources extracts the sources of previousCommit into a directory.
func extractPreviousSources(t *testing.T, folder string) {
	t.Helper()
	archive := filepath.Join(folder, "sources.tar")
	for _, command := range [][]string{
		{"git", "-C", cluster.Root, "archive", "--output", archive, previousCommit},
		{"tar", "--extract", "--file", archive, "--directory", folder},
	} {
		if output, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("the sources of commit %s, from which this test upgrades, are unavailable: %v: %s\n"+
				"It needs the history of this repository: in a shallow clone, run git fetch --unshallow", previousCommit, err, output)
		}
	}
	if err := os.Remove(archive); err != nil {
		t.Fatal(err)
	}
}
