// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"

	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser/programs"
)

// provideBrowser finds Chromium and axe-core, installed first when they are
// missing. What the environment already names is taken as it is.
func provideBrowser(ctx context.Context) (*provision, error) {
	chromium, err := findOr(ctx, programs.Browser, ensureChromium)
	if err != nil {
		return nil, err
	}
	axe, err := findOr(ctx, programs.Axe, ensureAxe)
	if err != nil {
		return nil, err
	}
	found := []string{programs.Browser + "=" + chromium, programs.Axe + "=" + axe}
	return &provision{environment: found, place: found[0] + "\n" + found[1]}, nil
}

// findOr returns the path that a variable names, or else what ensure finds.
func findOr(ctx context.Context, variable string, ensure func(context.Context) (string, error)) (string, error) {
	path, err := programs.Path(variable)
	if errors.Is(err, programs.ErrUnset) {
		return ensure(ctx)
	}
	return path, err
}

// ensureChromium returns the path of Chromium, installed when it is missing,
// with letters to draw: a font of many scripts.
func ensureChromium(ctx context.Context) (string, error) {
	if path, err := lookChromium(); err == nil {
		return path, nil
	}
	if !installable() {
		return "", errors.New("no Chromium in PATH, which is installed only on Debian by root: " +
			"install that of your system, or name it in " + programs.Browser)
	}
	slog.InfoContext(ctx, "installing Debian's Chromium")
	if err := install(ctx, "chromium", "fonts-dejavu-core"); err != nil {
		return "", err
	}
	return lookChromium()
}

// lookChromium finds Chromium by the names that systems give it.
func lookChromium() (string, error) {
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
