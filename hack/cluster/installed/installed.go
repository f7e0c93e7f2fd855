// SPDX-License-Identifier: Apache-2.0

// Package installed finds programs with a matching version that are already installed on
// this machine. It installs nothing.
package installed

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Program is a program to find.
type Program struct {
	Name string
	// VersionArgs are the arguments that make the program print its version.
	VersionArgs []string
	// Version is the required version, such as v1.36.3. Any patch release of the same minor
	// version matches.
	Version string
}

// Dirs returns the directories to search: KUBEBUILDER_ASSETS, then PATH.
func Dirs(getenv func(string) string) []string {
	return append([]string{getenv("KUBEBUILDER_ASSETS")}, filepath.SplitList(getenv("PATH"))...)
}

// Find returns the path and the version of the first matching program in dirs.
func Find(ctx context.Context, program Program, dirs []string) (path, version string, found bool) {
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		path, err := filepath.EvalSymlinks(filepath.Join(dir, program.Name))
		if err != nil || !isExecutable(path) {
			continue
		}
		if version := programVersion(ctx, path, program.VersionArgs); isSameMinorRelease(version, program.Version) {
			return path, version, true
		}
	}
	return "", "", false
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

var versionPattern = regexp.MustCompile(`\bv?(\d+\.\d+\.\d+)\b`)

// programVersion returns the version that a program prints, such as v1.36.3, or an empty
// string.
func programVersion(ctx context.Context, path string, args []string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, args...).Output()
	if err != nil {
		return ""
	}
	if match := versionPattern.FindSubmatch(output); match != nil {
		return "v" + string(match[1])
	}
	return ""
}

// isSameMinorRelease reports whether two versions belong to the same minor release.
func isSameMinorRelease(version, want string) bool {
	return version != "" && minorRelease(version) == minorRelease(want)
}

func minorRelease(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}
