// SPDX-License-Identifier: Apache-2.0

// Package build builds the tools of the node from Go modules, or downloads their official
// releases, and caches them. A binary is named after the version pinned in the tool's
// go.mod and is created only if the cache does not have it. The package is independent
// of the purpose of the tools.
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
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/place"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/release"
)

// Builder builds tools of the module at Source into Cache.
type Builder struct {
	Source string
	Cache  place.Cache
}

// Binary is a tool and the path of its binary, which may not be built yet.
type Binary struct {
	Tool
	Version string
	Path    string
}

// IsBuilt reports whether the binary exists.
func (b Binary) IsBuilt() bool {
	_, err := os.Stat(b.Path)
	return err == nil
}

// Binaries determines the version of each tool. It does not build anything.
func (b Builder) Binaries(tools []Tool) ([]Binary, error) {
	binaries := make([]Binary, 0, len(tools))
	for _, tool := range tools {
		version, err := b.version(tool)
		if err != nil {
			return nil, fmt.Errorf("determining the version of %s: %w", tool.Name, err)
		}
		binaries = append(binaries, Binary{Tool: tool, Version: version, Path: b.Cache.Binary(tool.Name, version)})
	}
	return binaries, nil
}

// ReleaseFile returns the official release of the binary, and reports whether it exists.
func (b Binary) ReleaseFile() (file release.File, ok bool) {
	// A hash of local sources may follow the version.
	version, _, _ := strings.Cut(b.Version, "-")
	expand := func(text string) string { return os.Expand(text, versionVariables(version)) }
	file = b.Release
	file.URL, file.Member, file.SumURL = expand(file.URL), expand(file.Member), expand(file.SumURL)
	return file, file.URL != ""
}

// createOnce calls create unless the binary exists. If several callers create it
// concurrently, even in different processes, one creates it and the others wait for the
// result.
func (b Builder) createOnce(binary Binary, create func() error) error {
	if binary.IsBuilt() {
		return nil
	}
	unlock, err := place.AcquireLock(b.Cache.LockFile("build"))
	if err != nil {
		return err
	}
	defer unlock()
	if binary.IsBuilt() {
		return nil
	}
	return create()
}

// Build builds the binary from source unless it exists. The binary appears under its name
// only when complete.
func (b Builder) Build(ctx context.Context, binary Binary) error {
	return b.createOnce(binary, func() error {
		if err := os.MkdirAll(filepath.Dir(binary.Path), 0o750); err != nil {
			return fmt.Errorf("creating the directory of %s: %w", binary.Name, err)
		}
		unfinished := binary.Path + ".unfinished"
		cmd := exec.CommandContext(ctx, "go", buildArgs(binary, unfinished)...)
		cmd.Dir = filepath.Join(b.Source, binary.Dir)
		cmd.Env = goEnv()
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s in %s: %w\n%s", binary.Package, cmd.Dir, err, output)
		}
		return os.Rename(unfinished, binary.Path)
	})
}

// Download downloads the binary's official release unless it exists.
func (b Builder) Download(ctx context.Context, binary Binary) error {
	file, ok := binary.ReleaseFile()
	if !ok {
		return fmt.Errorf("%s has no official release", binary.Name)
	}
	return b.createOnce(binary, func() error { return release.Download(ctx, file, binary.Path) })
}

// buildArgs returns the go command line that builds binary to path.
func buildArgs(binary Binary, path string) []string {
	flags := make([]string, 0, 2+2*len(binary.LinkerVars))
	flags = append(flags, "-s", "-w")
	for _, stamp := range binary.LinkerVars {
		flags = append(flags, "-X", os.Expand(stamp, versionVariables(binary.Version)))
	}
	args := []string{"build", "-trimpath", "-ldflags", strings.Join(flags, " "), "-o", path}
	if binary.Tags != "" {
		args = append(args, "-tags", binary.Tags)
	}
	return append(args, binary.Package)
}

// versionVariables returns a lookup of the architecture and the parts of a version such
// as v1.36.3 by name.
func versionVariables(version string) func(string) string {
	number := strings.TrimPrefix(version, "v")
	major, rest, _ := strings.Cut(number, ".")
	minor, _, _ := strings.Cut(rest, ".")
	parts := map[string]string{"version": version, "number": number, "major": major, "minor": minor, "arch": runtime.GOARCH}
	return func(name string) string { return parts[name] }
}

// version returns the version in the name of a tool's binary: the pinned version, a
// hash of local sources, or both.
func (b Builder) version(tool Tool) (string, error) {
	var parts []string
	if tool.VersionModule != "" {
		pinned, err := pinnedVersion(filepath.Join(b.Source, tool.Dir, "go.mod"), tool.VersionModule)
		if err != nil {
			return "", err
		}
		parts = append(parts, pinned)
	}
	if len(tool.Sources) > 0 {
		sum, err := hashFiles(filepath.Join(b.Source, tool.Dir), tool.Sources)
		if err != nil {
			return "", err
		}
		parts = append(parts, sum)
	}
	return strings.Join(parts, "-"), nil
}

// pinnedVersion returns the version of a module in a go.mod file.
func pinnedVersion(goMod, module string) (string, error) {
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
			return "", errors.Join(fmt.Errorf("file %s not found in %s", pattern, folder), err)
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
