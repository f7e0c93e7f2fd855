// SPDX-License-Identifier: Apache-2.0

// Package tools knows where the modules of the tools are: each folder beside
// this file is a Go module of its own, which pins one upstream project and is
// built by package build. No code of theirs is linked into the cluster program.
package tools

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// source is set by the linker, since a program that is built with -trimpath does
// not know where its sources are.
var source string

// Source returns the folder of the cluster program's own module, whose
// subfolder tools holds the modules of the tools: the one it was built in, or for
// tests the one that they run in.
func Source() (string, error) {
	if source != "" {
		return source, isSource(source)
	}
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the modules of the tools: %w", err)
	}
	for isSource(folder) != nil {
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("finding the modules of the tools: build this program with `make bin/cluster`")
		}
		folder = parent
	}
	return folder, nil
}

// isSource is an error unless a folder has the modules of the tools.
func isSource(folder string) error {
	if _, err := os.Stat(filepath.Join(folder, "tools", "kubernetes", "go.mod")); err != nil {
		return fmt.Errorf("finding the modules of the tools: %w (build this program with `make bin/cluster` in its source tree)", err)
	}
	return nil
}
