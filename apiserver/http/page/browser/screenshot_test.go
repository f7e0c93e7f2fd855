// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// A screenshot shows the whole page, including the part below the window.
func TestScreenshot(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pictures")
	t.Setenv(screenshotsEnv, folder)
	tab := openPage(t, Options{Width: 500, Height: 300}, `<table height="2000"><tr><td>high</td></tr></table>`)
	path := tab.Screenshot("high")
	if want := filepath.Join(folder, "high.png"); path != want {
		t.Errorf("screenshot written to %s, want %s", path, want)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // opened for reading
	image, err := png.DecodeConfig(file)
	if err != nil || image.Width != 500 || image.Height < 2000 {
		t.Errorf("got %d by %d pixels, %v", image.Width, image.Height, err)
	}
}

// A screenshot keeps the text scale of the options.
func TestScreenshotKeepsTextScale(t *testing.T) {
	tab := openPage(t, Options{TextScale: 2}, `<p>large</p>`)
	const size = `getComputedStyle(document.querySelector("p")).fontSize`
	for range 2 {
		tab.Screenshot("large")
		if got := Evaluate[string](tab, size); got != "32px" {
			t.Errorf("got font size %s after the screenshot, want 32px", got)
		}
	}
}

// Without a directory, screenshots are saved as test artifacts.
func TestScreenshotDefaultsToArtifactDir(t *testing.T) {
	t.Setenv(screenshotsEnv, "")
	path := openPage(t, Options{}, "<p>short</p>").Screenshot("short")
	if filepath.Dir(path) != t.ArtifactDir() {
		t.Errorf("screenshot written to %s, want directory %s", path, t.ArtifactDir())
	}
}
