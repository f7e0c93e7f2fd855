// SPDX-License-Identifier: Apache-2.0

package browser

import (
	_ "embed"
	"fmt"
)

// Overflow reports whether the document is wider than the window, so that one
// scrolls to the side.
func (tab *Tab) Overflow() bool {
	tab.t.Helper()
	width := Evaluate[int64](tab, `document.scrollingElement.scrollWidth`)
	return width > tab.options.viewport()
}

// minimum is the least size of a target, in CSS pixels, by WCAG 2.5.8.
const minimum = 24

// Target is an element that takes clicks, with its size in CSS pixels.
type Target struct {
	HTML   string  `json:"html"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// String is a message for the test.
func (t Target) String() string {
	return fmt.Sprintf("a target of %.0f by %.0f pixels is under %d by %d: %s", t.Width, t.Height, minimum, minimum, t.HTML)
}

//go:embed targets.js
var targets string

// Targets returns what takes clicks and is smaller than 24 by 24 CSS pixels.
// A label is part of its field, and a link within a sentence may have the
// height of the line (WCAG 2.5.8, "inline"). That smaller ones may stand when
// they stand far apart is not granted here; axe's rule target-size does.
func (tab *Tab) Targets() []Target {
	tab.t.Helper()
	return Evaluate[[]Target](tab, fmt.Sprintf("(%s)(%d)", targets, minimum))
}
