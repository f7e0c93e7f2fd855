// SPDX-License-Identifier: Apache-2.0

// Package image builds image archives of static binaries without a container engine.
// The archives can be read by `docker load`, `ctr images import`, `kind load
// image-archive` and skopeo. The same files, names and modes yield the same bytes.
// Published images are built with the Dockerfile instead.
package image

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// NonrootUser is the user of the entry point: "nonroot" in the distroless images.
const NonrootUser = "65532:65532"

// File is a file on the machine and its path in the image.
type File struct {
	Source     string
	Target     string
	Executable bool
}

// ParseFile parses "path" or "path=/in/image". Without an image path, the file is
// placed in the image's root directory under its own name.
func ParseFile(text string, executable bool) (File, error) {
	source, target, found := strings.Cut(text, "=")
	if !found {
		target = "/" + filepath.Base(source)
	}
	if source == "" || !path.IsAbs(target) || path.Clean(target) != target || target == "/" {
		return File{}, fmt.Errorf("invalid image file %q: expected PATH or PATH=/in/image", text)
	}
	return File{Source: source, Target: target, Executable: executable}, nil
}

// Write writes an archive of an image named reference to out. The first file is the
// entry point. The archive appears at out only when complete.
func Write(reference string, files []File, out string) error {
	tag, err := name.NewTag(reference)
	if err != nil {
		return fmt.Errorf("parsing the image name: %w", err)
	}
	built, err := buildImage(files)
	if err != nil {
		return fmt.Errorf("creating the image %s: %w", reference, err)
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o750); err != nil {
		return fmt.Errorf("creating the directory of the image %s: %w", reference, err)
	}
	unfinished := fmt.Sprintf("%s.%d", out, os.Getpid())
	if err := tarball.WriteToFile(unfinished, tag, built); err != nil {
		return fmt.Errorf("writing the image %s: %w", reference, err)
	}
	return os.Rename(unfinished, out)
}

func buildImage(files []File) (v1.Image, error) {
	if len(files) == 0 || !files[0].Executable {
		return nil, fmt.Errorf("first file must be the executable of the image")
	}
	content, err := buildLayer(files)
	if err != nil {
		return nil, err
	}
	// The archive is read on the machine that built it, so compression is not worth its
	// cost.
	appended, err := mutate.AppendLayers(empty.Image, static.NewLayer(content, types.DockerUncompressedLayer))
	if err != nil {
		return nil, err
	}
	file, err := appended.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Config = v1.Config{
		Entrypoint: []string{files[0].Target},
		User:       NonrootUser,
		Env:        []string{"PATH=/"},
		WorkingDir: "/",
	}
	return mutate.ConfigFile(appended, file)
}

// accountFiles allow programs to look up their user.
var accountFiles = []struct{ target, content string }{
	{"/etc/group", "root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n"},
	{"/etc/passwd", "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"},
}

// buildLayer returns a tar archive of the files, preceded by their directories.
func buildLayer(files []File) ([]byte, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	if err := writeDirs(archive, files); err != nil {
		return nil, err
	}
	for _, account := range accountFiles {
		if err := writeFile(archive, account.target, 0o644, []byte(account.content)); err != nil {
			return nil, err
		}
	}
	for _, file := range files {
		content, err := os.ReadFile(file.Source)
		if err != nil {
			return nil, err
		}
		mode := int64(0o644)
		if file.Executable {
			mode = 0o755
		}
		if err := writeFile(archive, file.Target, mode, content); err != nil {
			return nil, err
		}
	}
	return buffer.Bytes(), archive.Close()
}

func writeDirs(archive *tar.Writer, files []File) error {
	modes := map[string]int64{"/etc": 0o755, "/tmp": 0o1777}
	for _, file := range files {
		for folder := path.Dir(file.Target); folder != "/"; folder = path.Dir(folder) {
			if _, known := modes[folder]; !known {
				modes[folder] = 0o755
			}
		}
	}
	folders := make([]string, 0, len(modes))
	for folder := range modes {
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	for _, folder := range folders {
		if err := archive.WriteHeader(newHeader(tar.TypeDir, folder+"/", modes[folder], 0)); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(archive *tar.Writer, target string, mode int64, content []byte) error {
	if err := archive.WriteHeader(newHeader(tar.TypeReg, target, mode, len(content))); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}

// newHeader sets all times to the epoch, so that equal files yield equal images.
func newHeader(kind byte, target string, mode int64, size int) *tar.Header {
	return &tar.Header{
		Typeflag: kind,
		Name:     strings.TrimPrefix(target, "/"),
		Mode:     mode,
		Size:     int64(size),
		ModTime:  time.Unix(0, 0),
		Format:   tar.FormatPAX,
	}
}
