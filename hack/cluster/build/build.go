// SPDX-License-Identifier: Apache-2.0

// Package build makes the tools of the node from Go modules and keeps them in
// the cache: a binary is named by the version that the tool's go.mod pins and
// is built when there is none of that name. What the tools are for is not
// known here.
package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
)

// Builder builds tools of the module at Source into Cache.
type Builder struct {
	Source string
	Cache  place.Cache
}

// Binary is a tool and where its binary is, or will be once it is built.
type Binary struct {
	Tool
	Version string
	Path    string
}

// Built says whether the binary is there.
func (b Binary) Built() bool {
	_, err := os.Stat(b.Path)
	return err == nil
}

// Binaries finds the version of each tool; it builds nothing.
func (b Builder) Binaries(tools []Tool) ([]Binary, error) {
	binaries := make([]Binary, 0, len(tools))
	for _, tool := range tools {
		version, err := b.version(tool)
		if err != nil {
			return nil, fmt.Errorf("finding the version of %s: %w", tool.Name, err)
		}
		binaries = append(binaries, Binary{Tool: tool, Version: version, Path: b.Cache.Binary(tool.Name, version)})
	}
	return binaries, nil
}

// Build builds the binary unless it is there. Of several at the same time,
// also in other processes, one builds and the others wait and take what it
// made. A binary is complete as soon as it has its name.
func (b Builder) Build(ctx context.Context, binary Binary) error {
	if binary.Built() {
		return nil
	}
	release, err := place.Hold(b.Cache.Lock("build"))
	if err != nil {
		return err
	}
	defer release()
	if binary.Built() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(binary.Path), 0o750); err != nil {
		return fmt.Errorf("making room for %s: %w", binary.Name, err)
	}
	unfinished := binary.Path + ".unfinished"
	cmd := exec.CommandContext(ctx, "go", arguments(binary, unfinished)...)
	cmd.Dir = filepath.Join(b.Source, binary.Folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-buildvcs=false")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s in %s: %w\n%s", binary.Package, cmd.Dir, err, output)
	}
	return os.Rename(unfinished, binary.Path)
}

// arguments is the command line of the go command that builds binary to path.
func arguments(binary Binary, path string) []string {
	flags := make([]string, 0, 2+2*len(binary.Stamps))
	flags = append(flags, "-s", "-w")
	for _, stamp := range binary.Stamps {
		flags = append(flags, "-X", os.Expand(stamp, versionPart(binary.Version)))
	}
	args := []string{"build", "-trimpath", "-ldflags", strings.Join(flags, " "), "-o", path}
	if binary.Tags != "" {
		args = append(args, "-tags", binary.Tags)
	}
	return append(args, binary.Package)
}

// versionPart returns the parts of a version such as v1.36.3 by their names.
func versionPart(version string) func(string) string {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	parts := map[string]string{"version": version, "major": major, "minor": minor}
	return func(name string) string { return parts[name] }
}

// version is what names the binary of a tool: the pinned version, a hash of
// our own sources, or both.
func (b Builder) version(tool Tool) (string, error) {
	var parts []string
	if tool.Pin != "" {
		pinned, err := pinned(filepath.Join(b.Source, tool.Folder, "go.mod"), tool.Pin)
		if err != nil {
			return "", err
		}
		parts = append(parts, pinned)
	}
	if len(tool.Sources) > 0 {
		sum, err := hashFiles(filepath.Join(b.Source, tool.Folder), tool.Sources)
		if err != nil {
			return "", err
		}
		parts = append(parts, sum)
	}
	return strings.Join(parts, "-"), nil
}

// pinned reads the version of a module from a go.mod file.
func pinned(goMod, module string) (string, error) {
	content, err := os.ReadFile(goMod)
	if err != nil {
		return "", err
	}
	parsed, err := modfile.ParseLax(goMod, content, nil)
	if err != nil {
		return "", err
	}
	for _, require := range parsed.Require {
		if require.Mod.Path == module {
			return require.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not require %s", goMod, module)
}

func hashFiles(folder string, patterns []string) (string, error) {
	sum := sha256.New()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(paths) == 0 {
			return "", errors.Join(fmt.Errorf("no file %s in %s", pattern, folder), err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(path), len(content), content)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:4]), nil
}
