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

// Source returns the folder of the cluster program's own module, whose
// subfolder tools holds the modules of the tools.
func Source() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	source := filepath.Dir(filepath.Dir(file))
	if _, err := os.Stat(filepath.Join(source, "go.mod")); !ok || err != nil {
		return "", fmt.Errorf("finding the modules of the tools at %q: build this program in its source tree, without -trimpath", source)
	}
	return source, nil
}
