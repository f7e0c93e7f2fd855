// SPDX-License-Identifier: Apache-2.0

package branding

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestContrast compares with published ratios: those for black and white follow from the
// definition, the grays are the well-known neighbors of 4.5.
func TestContrast(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		one, other string
		want       float64
		text       string
	}{
		{"#000000", "#ffffff", 21, "21:1"},
		{"#ffffff", "#FFFFFF", 1, "1:1"},
		{"#777777", "#ffffff", 4.48, "4.47:1"},
		{"#767676", "#ffffff", 4.54, "4.54:1"},
		{"#595959", "#ffffff", 7.00, "7:1"},
		{"#ff0000", "#ffffff", 4.00, "3.99:1"},
		{"#0000ff", "#ffffff", 8.59, "8.59:1"},
		{"#ffff00", "#ffffff", 1.07, "1.07:1"},
		{"#ffff00", "#000000", 19.56, "19.55:1"},
	} {
		one, other := mustParseColor(t, test.one), mustParseColor(t, test.other)
		got := Contrast(one, other)
		if math.Abs(float64(got)-test.want) > 0.005 {
			t.Errorf("%s on %s has %.4f, expected %.2f", test.one, test.other, float64(got), test.want)
		}
		if got.String() != test.text {
			t.Errorf("%s on %s reads %s, expected %s", test.one, test.other, got, test.text)
		}
	}
	if grey := Contrast(mustParseColor(t, "#767676"), White); grey < MinTextContrast {
		t.Errorf("#767676, the lightest grey that is dark enough for text on white, has %s", grey)
	}
	if grey := Contrast(mustParseColor(t, "#777777"), White); grey >= MinTextContrast {
		t.Errorf("#777777, the next lighter grey, has %s", grey)
	}
}

func mustParseColor(t *testing.T, text string) Color {
	t.Helper()
	color, err := ParseColor(text)
	if err != nil {
		t.Fatal(err)
	}
	return color
}

func TestParseColorRejectsInvalid(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "#", "005ea5", "#05a", "#005ea5ff", "#005ea", "#00 ea5", "#+05ea5", "#00５ea5", "blue", "#005ea5\n"} {
		if _, err := ParseColor(text); err == nil || !strings.Contains(err.Error(), "is not a color; write it as #005ea5") {
			t.Errorf("%q: got error %v", text, err)
		}
	}
}

func colors() *rapid.Generator[Color] {
	return rapid.Custom(func(t *rapid.T) Color {
		return Color{rapid.Byte().Draw(t, "red"), rapid.Byte().Draw(t, "green"), rapid.Byte().Draw(t, "blue")}
	})
}

func TestContrastIsSymmetricAndBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one, other := colors().Draw(t, "one"), colors().Draw(t, "other")
		ratio := Contrast(one, other)
		if ratio != Contrast(other, one) {
			t.Errorf("%s on %s is not %s on %s", one, other, other, one)
		}
		if ratio < 1 || ratio > 21 {
			t.Errorf("%s on %s has %v", one, other, float64(ratio))
		}
		if one == other && ratio != 1 {
			t.Errorf("%s on itself has %v", one, float64(ratio))
		}
		if ratio < MinTextContrast && ratio.String() == MinTextContrast.String() {
			t.Errorf("%v reads as if it were enough", float64(ratio))
		}
	})
}

// TestDarkerHasMoreContrast checks that a color that is darker in any channel has more
// contrast to white.
func TestDarkerHasMoreContrast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		light := colors().Draw(t, "light")
		dark := Color{
			R: rapid.ByteRange(0, light.R).Draw(t, "red"),
			G: rapid.ByteRange(0, light.G).Draw(t, "green"),
			B: rapid.ByteRange(0, light.B).Draw(t, "blue"),
		}
		if Contrast(dark, White) < Contrast(light, White) {
			t.Errorf("%s has less contrast to white than %s", dark, light)
		}
	})
}

func FuzzParseColor(f *testing.F) {
	for _, text := range []string{"#005ea5", "#FFFFFF", "#05a", "", "#+1-1+1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		color, err := ParseColor(text)
		if err == nil && color.String() != strings.ToLower(text) {
			t.Errorf("%q was read as %s", text, color)
		}
	})
}
