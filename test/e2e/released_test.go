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

// releasedCommit is what TestUpgrade upgrades from: the last commit before an
// Instance was served by the second revision of what the operator builds.
const releasedCommit = "a689541f739e9b80801d7325b7b4e9224437842e"

// released gives the platform as it was at that commit, on the cluster of the
// tests, with its images loaded. What is built of a commit never changes, so it
// is kept beside the cluster's own binaries.
func released(t *testing.T) (platform.Platform, platform.Images) {
	t.Helper()
	root, err := releasedFolder()
	if err != nil {
		t.Fatal(err)
	}
	old := platform.Platform{Root: root, State: cluster.State, Command: filepath.Join(cluster.Root, "bin", "cluster"), Progress: cluster.Progress}
	images, err := builtImages(old)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		images = buildReleased(t, old)
	case err != nil:
		t.Fatal(err)
	default:
		for _, archive := range old.Archives() {
			if err := old.LoadArchive(t.Context(), archive); err != nil {
				t.Fatal(err)
			}
		}
	}
	return old, images
}

func releasedFolder() (string, error) {
	cache := os.Getenv("ANAMNESIS_CACHE")
	if cache == "" {
		folder, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("finding where to keep what is built: %w", err)
		}
		cache = filepath.Join(folder, "anamnesis")
	}
	return filepath.Join(cache, "released", releasedCommit[:12]), nil
}

// imagesFile names the images that were built, once they were.
const imagesFile = "images.json"

func builtImages(old platform.Platform) (images platform.Images, err error) {
	content, err := os.ReadFile(filepath.Join(old.Root, imagesFile))
	if err != nil {
		return images, err
	}
	return images, json.Unmarshal(content, &images)
}

// buildReleased fetches the sources of the commit from git, and builds and loads
// its images. It works in a folder of its own until all is there.
func buildReleased(t *testing.T, old platform.Platform) platform.Images {
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
	extractReleased(t, old.Root)
	images, err := old.BuildImages(t.Context())
	if err != nil {
		t.Fatalf("build the images of commit %s: %v", releasedCommit, err)
	}
	content, err := json.Marshal(images)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old.Root, imagesFile), content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(old.Root, root); err != nil {
		t.Fatalf("keep what was built of commit %s: %v", releasedCommit, err)
	}
	return images
}

// extractReleased writes the sources of the commit into a folder.
func extractReleased(t *testing.T, folder string) {
	t.Helper()
	archive := filepath.Join(folder, "sources.tar")
	for _, command := range [][]string{
		{"git", "-C", cluster.Root, "archive", "--output", archive, releasedCommit},
		{"tar", "--extract", "--file", archive, "--directory", folder},
	} {
		if output, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("the sources of commit %s, from which this test upgrades, cannot be had: %v: %s\n"+
				"It needs the history of this repository: in a shallow clone, run git fetch --unshallow", releasedCommit, err, output)
		}
	}
	if err := os.Remove(archive); err != nil {
		t.Fatal(err)
	}
}
