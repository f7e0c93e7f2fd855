// SPDX-License-Identifier: Apache-2.0

// Package tools knows where the modules of the tools are: each folder beside
// this file is a Go module of its own, which pins one upstream project and is
// built by package build. No code of theirs is linked into the cluster program.
package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// source is set by the linker where the program is built with -trimpath, which
// takes the place of the sources out of the binary.
var source string

// Source returns the folder of the cluster program's own module, whose
// subfolder tools holds the modules of the tools.
func Source() (string, error) {
	folder := source
	if folder == "" {
		_, file, _, _ := runtime.Caller(0)
		folder = filepath.Dir(filepath.Dir(file))
	}
	if _, err := os.Stat(filepath.Join(folder, "go.mod")); err != nil {
		return "", fmt.Errorf("finding the modules of the tools at %q: build this program with `make bin/cluster` in its source tree", folder)
	}
	return folder, nil
}
