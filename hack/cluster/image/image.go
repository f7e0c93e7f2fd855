// SPDX-License-Identifier: Apache-2.0

// Package image makes image archives of static binaries without a container
// engine. Such an archive is read by `docker load`, `ctr images import`,
// `kind load image-archive` and skopeo. The same files, names and modes give
// the same bytes. For images that are published there is the Dockerfile.
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

// User is who the entry point runs as: "nonroot" of the distroless images.
const User = "65532:65532"

// File is a file of the machine and its place in the image.
type File struct {
	Source     string
	Target     string
	Executable bool
}

// ParseFile reads "path" or "path=/in/image". Without a place the file goes
// to the root of the image under its own name.
func ParseFile(text string, executable bool) (File, error) {
	source, target, found := strings.Cut(text, "=")
	if !found {
		target = "/" + filepath.Base(source)
	}
	if source == "" || !path.IsAbs(target) || path.Clean(target) != target || target == "/" {
		return File{}, fmt.Errorf("%q is no file for an image: write PATH or PATH=/in/image", text)
	}
	return File{Source: source, Target: target, Executable: executable}, nil
}

// Write makes an archive of an image called reference at out. The first file
// is the entry point. The archive is complete as soon as it is there.
func Write(reference string, files []File, out string) error {
	tag, err := name.NewTag(reference)
	if err != nil {
		return fmt.Errorf("naming the image: %w", err)
	}
	built, err := build(files)
	if err != nil {
		return fmt.Errorf("making the image %s: %w", reference, err)
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o750); err != nil {
		return fmt.Errorf("making room for the image %s: %w", reference, err)
	}
	unfinished := fmt.Sprintf("%s.%d", out, os.Getpid())
	if err := tarball.WriteToFile(unfinished, tag, built); err != nil {
		return fmt.Errorf("writing the image %s: %w", reference, err)
	}
	return os.Rename(unfinished, out)
}

func build(files []File) (v1.Image, error) {
	if len(files) == 0 || !files[0].Executable {
		return nil, fmt.Errorf("its first file must be the binary to run")
	}
	content, err := layer(files)
	if err != nil {
		return nil, err
	}
	// It is read on the machine where it was made: compression would only cost.
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
		User:       User,
		Env:        []string{"PATH=/"},
		WorkingDir: "/",
	}
	return mutate.ConfigFile(appended, file)
}

// accounts let a program look up who it runs as.
var accounts = []struct{ target, content string }{
	{"/etc/group", "root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n"},
	{"/etc/passwd", "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"},
}

// layer writes the files into one tar archive with their folders before them.
func layer(files []File) ([]byte, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	if err := writeFolders(archive, files); err != nil {
		return nil, err
	}
	for _, account := range accounts {
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

func writeFolders(archive *tar.Writer, files []File) error {
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
		if err := archive.WriteHeader(header(tar.TypeDir, folder+"/", modes[folder], 0)); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(archive *tar.Writer, target string, mode int64, content []byte) error {
	if err := archive.WriteHeader(header(tar.TypeReg, target, mode, len(content))); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}

// header dates everything to the epoch, so that equal files make equal images.
func header(kind byte, target string, mode int64, size int) *tar.Header {
	return &tar.Header{
		Typeflag: kind,
		Name:     strings.TrimPrefix(target, "/"),
		Mode:     mode,
		Size:     int64(size),
		ModTime:  time.Unix(0, 0),
		Format:   tar.FormatPAX,
	}
}
