// SPDX-License-Identifier: Apache-2.0

// Package contrast measures whether text can be read on what it stands on, as
// WCAG 2.2 does: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio. The operator and
// the server judge a tenant's colours by it. What colours a page is in lives
// elsewhere.
package contrast

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// A Color is one of sRGB, without transparency.
type Color struct{ R, G, B uint8 }

// White is what pages are on.
var White = Color{0xff, 0xff, 0xff}

var written = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// Parse reads a colour such as #005ea5.
func Parse(text string) (Color, error) {
	if !written.MatchString(text) {
		return Color{}, fmt.Errorf("%q is not a colour; write it as #005ea5, two hexadecimal digits each of red, green and blue", text)
	}
	number, err := strconv.ParseUint(text[1:], 16, 24)
	if err != nil {
		return Color{}, err
	}
	return Color{uint8(number >> 16), uint8(number >> 8), uint8(number)}, nil
}

// String writes a colour as Parse reads it, in small letters.
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Luminance is how bright a colour is beside others, 0 for black to 1 for white:
// https://www.w3.org/TR/WCAG22/#dfn-relative-luminance.
func (c Color) Luminance() float64 {
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// linear is how much light a channel of sRGB gives, 0 to 1.
func linear(channel uint8) float64 {
	share := float64(channel) / math.MaxUint8
	if share <= 0.04045 {
		return share / 12.92
	}
	return math.Pow((share+0.055)/1.055, 2.4)
}

// A Ratio is the contrast between two colours, 1 for none to 21 between black and
// white.
type Ratio float64

// ForText is the least that text of any size needs at level AA: success criterion
// 1.4.3, https://www.w3.org/TR/WCAG22/#contrast-minimum.
const ForText Ratio = 4.5

// Between gives the contrast of two colours, in whichever order.
func Between(one, other Color) Ratio {
	lighter, darker := one.Luminance(), other.Luminance()
	if lighter < darker {
		lighter, darker = darker, lighter
	}
	return Ratio((lighter + 0.05) / (darker + 0.05))
}

// String writes a ratio as 4.54:1. It is rounded down, so that what is too little
// never reads as if it were enough.
func (r Ratio) String() string {
	return strconv.FormatFloat(math.Floor(float64(r)*100)/100, 'f', -1, 64) + ":1"
}
