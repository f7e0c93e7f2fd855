// SPDX-License-Identifier: Apache-2.0

// Package programs says where the browser for tests and what judges its pages
// are: in two environment variables, which hack/setup sets. It is apart from
// package browser, so that hack/setup need not be built with a client of the
// browser. Nothing here looks further than those variables, and nothing here
// changes the machine.
package programs

import (
	"errors"
	"fmt"
	"os"
)

// The environment variables that tests read.
const (
	Browser = "ANAMNESIS_BROWSER" // the path of Chromium
	Axe     = "ANAMNESIS_AXE"     // the path of axe-core's axe.min.js
)

// ErrUnset says that a variable has no value.
var ErrUnset = errors.New("not set; `go run ./hack/setup browser -- go test ./apiserver/server/page/...` sets it, " +
	"and installs what is missing on Debian when run as root")

// Path returns the path of the file that a variable names.
func Path(variable string) (string, error) {
	path := os.Getenv(variable)
	if path == "" {
		return "", fmt.Errorf("%s is %w", variable, ErrUnset)
	}
	if _, err := os.Stat(path); err != nil { //nolint:gosec // the path is of whoever runs the tests
		return "", fmt.Errorf("%s names no file: %w", variable, err)
	}
	return path, nil
}
