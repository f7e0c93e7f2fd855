// SPDX-License-Identifier: Apache-2.0

// Package programs locates the test browser and axe-core through two environment variables,
// which hack/setup sets. It is separate from package browser so that hack/setup does not
// depend on a browser client. The package only reads these variables and does not modify the
// machine.
package programs

import (
	"errors"
	"fmt"
	"os"
)

// Environment variables that the tests read.
const (
	BrowserEnv = "ANAMNESIS_BROWSER" // path of Chromium
	AxeEnv     = "ANAMNESIS_AXE"     // path of axe-core's axe.min.js
)

// ErrUnset indicates that a variable is not set.
var ErrUnset = errors.New("not set; `go run ./hack/setup browser -- go test ./apiserver/http/page/...` sets it, " +
	"and installs what is missing on Debian when run as root")

// Path returns the path of the file that a variable names.
func Path(variable string) (string, error) {
	path := os.Getenv(variable)
	if path == "" {
		return "", fmt.Errorf("%s is %w", variable, ErrUnset)
	}
	if _, err := os.Stat(path); err != nil { //nolint:gosec // the person running the tests sets the path
		return "", fmt.Errorf("%s is not a file: %w", variable, err)
	}
	return path, nil
}
