// SPDX-License-Identifier: Apache-2.0

package browser

import (
	_ "embed"
	"fmt"
)

// HasHorizontalOverflow reports whether the document is wider than the window and scrolls
// horizontally.
func (tab *Tab) HasHorizontalOverflow() bool {
	tab.t.Helper()
	width := Evaluate[int64](tab, `document.scrollingElement.scrollWidth`)
	return width > tab.options.viewportWidth()
}

// minTargetSize is the minimum target size in CSS pixels (WCAG 2.5.8).
const minTargetSize = 24

// A ClickTarget is a clickable element, with its size in CSS pixels.
type ClickTarget struct {
	HTML   string  `json:"html"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// String returns a message for the test.
func (t ClickTarget) String() string {
	return fmt.Sprintf("target of %.0f by %.0f pixels is smaller than %d by %d: %s", t.Width, t.Height, minTargetSize, minTargetSize, t.HTML)
}

//go:embed targets.js
var targetsScript string

// SmallTargets returns clickable elements smaller than 24 by 24 CSS pixels. A label counts
// as part of its field, and a link within a sentence may have the height of the line (WCAG
// 2.5.8, "inline"). Unlike axe's rule target-size, it does not exempt small targets with
// enough spacing.
func (tab *Tab) SmallTargets() []ClickTarget {
	tab.t.Helper()
	return Evaluate[[]ClickTarget](tab, fmt.Sprintf("(%s)(%d)", targetsScript, minTargetSize))
}
