// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"
)

// screenshots names the folder of screenshots.
const screenshots = "ANAMNESIS_SCREENSHOTS"

// Screenshot draws the whole page, beyond the window too, into the file
// name.png and returns its path. The folder is that of ANAMNESIS_SCREENSHOTS,
// or else the test's artifacts, which `go test -artifacts` keeps.
func (tab *Tab) Screenshot(name string) string {
	tab.t.Helper()
	const whole = 100 // less would be a JPEG
	image := do(tab, "draw the page", chromedp.FullScreenshot(whole))
	do(tab, "set the font size again", tab.options.text()) // a capture sets it back
	return tab.keep(name+".png", image)
}

// keep writes a file into the folder of screenshots, and returns its path.
func (tab *Tab) keep(name string, content []byte) string {
	tab.t.Helper()
	folder := cmp.Or(os.Getenv(screenshots), tab.t.ArtifactDir())
	if err := os.MkdirAll(folder, 0o750); err != nil { //nolint:gosec // where whoever runs the tests says
		tab.t.Fatalf("make the folder of screenshots: %v", err)
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, content, 0o600); err != nil { //nolint:gosec // in that folder
		tab.t.Fatalf("keep a screenshot: %v", err)
	}
	return path
}
