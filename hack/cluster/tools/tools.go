// SPDX-License-Identifier: Apache-2.0

// Package tools locates the tool modules: each directory next to this file is a
// separate Go module that pins one upstream project and is built by package build.
// None of that code is linked into the cluster program.
package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// source is set by the linker, because a program built with -trimpath does not know
// the location of its sources.
var source string

// SourceDir returns the directory of the cluster program's module, whose subdirectory
// tools contains the tool modules. It is the module that the program was built in or,
// in tests, the one that they run in.
func SourceDir() (string, error) {
	if source != "" {
		return source, checkSourceDir(source)
	}
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("locating the tool modules: %w", err)
	}
	for checkSourceDir(folder) != nil {
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("locating the tool modules: build this program with `make bin/cluster`")
		}
		folder = parent
	}
	return folder, nil
}

// checkSourceDir returns an error unless a directory contains the tool modules.
func checkSourceDir(folder string) error {
	if _, err := os.Stat(filepath.Join(folder, "tools", "kubernetes", "go.mod")); err != nil {
		return fmt.Errorf("locating the tool modules: %w (build this program with `make bin/cluster` in its source tree)", err)
	}
	return nil
}
