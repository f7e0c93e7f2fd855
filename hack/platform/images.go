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

// imageDir is the build directory of images and their inputs, below Root.
const imageDir = "bin/image"

// Images are the references of the two images of the platform.
type Images struct {
	Server, Operator string
}

// BuildImages builds both images from the source tree and loads them into the cluster.
func (p Platform) BuildImages(ctx context.Context) (Images, error) {
	server, err := p.BuildBinary(ctx, "apiserver", "./apiserver")
	if err != nil {
		return Images{}, err
	}
	releases, err := p.compileReleases(ctx, server)
	if err != nil {
		return Images{}, err
	}
	serverImage, err := p.loadImage(ctx, server, releases...)
	if err != nil {
		return Images{}, err
	}
	operatorImage, err := p.BuildAndLoadImage(ctx, "operator", "./controllers")
	return Images{Server: serverImage, Operator: operatorImage}, err
}

// BuildAndLoadImage builds a Go command, packages it as an image, loads the image into
// the cluster and returns its reference.
func (p Platform) BuildAndLoadImage(ctx context.Context, name, source string) (string, error) {
	binary, err := p.BuildBinary(ctx, name, source)
	if err != nil {
		return "", err
	}
	return p.loadImage(ctx, binary)
}

// BuildBinary builds a Go command as a static binary and returns its path.
func (p Platform) BuildBinary(ctx context.Context, name, source string) (string, error) {
	binary := filepath.Join(p.Root, imageDir, name)
	cmd := p.command(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, source)
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	_, err := p.output(cmd)
	return binary, err
}

// compileReleases compiles the content and returns the paths of the release files.
func (p Platform) compileReleases(ctx context.Context, server string) ([]string, error) {
	models := filepath.Join(filepath.Dir(server), "models")
	if err := os.RemoveAll(models); err != nil {
		return nil, err
	}
	if _, err := p.output(p.command(ctx, server, "model", "build", "--out", models)); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(models, "*.release"))
}

// loadImage builds an image of a binary and its release files, and loads it into the
// cluster. The tag is a hash of the image's contents, so that only changes result in a
// new image.
func (p Platform) loadImage(ctx context.Context, binary string, releases ...string) (string, error) {
	tag, err := hashFiles(append([]string{binary}, releases...))
	if err != nil {
		return "", err
	}
	return p.loadTaggedImage(ctx, tag, binary+".tar", binary, releases...)
}

// LoadServerImage loads the server image from the last BuildImages under another tag,
// and returns its reference.
func (p Platform) LoadServerImage(ctx context.Context, tag string) (string, error) {
	binary := filepath.Join(p.Root, imageDir, "apiserver")
	releases, err := filepath.Glob(filepath.Join(p.Root, imageDir, "models", "*.release"))
	if err != nil {
		return "", err
	}
	return p.loadTaggedImage(ctx, tag, binary+"-"+tag+".tar", binary, releases...)
}

func (p Platform) loadTaggedImage(ctx context.Context, tag, archive, binary string, releases ...string) (string, error) {
	name := filepath.Base(binary)
	ref := fmt.Sprintf("localhost/anamnesis/%s:%s", name, tag)
	args := make([]string, 0, 7+2*len(releases))
	args = append(args, "image", "-name", ref, "-out", archive, "-binary", binary+"=/"+name)
	for _, release := range releases {
		args = append(args, "-file", release+"=/models/"+filepath.Base(release))
	}
	if _, err := p.output(p.clusterCommand(ctx, args...)); err != nil {
		return "", err
	}
	return ref, p.loadImageArchive(ctx, archive)
}

// loadImageArchive loads an image archive into the cluster.
func (p Platform) loadImageArchive(ctx context.Context, archive string) error {
	_, err := p.output(p.clusterCommand(ctx, "load", archive))
	return err
}

// hashFiles returns a short hash of the contents of files, independent of their order.
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
