// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os/exec"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser/programs"
)

// setUpBrowser finds Chromium and axe-core, and installs them if they are missing. Paths
// in the environment take precedence.
func setUpBrowser(ctx context.Context) (*dependency, error) {
	chromium, err := pathFromEnvOr(ctx, programs.BrowserEnv, ensureChromium)
	if err != nil {
		return nil, err
	}
	axe, err := pathFromEnvOr(ctx, programs.AxeEnv, ensureAxe)
	if err != nil {
		return nil, err
	}
	found := []string{programs.BrowserEnv + "=" + chromium, programs.AxeEnv + "=" + axe}
	return &dependency{env: found, location: found[0] + "\n" + found[1]}, nil
}

// pathFromEnvOr returns the path in an environment variable, or else the path that
// ensure returns.
func pathFromEnvOr(ctx context.Context, variable string, ensure func(context.Context) (string, error)) (string, error) {
	path, err := programs.Path(variable)
	if errors.Is(err, programs.ErrUnset) {
		return ensure(ctx)
	}
	return path, err
}

// ensureChromium returns the path of Chromium, and installs it if it is missing.
func ensureChromium(ctx context.Context) (string, error) {
	if path, err := findChromium(); err == nil {
		return path, nil
	}
	if !canInstall() {
		return "", errors.New("no Chromium in PATH: install Chromium with your package manager, or set " +
			programs.BrowserEnv + " to its path (automatic installation requires root on Debian)")
	}
	if err := installPackages(ctx, chromiumPackages...); err != nil {
		return "", err
	}
	return findChromium()
}

// chromiumPackages are Chromium and a font that covers many scripts.
var chromiumPackages = []string{"chromium", "fonts-dejavu-core"}

// findChromium looks for Chromium under its common names.
func findChromium() (string, error) {
	var failures []error
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err == nil {
			return path, nil
		}
		failures = append(failures, err)
	}
	return "", errors.Join(failures...)
}
