// SPDX-License-Identifier: Apache-2.0

package branding

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// A Color is an opaque sRGB color.
type Color struct{ R, G, B uint8 }

// White is the background color of pages.
var White = Color{0xff, 0xff, 0xff}

var hexPattern = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// ParseColor parses a color such as #005ea5.
func ParseColor(text string) (Color, error) {
	if !hexPattern.MatchString(text) {
		return Color{}, fmt.Errorf("invalid color %q: expected #RRGGBB, such as #005ea5", text)
	}
	number, err := strconv.ParseUint(text[1:], 16, 24)
	if err != nil {
		return Color{}, err
	}
	return Color{uint8(number >> 16), uint8(number >> 8), uint8(number)}, nil
}

// String formats a color for ParseColor, in lower case.
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Luminance returns the relative luminance of a color, from 0 for black to 1 for white:
// https://www.w3.org/TR/WCAG22/#dfn-relative-luminance.
func (c Color) Luminance() float64 {
	return 0.2126*linearize(c.R) + 0.7152*linearize(c.G) + 0.0722*linearize(c.B)
}

// linearize converts an sRGB channel to linear light, from 0 to 1.
func linearize(channel uint8) float64 {
	value := float64(channel) / math.MaxUint8
	if value <= 0.04045 {
		return value / 12.92
	}
	return math.Pow((value+0.055)/1.055, 2.4)
}

// A ContrastRatio is the contrast ratio of two colors, from 1 for identical colors to 21 for
// black and white.
type ContrastRatio float64

// MinTextContrast is the minimum contrast for text of any size at level AA, according to
// success criterion 1.4.3: https://www.w3.org/TR/WCAG22/#contrast-minimum.
const MinTextContrast ContrastRatio = 4.5

// Contrast returns the contrast ratio of two colors, in either order.
func Contrast(a, b Color) ContrastRatio {
	lighter, darker := a.Luminance(), b.Luminance()
	if lighter < darker {
		lighter, darker = darker, lighter
	}
	return ContrastRatio((lighter + 0.05) / (darker + 0.05))
}

// String formats a ratio as 4.54:1. It rounds down, so that an insufficient ratio never
// looks sufficient.
func (r ContrastRatio) String() string {
	return strconv.FormatFloat(math.Floor(float64(r)*100)/100, 'f', -1, 64) + ":1"
}
