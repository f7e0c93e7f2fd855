// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"
)

// screenshotsEnv is the variable with the screenshot directory.
const screenshotsEnv = "ANAMNESIS_SCREENSHOTS"

// Screenshot captures the whole page, beyond the window, to the file name.png and returns
// its path. The directory is ANAMNESIS_SCREENSHOTS or else the test's artifact directory,
// which `go test -artifacts` keeps.
func (tab *Tab) Screenshot(name string) string {
	tab.t.Helper()
	const whole = 100 // below 100 it would be a JPEG
	image := runAction(tab, "take the screenshot", chromedp.FullScreenshot(whole))
	runAction(tab, "restore the font size", tab.options.setFontSizes()) // a capture resets it
	return tab.writeArtifact(name+".png", image)
}

// writeArtifact writes a file to the screenshot directory and returns its path.
func (tab *Tab) writeArtifact(name string, content []byte) string {
	tab.t.Helper()
	folder := cmp.Or(os.Getenv(screenshotsEnv), tab.t.ArtifactDir())
	if err := os.MkdirAll(folder, 0o750); err != nil { //nolint:gosec // the person running the tests sets the path
		tab.t.Fatalf("creating screenshot directory: %v", err)
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, content, 0o600); err != nil { //nolint:gosec // in that folder
		tab.t.Fatalf("writing screenshot: %v", err)
	}
	return path
}
