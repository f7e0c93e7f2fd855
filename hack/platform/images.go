// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// imageFolder is where images and what they are made of are built, below Root.
const imageFolder = "bin/image"

// Archives are the files that BuildImages leaves of both images.
func (p Platform) Archives() []string {
	folder := filepath.Join(p.Root, imageFolder)
	return []string{filepath.Join(folder, "apiserver.tar"), filepath.Join(folder, "operator.tar")}
}

// Images are the references of the two images that the platform runs.
type Images struct {
	Server, Operator string
}

// BuildImages builds both images from the tree and loads them into the
// cluster.
func (p Platform) BuildImages(ctx context.Context) (Images, error) {
	server, err := p.BuildCommand(ctx, "apiserver", "./apiserver")
	if err != nil {
		return Images{}, err
	}
	releases, err := p.compileReleases(ctx, server)
	if err != nil {
		return Images{}, err
	}
	serverImage, err := p.load(ctx, server, releases...)
	if err != nil {
		return Images{}, err
	}
	operatorImage, err := p.LoadCommand(ctx, "operator", "./controllers")
	return Images{Server: serverImage, Operator: operatorImage}, err
}

// LoadCommand builds a Go command, makes an image that runs it, loads that
// into the cluster and returns its reference.
func (p Platform) LoadCommand(ctx context.Context, name, source string) (string, error) {
	binary, err := p.BuildCommand(ctx, name, source)
	if err != nil {
		return "", err
	}
	return p.load(ctx, binary)
}

// BuildCommand builds a Go command as a static binary and returns its path.
func (p Platform) BuildCommand(ctx context.Context, name, source string) (string, error) {
	binary := filepath.Join(p.Root, imageFolder, name)
	cmd := p.command(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, source)
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	_, err := p.run(cmd)
	return binary, err
}

// compileReleases compiles the content and returns the release files.
func (p Platform) compileReleases(ctx context.Context, server string) ([]string, error) {
	models := filepath.Join(filepath.Dir(server), "models")
	if err := os.RemoveAll(models); err != nil {
		return nil, err
	}
	if _, err := p.run(p.command(ctx, server, "model", "build", "--out", models)); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(models, "*.release"))
}

// load makes an image of a binary and the release files beside it, and loads
// it into the cluster. The tag is the hash of what is in the image, so that a
// change of the code is a new image and an unchanged tree none.
func (p Platform) load(ctx context.Context, binary string, releases ...string) (string, error) {
	tag, err := hashFiles(append([]string{binary}, releases...))
	if err != nil {
		return "", err
	}
	name := filepath.Base(binary)
	ref := fmt.Sprintf("localhost/anamnesis/%s:%s", name, tag)
	archive := binary + ".tar"
	args := []string{"image", "-name", ref, "-out", archive, "-binary", binary + "=/" + name}
	for _, release := range releases {
		args = append(args, "-file", release+"=/models/"+filepath.Base(release))
	}
	if _, err := p.run(p.cluster(ctx, args...)); err != nil {
		return "", err
	}
	return ref, p.LoadArchive(ctx, archive)
}

// LoadArchive loads an archive of an image into the cluster.
func (p Platform) LoadArchive(ctx context.Context, archive string) error {
	_, err := p.run(p.cluster(ctx, "load", archive))
	return err
}

// hashFiles is a short hash of the contents of files, whatever their order.
func hashFiles(paths []string) (string, error) {
	hash := sha256.New()
	for _, path := range slices.Sorted(slices.Values(paths)) {
		if err := hashFile(hash, path); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:12], nil
}

func hashFile(hash io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	_, err = io.Copy(hash, file)
	return err
}
